//! A request that is sent again, as after a lost answer, with the same key: together both must do what one does.

use interlock_model::{CallSet, Oracle, PlannedCall, Surface, ToolSurface};
use serde_json::{Map, Value};

use super::HAZARD;
use crate::meet::{says, set};

/// Words of tools that nobody wants to happen twice.
const OUTSIDE: &[&str] =
    &["pay", "payment", "charge", "send", "purchase", "buy", "checkout", "refund", "mail", "email"];
/// Words of things that may be no more than entries of a list, and of what makes more of them.
const THINGS: &[&str] = &["order", "invoice", "booking"];
const ACTED_ON: &[&str] = &["process", "place", "submit", "execute", "fulfil", "fulfill", "confirm"];

const KEY: &str = "interlock-one";
const META: &str = "dev.interlock/idempotency-key";

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers().filter(|tool| promises(tool)) {
        let Some(sample) = tool.samples.first() else { continue };
        let call = with_key(tool, sample);
        for count in [2, 3] {
            sets.push(CallSet { oracle: Oracle::Once, ..set(&HAZARD.id, tool, vec![call.clone(); count]) });
        }
    }
    sets
}

/// Whether a second copy must not do anything: it says so, it takes a key, or it reaches somebody outside.
fn promises(tool: &ToolSurface) -> bool {
    tool.found
        || tool.idempotent == Some(true)
        || tool.idempotency_argument.is_some()
        || says(tool, OUTSIDE)
        || (says(tool, THINGS) && says(tool, ACTED_ON))
}

fn with_key(tool: &ToolSurface, sample: &PlannedCall) -> PlannedCall {
    let mut call = sample.clone();
    call.meta = Value::Object(Map::from_iter([(META.to_owned(), Value::from(KEY))]));
    if let (Some(argument), Value::Object(arguments)) = (&tool.idempotency_argument, &mut call.arguments) {
        arguments.insert(argument.clone(), Value::from(KEY));
    }
    call
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::meet::kit::{lines, surface, writer};

    #[test]
    fn what_promises_to_happen_once_is_sent_again_with_the_same_key() {
        let keyed = ToolSurface { idempotency_argument: Some("requestId".into()), ..writer("create") };
        let others = ["process_order", "save", "add_book", "create_order"].map(writer);
        let sets = probe(&surface(&[&[keyed][..], &others].concat()));
        expect![[r#"
            create + create: {"id":"a","requestId":"interlock-one","text":"one"} {"id":"a","requestId":"interlock-one","text":"one"} Once
            create + create + create: {"id":"a","requestId":"interlock-one","text":"one"} {"id":"a","requestId":"interlock-one","text":"one"} {"id":"a","requestId":"interlock-one","text":"one"} Once
            process_order + process_order: {"id":"a","text":"one"} {"id":"a","text":"one"} Once
            process_order + process_order + process_order: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"} Once
        "#]].assert_eq(&lines(&sets));
        assert_eq!(sets[0].calls[0].meta, json!({"dev.interlock/idempotency-key": "interlock-one"}));
    }
}
