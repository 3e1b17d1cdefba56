//! An audit in every form: what joins a finding and a race, what a page consists of, and what hostile names come to.

use std::collections::BTreeMap;

use interlock_model::{HazardId, ProofReport, Verdict};
use interlock_report::{
    audit::{Audit, Live, Proved, Subject, html, json, markdown, sarif, text},
    text::Look,
};
use pulldown_cmark::{Event, Parser};
use roxmltree::{Document, ParsingOptions};
use serde_json::Value;

use crate::{
    hostile::{EVIL, hostile},
    proof::sample::{held_set, hostile as hostile_proof, lost_entity, mixed, remedies},
    sample::{GRAPH, rules, two_findings},
};

/// A server whose lost update was found and proven, with a second race that no finding explains; both hold behind the guard.
fn audited() -> Audit {
    let mut other = lost_entity();
    other.set.hazard = Some(HazardId::from_static("duplicate-load"));
    other.set.name = "open + open".into();
    other.set.calls.iter_mut().for_each(|call| call.tool = "open".into());
    let proof =
        ProofReport { verdict: Verdict::Broken, sets: vec![lost_entity(), other, held_set()], ..mixed() };
    let mut behind = proof.clone();
    behind.sets.truncate(2);
    for set in &mut behind.sets {
        (set.verdict, set.evidence) = (Verdict::Held, None);
    }
    let proved = Proved {
        tools: ["create_entities", "open", "read_graph", "zap"].map(str::to_owned).to_vec(),
        proof,
        made_for: Vec::new(),
        policy: Some("[[tool]]\nmatch = \"*\"\nlock = \"graph\"\n".into()),
        behind: Ok(behind),
    };
    Audit {
        subjects: vec![Subject {
            name: "a/server".into(),
            scan: Some(two_findings()),
            sources: BTreeMap::from([("src/graph.ts".to_owned(), GRAPH.to_owned())]),
            live: Live::Proved(Box::new(proved)),
            ..Subject::default()
        }],
        ..Audit::default()
    }
}

/// Everything in it is meant to do harm.
fn evil() -> Audit {
    let scan = hostile();
    let proved = Proved {
        tools: vec![EVIL.into()],
        proof: hostile_proof(),
        made_for: Vec::new(),
        policy: Some(EVIL.into()),
        behind: Err(EVIL.into()),
    };
    Audit {
        subjects: vec![Subject {
            name: EVIL.into(),
            origin: vec![EVIL.into()],
            scan: Some(scan),
            sources: BTreeMap::from([(EVIL.to_owned(), format!("{EVIL}\n{EVIL}"))]),
            prefix: EVIL.into(),
            live: Live::Proved(Box::new(proved)),
            notes: vec![EVIL.into()],
        }],
        stopped: true,
        ..Audit::default()
    }
}

fn page(audit: &Audit) -> String {
    let page = html::write(audit, &rules(), &remedies);
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    if let Err(error) = Document::parse_with_options(&page, options) {
        panic!("{error}\n{page}");
    }
    page
}

fn entries(audit: &Audit) -> Vec<String> {
    let value: Value = serde_json::from_str(&json::write(audit, &rules())).unwrap();
    let entries = value["subjects"][0]["entries"].as_array().unwrap();
    let word = |entry: &Value, name: &str| entry[name].as_str().unwrap_or("-").to_owned();
    entries
        .iter()
        .map(|entry| {
            format!("{} {} {}", word(entry, "standing"), word(entry, "hazard"), word(entry, "behind_guard"))
        })
        .collect()
}

#[test]
fn a_race_of_the_same_hazard_between_its_tools_proves_a_finding_and_others_stand_alone() {
    assert_eq!(
        entries(&audited()),
        [
            "found-and-proven lost-update held",
            "proven-only duplicate-load held",
            "found-only lock-not-released -"
        ]
    );
}

#[test]
fn without_a_run_everything_is_found_only() {
    let mut audit = audited();
    audit.subjects[0].live = Live::NotRun("nobody asked".into());
    assert!(entries(&audit).iter().all(|entry| entry.starts_with("found-only")));
    assert!(audit.subjects[0].has_hazards());
}

#[test]
fn the_page_has_the_code_the_interleaving_the_timeline_and_the_filter() {
    let page = page(&audited());
    for part in [
        "const graph = await this.load();",
        "writes the whole graph: A&#39;s entities are gone",
        "<svg",
        "found and proven",
        "behind the guard with the suggested policy, 2 of 2 races held",
        "id=\"by-hazard\"",
        "data-tool=\"",
        "What each tool is safe to be called beside",
        "not looked at",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // In the order in which they are worth reading.
    let places: Vec<usize> = ["id=\"entry-1\"", "id=\"entry-2\"", "id=\"entry-3\""]
        .iter()
        .map(|id| page.find(id).unwrap())
        .collect();
    assert!(places.is_sorted());
}

#[test]
fn every_choice_of_the_filter_is_a_number_that_some_entry_has() {
    let page = page(&audited());
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&page, options).unwrap();
    let values: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("option"))
        .filter_map(|node| node.attribute("value"))
        .filter(|value| !value.is_empty())
        .collect();
    assert!(values.len() > 6, "{values:?}");
    for value in values {
        let (list, _) = value.rsplit_once('-').unwrap();
        let attribute = format!("data-{list}");
        let has = |node: roxmltree::Node<'_, '_>| {
            node.attribute(attribute.as_str())
                .is_some_and(|numbers| numbers.split(' ').any(|one| one == value))
        };
        assert!(document.descendants().any(has), "{value}");
        assert!(page.contains(&format!("[data-{list}~=\"{value}\"]")), "{value} hides nothing");
    }
}

#[test]
fn nothing_hostile_gets_through_in_any_form() {
    let audit = evil();
    let page = page(&audit);
    assert!(!page.contains("<script"), "markup");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'), "controls");
    let markdown = markdown::write(&audit, &rules());
    let tags = Parser::new(&markdown).filter(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => text.contains("script"),
        _ => false,
    });
    assert_eq!(tags.count(), 0, "{markdown}");
    let text = text::write(&audit, &rules(), Look { colour: false, width: 80, all: true });
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    for written in [json::write(&audit, &rules()), sarif::write(&audit, &rules())] {
        assert!(serde_json::from_str::<Value>(&written).is_ok());
        assert!(!written.contains('\u{1b}'));
    }
}

#[test]
fn sarif_has_what_was_proven_only_as_a_notification() {
    let value: Value = serde_json::from_str(&sarif::write(&audited(), &rules())).unwrap();
    let run = &value["runs"][0];
    assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
    let said = run["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(said.contains("proven only: duplicate-load"), "{said}");
}
