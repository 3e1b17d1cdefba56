//! A call that is refused beside calls that are not: the error path must let go of what it holds.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::set;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let sets = surface.writers().filter_map(|tool| {
        let once = tool.once.clone()?;
        let other =
            tool.others.first().or_else(|| tool.samples.iter().find(|sample| **sample != once))?.clone();
        Some(set(&HAZARD.id, tool, vec![once.clone(), once, other]))
    });
    sets.collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::ToolSurface;

    use super::*;
    use crate::meet::kit::{call, lines, surface, writer};

    #[test]
    fn somebody_is_refused_while_another_waits() {
        let take = ToolSurface { once: Some(call("take", "a", "one")), ..writer("take") };
        expect![[r#"
            take + take + take: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"b","text":"one"}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[take, writer("save")]))));
    }
}
