//! The page and its pictures, read by a parser.

use interlock_model::{Evidence, ProofReport, SetReport};
use interlock_report::proof::{html, svg};
use roxmltree::{Document, Node, ParsingOptions};

use super::sample::{
    broken, busy, held, hostile, killed, loose, lost_entity, micros, mixed, nothing, remedies, uneven,
    unknown,
};

fn only(set: SetReport) -> ProofReport {
    ProofReport { verdict: set.verdict, sets: vec![set], ..broken() }
}

/// The page is written so that it is well-formed XML too; the parser refuses a tag or a quote too many.
fn with<T>(text: &str, look: impl FnOnce(&Document<'_>) -> T) -> T {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    match Document::parse_with_options(text, options) {
        Ok(document) => look(&document),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn tags<'d>(document: &'d Document<'d>, name: &'static str) -> impl Iterator<Item = Node<'d, 'd>> {
    document.descendants().filter(move |node| node.tag_name().name() == name)
}

fn class<'d>(document: &'d Document<'d>, name: &'static str) -> impl Iterator<Item = Node<'d, 'd>> {
    let has = move |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|class| class == name))
    };
    document.descendants().filter(has)
}

/// All text below a node.
fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

#[test]
fn what_the_kernel_did_not_refuse_and_what_changed_stands_in_the_head() {
    with(&html::write(&loose(), &remedies), |document| {
        let said: Vec<String> = class(document, "outside").map(words).collect();
        assert_eq!(
            said,
            ["CHANGED OUTSIDE: /srv/notes.txt is gone", "your files are not protected by the kernel"]
        );
        assert!(
            class(document, "outside").all(|line| line.ancestors().any(|node| node.has_tag_name("header")))
        );
    });
}

fn evidence(set: &SetReport) -> &Evidence {
    set.evidence.as_ref().unwrap()
}

#[test]
fn every_page_is_well_formed_and_has_no_script() {
    let reports = [
        mixed(),
        broken(),
        held(),
        unknown(),
        nothing(),
        hostile(),
        only(busy()),
        only(uneven()),
        only(killed()),
    ];
    for report in reports {
        with(&html::write(&report, &remedies), |page| {
            for node in page.descendants().filter(Node::is_element) {
                let name = node.tag_name().name();
                let known = "html head meta title style body main header nav section article figure figcaption h1 h2 h3 h4 h5 p \
                             ol ul li a dl dt dd div span b strong code mark ins del details summary table thead tbody tr th td \
                             svg desc g rect path circle text tspan";
                assert!(known.split_whitespace().any(|one| one == name), "{name}");
                for attribute in node.attributes() {
                    let name = attribute.name();
                    assert!(!name.starts_with("on") && !["src", "srcset", "xlink"].contains(&name), "{name}");
                    assert!(
                        name != "href" || attribute.value().starts_with("#set-"),
                        "{}",
                        attribute.value()
                    );
                }
            }
            let ids: Vec<&str> = page.descendants().filter_map(|node| node.attribute("id")).collect();
            let mut unique = ids.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(ids.len(), unique.len(), "{ids:?}");
            for svg in tags(page, "svg") {
                let named = svg.attribute("aria-labelledby").unwrap();
                assert!(named.split(' ').all(|id| ids.contains(&id)), "{named}");
            }
        });
    }
}

#[test]
fn sets_stand_with_the_worst_first() {
    with(&html::write(&mixed(), &remedies), |page| {
        let verdicts: Vec<String> = tags(page, "h2").map(words).collect();
        assert_eq!(
            verdicts,
            [
                "✕ broken create_entities + create_entities lost-update",
                "? unknown delete_entities + delete_entities",
                "✓ held add_observations + read_graph",
                "Notes",
            ]
        );
        assert_eq!(tags(page, "svg").count(), 1);
    });
}

#[test]
fn the_difference_is_marked_on_both_sides() {
    with(&html::write(&broken(), &remedies), |page| {
        let gone: Vec<String> = tags(page, "del").map(words).collect();
        let here: Vec<String> = tags(page, "ins").map(words).collect();
        assert!(gone.contains(&"\"name\": \"ada\"".to_owned()), "{gone:?}");
        assert!(gone.iter().all(|line| !line.contains("bob")), "{gone:?}");
        // Once beside each of the two orders.
        assert_eq!(here.len(), 2 * gone.len());
        assert_eq!(tags(page, "mark").count(), 0);
        let cards: Vec<String> = tags(page, "h4").map(words).collect();
        assert_eq!(cards, ["Observed", "Legal: A, then B", "Legal: B, then A"]);
    });
    with(&html::write(&only(killed()), &remedies), |page| {
        let changed: Vec<String> = tags(page, "mark").map(words).collect();
        assert_eq!(changed, ["60", "100", "40"].map(|balance| format!("\"balance\": {balance}")));
    });
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let written = html::write(&hostile(), &remedies);
    assert!(!written.contains("<script"), "{written}");
    assert!(!written.contains(|c: char| c != '\n' && c.is_control() || matches!(c, '\u{2028}'..='\u{202e}')));
    with(&written, |page| {
        assert!(words(tags(page, "h1").next().unwrap()).contains("broken"));
        let code: Vec<String> = tags(page, "code").map(words).collect();
        assert!(code.iter().any(|text| text.contains("<script>alert(1)</script>")), "{code:?}");
        assert_eq!(tags(page, "style").count(), 1);
    });
}

#[test]
fn a_picture_has_a_lane_for_each_call_and_tells_its_ticks_by_letters() {
    let lost = lost_entity();
    let picture = svg::write(&lost.set, evidence(&lost)).unwrap();
    with(&picture, |picture| {
        assert_eq!(class(picture, "lane").count(), 2);
        let letters: Vec<String> = class(picture, "lane")
            .flat_map(|lane| {
                lane.descendants()
                    .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("tick")))
                    .flat_map(|tick| {
                        tick.children()
                            .filter(|child| child.has_tag_name(("http://www.w3.org/2000/svg", "text")))
                    })
                    .map(words)
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(letters, ["R", "W", "R", "W"]);
        let stale = words(class(picture, "stale").next().unwrap());
        assert!(stale.contains("another call changed what B had read"), "{stale}");
        let desc = words(tags(picture, "desc").next().unwrap());
        assert!(
            desc.starts_with("Call A, create_entities: sent at 0 ms, result at 3.10 ms. Call B"),
            "{desc}"
        );
        assert_eq!(tags(picture, "style").count(), 1, "it stands alone");
    });
    assert!(!svg::inline(&lost.set, evidence(&lost), "x").unwrap().contains("<style>"));
}

#[test]
fn operations_whose_call_is_not_known_are_drawn_apart() {
    let mut set = lost_entity();
    for tick in &mut set.evidence.as_mut().unwrap().history.ticks {
        tick.call = None;
    }
    with(&svg::write(&set.set, evidence(&set)).unwrap(), |picture| {
        let apart = class(picture, "unclaimed").next().unwrap();
        let words = words(apart);
        assert!(
            words.contains("whose call is not known") && words.contains("readFile memory.jsonl"),
            "{words}"
        );
        assert_eq!(class(picture, "lane").count(), 2);
    });
}

/// Where the elements of a class lie, as left and right.
fn spans(picture: &Document<'_>, name: &'static str) -> Vec<(f64, f64)> {
    let number = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    class(picture, name)
        .flat_map(|node| node.descendants())
        .filter(|node| node.tag_name().name() == "rect")
        .map(|rect| (number(rect, "x"), number(rect, "x") + number(rect, "width")))
        .collect()
}

#[test]
fn everything_stays_inside_the_picture_and_short_calls_can_be_seen() {
    for set in [lost_entity(), busy(), uneven(), killed()] {
        with(&svg::write(&set.set, evidence(&set)).unwrap(), |picture| {
            let bars = spans(picture, "bar");
            assert_eq!(bars.len(), evidence(&set).history.calls.len());
            for (left, right) in bars.into_iter().chain(spans(picture, "tick")).chain(spans(picture, "stale"))
            {
                assert!(left >= 0.0 && right <= 760.0 && right - left >= 1.0, "{left} to {right}");
            }
        });
    }
    let uneven = uneven();
    with(&svg::write(&uneven.set, evidence(&uneven)).unwrap(), |picture| {
        let (left, right) = spans(picture, "bar")[0];
        assert!(right - left > 300.0, "0.3 ms beside 3 s is {} wide", right - left);
        assert_eq!(class(picture, "break").count(), 1);
    });
}

#[test]
fn many_calls_and_odd_times_are_drawn() {
    let mut set = lost_entity();
    let evidence = set.evidence.as_mut().unwrap();
    let call = evidence.history.calls[0].clone();
    evidence.history.calls = vec![call; 200];
    // Answered before it was sent, as a clock may have it.
    evidence.history.calls[3].sent = micros(9_000);
    with(&svg::write(&set.set, set.evidence.as_ref().unwrap()).unwrap(), |picture| {
        assert_eq!(class(picture, "lane").count(), 16);
        assert!(tags(picture, "text").any(|text| words(text) == "and 184 more calls"));
    });
    set.evidence.as_mut().unwrap().history.calls.clear();
    assert_eq!(svg::write(&set.set, set.evidence.as_ref().unwrap()), None);
}
