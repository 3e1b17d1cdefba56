//! All hazards' probes on one surface, in the order in which they are worth trying.

use interlock_hazards::{ALL, Hazard};
use interlock_model::{CallSet, Effectful, Fault, Oracle, PlannedCall, Surface};
use serde_json::Value;

use super::{MOST_CALLS, MOST_SERIAL};

/// More sets nobody waits for.
pub const MOST_SETS: usize = 160;

/// What the probes pick, each set once: the same writer twice, two writers on one thing, a writer and a reader, then three and four calls, then
/// what needs more of them, faults last. Within each of these every tool has its turn before one has its second.
#[must_use]
pub fn pick(surface: &Surface) -> Vec<CallSet> {
    arrange(ALL.iter().flat_map(|hazard| of(hazard, surface)).collect(), surface)
}

/// What one hazard's probe picks.
#[must_use]
pub fn of(hazard: &Hazard, surface: &Surface) -> Vec<CallSet> {
    let Some(probe) = hazard.probe else { return Vec::new() };
    let most = |set: &CallSet| if set.oracle == Oracle::Serial { MOST_SERIAL } else { MOST_CALLS };
    probe(surface).into_iter().filter(|set| !set.calls.is_empty() && set.calls.len() <= most(set)).collect()
}

/// Leaves out what is there already, and puts the rest in order.
#[must_use]
pub fn arrange(sets: Vec<CallSet>, surface: &Surface) -> Vec<CallSet> {
    let mut kept: Vec<(Stage, usize, CallSet)> = Vec::new();
    for set in sets {
        if kept.iter().any(|(_, _, other)| same(other, &set)) {
            continue;
        }
        let stage = Stage::of(&set, surface);
        let tools = |set: &CallSet| set.calls.first().map(|call| call.tool.clone());
        let turn = kept
            .iter()
            .filter(|(other, _, earlier)| *other == stage && tools(earlier) == tools(&set))
            .count();
        kept.push((stage, turn, set));
    }
    // Stable: what a probe names first comes first.
    kept.sort_by_key(|(stage, turn, _)| (*stage, *turn));
    kept.into_iter().take(MOST_SETS).map(|(_, _, set)| set).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    OneWriterTwice,
    /// The same words twice, which are accepted twice one after another too: less often a surprise than words that differ.
    OneWriterAgain,
    TwoWriters,
    WriterAndReader,
    Three,
    Four,
    Counted,
    ReadersOnly,
    Fault,
}

impl Stage {
    fn of(set: &CallSet, surface: &Surface) -> Self {
        let reads = |tool: &str| {
            surface.tools.iter().any(|known| known.name == tool && known.effect == Effectful::Reads)
        };
        let is_once =
            |call: &PlannedCall| surface.tools.iter().any(|known| known.once.as_ref() == Some(call));
        let readers = set.calls.iter().filter(|call| reads(&call.tool)).count();
        match (set.fault, set.oracle, set.calls.as_slice()) {
            (Fault::Kill { .. } | Fault::Close { .. }, ..) => Self::Fault,
            (_, Oracle::Serial | Oracle::Once, calls) if readers == calls.len() => Self::ReadersOnly,
            (_, Oracle::Serial | Oracle::Once, [one, two]) => match (readers, one.tool == two.tool) {
                (0, true) if one == two && !is_once(one) && says_much(&one.arguments) => Self::OneWriterAgain,
                (0, true) => Self::OneWriterTwice,
                (0, false) => Self::TwoWriters,
                _ => Self::WriterAndReader,
            },
            (_, Oracle::Serial | Oracle::Once, [_, _, _]) => Self::Three,
            (_, Oracle::Serial | Oracle::Once, [_, _, _, _]) => Self::Four,
            _ => Self::Counted,
        }
    }
}

/// Whether more than one thing is said in arguments, however deep: `{"id": "a"}` takes, `{"entities": [{"name": "a", "kind": "b"}]}` says.
fn says_much(arguments: &Value) -> bool {
    fn leaves(value: &Value, depth: usize) -> usize {
        match value {
            _ if depth > DEEPEST => 1,
            Value::Object(entries) => entries.values().map(|value| leaves(value, depth + 1)).sum(),
            Value::Array(items) => items.iter().map(|value| leaves(value, depth + 1)).sum(),
            _ => 1,
        }
    }
    leaves(arguments, 0) >= 2
}

/// Arguments are not looked into any deeper.
const DEEPEST: usize = 12;

/// Whether two sets would be the same experiment: the order in which calls that meet are written does not matter.
pub(crate) fn same(one: &CallSet, other: &CallSet) -> bool {
    let calls = one.calls.len() == other.calls.len()
        && one.calls.iter().all(|call| {
            let count = |set: &CallSet| set.calls.iter().filter(|own| *own == call).count();
            count(one) == count(other)
        });
    calls && one.setup == other.setup && one.fault == other.fault && one.oracle == other.oracle
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::ToolSurface;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, effect: Effectful) -> ToolSurface {
        let call = |id: &str, text: &str| PlannedCall::new(name, json!({"id": id, "text": text}));
        let read = PlannedCall::new("get", json!({"id": "a"}));
        let mut tool = ToolSurface {
            name: name.into(),
            effect,
            samples: vec![call("a", "one")],
            ..ToolSurface::default()
        };
        if effect == Effectful::Writes {
            tool.samples.push(call("a", "two"));
            tool.others = vec![call("b", "one")];
            tool.things = vec!["a".into()];
            tool.reads = vec![read];
        }
        tool
    }

    #[test]
    fn plain_meetings_come_first_every_tool_has_its_turn_and_faults_come_last() {
        let tools = vec![
            tool("save", Effectful::Writes),
            tool("drop", Effectful::Writes),
            tool("get", Effectful::Reads),
        ];
        let surface = Surface { tools, ..Surface::default() };
        let line = |set: &CallSet| {
            let fault = if set.fault == Fault::None { "" } else { " and a fault" };
            format!("{}: {}{fault}\n", set.hazard.as_ref().unwrap(), set.name)
        };
        expect![[r#"
            lost-update: save + save
            lost-update: drop + drop
            lost-update: save + save
            lost-update: drop + drop
            db-check-then-act: save + save
            db-check-then-act: drop + drop
            auth-check-then-act: save + drop
            unprotected-multi-step: save + get
            unprotected-multi-step: drop + get
            db-check-then-act: save + save + save
            db-check-then-act: drop + drop + drop
            lost-update: save + save + save
            lost-update: drop + drop + drop
            db-check-then-act: save + save + save + save
            db-check-then-act: drop + drop + drop + drop
            unsafe-lock-map: save + save + save + save
            unsafe-lock-map: drop + drop + drop + drop
            non-atomic-rate-limit: get × 12
            duplicate-load: get + get
            call-after-close: save + save and a fault
            call-after-close: drop + drop and a fault
            call-after-close: save + save and a fault
            call-after-close: drop + drop and a fault
            call-after-close: save + save and a fault
            call-after-close: drop + drop and a fault
            call-after-close: save + save and a fault
            call-after-close: drop + drop and a fault
        "#]]
        .assert_eq(&pick(&surface).iter().map(line).collect::<String>());
    }

    #[test]
    fn no_experiment_is_made_twice_whatever_it_is_called() {
        let surface = Surface { tools: vec![tool("save", Effectful::Writes)], ..Surface::default() };
        let sets = pick(&surface);
        for (at, set) in sets.iter().enumerate() {
            assert!(!sets.iter().skip(at + 1).any(|other| same(set, other)), "{}", set.name);
        }
        let mut turned = sets[0].clone();
        turned.calls.reverse();
        assert!(same(&sets[0], &turned));
    }

    #[test]
    fn words_that_differ_come_before_the_same_words_however_deep_they_stand() {
        let call =
            |name: &str| PlannedCall::new("create", json!({"entities": [{"name": name, "kind": "x"}]}));
        let mut create = ToolSurface { samples: vec![call("a")], ..tool("create", Effectful::Writes) };
        create.others = vec![call("b")];
        let sets = pick(&Surface { tools: vec![create], ..Surface::default() });
        assert_ne!(sets[0].calls[0], sets[0].calls[1]);
        assert!(!says_much(&json!({"id": "a"})) && !says_much(&json!({})));
    }

    #[test]
    fn a_server_with_many_tools_is_not_asked_for_everything() {
        let tools = (0..60).map(|at| tool(&format!("save{at}"), Effectful::Writes)).collect();
        let sets = pick(&Surface { tools, ..Surface::default() });
        assert_eq!(sets.len(), MOST_SETS);
        assert!(sets.iter().take(60).all(|set| set.calls.len() == 2));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(pick(&Surface::default()), []);
    }
}
