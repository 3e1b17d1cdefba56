//! Functions that call each other in a circle: whichever of them a tool enters, all of them are seen.

use super::*;
use crate::expand::component::MOST_ROOTS;

/// A component of functions, the first of which reads a file and writes it back; the tools `t0`, `t1`, … enter one each.
fn component(members: u32) -> Program {
    let member = |index: u32| {
        let line = 100 * (index + 1);
        function(line, "member").body([], |b, []| {
            if index == 0 {
                reads_and_writes_back(b, line + 1, "state.json");
            }
            b.line(line + 5).call("_", Callee::Function(FunctionId((index + 1) % members)), []);
        })
    };
    let tool = |index: u32| {
        let name = format!("t{index:03}");
        function(100_000 + index, &name).handles(&name).body([], |b, []| {
            b.call("_", Callee::Function(FunctionId(index)), []);
        })
    };
    program((0..members).map(member).chain((0..members).map(tool)))
}

/// How many tools lead to the race in a component of so many functions.
fn tools_told(members: u32) -> usize {
    let told = lost(&component(members));
    assert_eq!(told.len(), 1, "{told:?}");
    told.iter().flat_map(|line| line.split(' ').skip(2)).count()
}

#[test]
fn every_member_of_a_circle_is_seen_with_all_the_others() {
    assert_eq!(tools_told(2), 2);
    assert_eq!(tools_told(3), 3);
    let most = u32::try_from(MOST_ROOTS).expect("a small number");
    assert_eq!(tools_told(most), MOST_ROOTS);
}

#[test]
fn of_a_very_large_circle_what_is_not_seen_is_counted() {
    let members = u32::try_from(MOST_ROOTS).expect("a small number") + 1;
    let mut large = component(members);
    let seen = tools_told(members);
    let Analysed { tools, not_followed, .. } = analyse(&mut large);
    let lost = tools.iter().filter(|tool| !tool.followed).count();
    assert!(seen < tools.len(), "else there is no need for the limit");
    assert_eq!(seen + lost, tools.len(), "each tool is told of or says where its way was lost");
    assert!(not_followed.not_inlined > 0);
}

#[test]
fn who_calls_itself_is_no_loss() {
    let own = function(1, "again").handles("again").body([], |b, []| {
        reads_and_writes_back(b, 2, "state.json");
        b.line(5).call("_", Callee::Function(FunctionId(0)), []);
    });
    let Analysed { tools, .. } = analyse(&mut program([own]));
    assert!(tools.iter().all(|tool| tool.followed && tool.lost.is_empty()), "{tools:?}");
}
