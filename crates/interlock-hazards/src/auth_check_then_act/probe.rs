//! Two different tools on one thing: one changes whose it is, or ends it, while the other still believes the old answer.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{says, two};

/// Words of tools that decide over others: whose a thing is, who may, whether it is there at all.
const DECIDES: &[&str] = &[
    "transfer",
    "give",
    "share",
    "unshare",
    "grant",
    "revoke",
    "assign",
    "owner",
    "permission",
    "role",
    "member",
    "delete",
    "remove",
    "archive",
    "lock",
    "disable",
    "ban",
    "move",
    "rename",
    "close",
    "cancel",
    "publish",
];

/// More pairs than this are not worth the time.
const MOST: usize = 12;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let writers: Vec<_> = surface.writers().collect();
    let mut pairs = Vec::new();
    for (at, one) in writers.iter().enumerate() {
        for other in writers.iter().skip(at + 1) {
            if one.things.iter().any(|thing| other.things.contains(thing)) {
                let rank = usize::from(!says(one, DECIDES)) + usize::from(!says(other, DECIDES));
                pairs.push((rank, *one, *other));
            }
        }
    }
    // Those that decide over each other first; two that do not are writers on one key all the same.
    pairs.sort_by_key(|(rank, ..)| *rank);
    pairs.into_iter().take(MOST).filter_map(|(_, one, other)| two(&HAZARD.id, one, other)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::{PlannedCall, ToolSurface};
    use serde_json::json;

    use super::*;
    use crate::meet::kit::{lines, surface, writer};

    #[test]
    fn tools_that_decide_over_one_thing_meet_first() {
        let elsewhere = ToolSurface { things: vec!["z".into()], ..writer("rename_other") };
        let tools = [writer("edit_file"), writer("transfer_file"), writer("delete_file"), elsewhere];
        expect![[r#"
            transfer_file + delete_file: {"id":"a","text":"one"} {"id":"a","text":"one"}
            edit_file + transfer_file: {"id":"a","text":"one"} {"id":"a","text":"one"}
            edit_file + delete_file: {"id":"a","text":"one"} {"id":"a","text":"one"}
        "#]]
        .assert_eq(&lines(&probe(&surface(&tools))));
    }

    #[test]
    fn each_keeps_its_own_set_up() {
        let made = |name: &str, maker: &str| ToolSurface {
            setup: vec![PlannedCall::new(maker, json!({}))],
            samples: vec![PlannedCall::new(name, json!({"id": "{answer:0/id}"}))],
            ..writer(name)
        };
        let sets = probe(&surface(&[made("transfer", "create"), made("delete", "import")]));
        assert_eq!(sets[0].setup.len(), 2);
        assert_eq!(sets[0].calls[1].arguments, json!({"id": "{answer:1/id}"}));
        let sets = probe(&surface(&[made("transfer", "create"), made("delete", "create")]));
        assert_eq!(sets[0].setup.len(), 1, "the same set-up is made once");
    }
}
