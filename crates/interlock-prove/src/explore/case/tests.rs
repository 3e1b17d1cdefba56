//! What a set says of itself.

use interlock_model::{Reach, Surface};
use serde_json::json;

use super::{super::idle, *};

fn case(name: &str, findings: Vec<Found>, state: State) -> Case {
    let call = PlannedCall::new(name, json!({}));
    let set =
        CallSet { name: format!("{name} + {name}"), calls: vec![call.clone(), call], ..CallSet::default() };
    let mut case = Case::new(Chosen::picked(set, findings, &Surface::default()), Ladder::none());
    (case.state, case.is_blind) = (state, false);
    case.explored.trials = 1;
    case
}

#[test]
fn sets_that_never_succeed_are_one_line_where_others_were_tried() {
    let refused = |name: &str| case(name, Vec::new(), State::Refused("refused: no licence".into()));
    assert_eq!(idle(&[refused("a"), refused("b")]), None, "there is nothing else to tell of");
    let cases = [refused("a"), refused("b"), case("c", Vec::new(), State::Done)];
    assert_eq!(idle(&cases).unwrap(), "a + a, b + b: refused: no licence");
    let many: Vec<Case> =
        (0..9).map(|at| refused(&format!("t{at}"))).chain([case("c", Vec::new(), State::Done)]).collect();
    assert!(idle(&many).unwrap().contains("t4 + t4 and others: refused"));
    let refused: Vec<(&str, &str)> = cases.iter().flat_map(Case::refused).collect();
    assert_eq!(refused.first(), Some(&("a", "refused: no licence")));
}

#[test]
fn of_a_finding_that_an_exhausted_walk_did_not_show_it_is_told_what_was_not_walked() {
    let found = Found {
        fingerprint: Fingerprint("f".into()),
        hazard: "lost-update".parse().unwrap(),
        confidence: Confidence::Medium,
        reach: Reach::InProcess,
        tools: vec!["save".into()],
        windows: Vec::new(),
    };
    let walked = |findings| {
        let mut case = case("save", findings, State::Done);
        case.explored.exhausted = true;
        case.report().reason
    };
    assert!(walked(vec![found]).contains("not walked: requests that arrive while others are half way"));
    assert!(!walked(Vec::new()).contains("not walked"));
}
