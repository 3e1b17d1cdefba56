//! A report in which everything that comes from the scanned tree is meant to do harm.

use interlock_model::{HazardId, Lane, Report, ToolPolicy, Witness};
use interlock_report::{
    github, json, markdown,
    text::{self, Look},
};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::sample::{at, lost_update, rules, step, two_findings};

/// Escapes, line ends of all kinds, marks of every format, and characters that reorder or hide.
pub(crate) const EVIL: &str = "a\u{1b}]0;x\u{7}\u{1b}[2J\r\n::error file=b::c\u{9b}31m%0A`x`|y|**z** <script> [k](1) {0} \"q\" \\ @all \u{202e}\u{2028}# h\u{0}";

pub(crate) fn hostile() -> Report {
    let mut finding = lost_update();
    finding.hazard = HazardId::from_static("unknown-hazard");
    finding.location = at(EVIL, 0);
    finding.function = EVIL.into();
    finding.tools = vec![EVIL.into()];
    finding.message = EVIL.into();
    finding.witness = Witness(vec![step(Lane::A, EVIL, 0, EVIL), step(Lane::X, EVIL, u32::MAX, EVIL)]);
    finding.remedy.code = EVIL.into();
    finding.remedy.policy = vec![ToolPolicy { matches: vec![EVIL.into()], ..ToolPolicy::default() }];
    finding.fingerprint.0 = EVIL.into();
    let mut odd = lost_update();
    odd.location.file = String::new();
    odd.location.end_line = 0;
    odd.message = String::new();
    odd.witness.0.truncate(1);
    let mut report = two_findings();
    report.coverage.notes = vec![EVIL.into()];
    for tool in &mut report.coverage.tools {
        tool.name = EVIL.into();
        tool.lost.iter_mut().for_each(|loss| loss.callee = EVIL.into());
    }
    report.findings = vec![finding, odd];
    report
}

/// Characters that a terminal or a viewer would obey.
fn acting(text: &str) -> Vec<char> {
    let harmless = |c: &char| *c == '\n' || !(c.is_control() || matches!(c, '\u{2028}'..='\u{202e}'));
    text.chars().filter(|c| !harmless(c)).collect()
}

#[test]
fn no_format_lets_a_control_character_through() {
    let source = |_: &str| Some(format!("{EVIL}\n{EVIL}"));
    let look = Look { colour: false, width: 80, all: true };
    for written in [
        json::write(&hostile()),
        interlock_report::sarif::write(&hostile(), &rules(), ""),
        github::write(&hostile(), &rules(), "", true),
        markdown::write(&hostile(), &rules(), true),
        text::write(&hostile(), &source, look),
        text::write(&hostile(), &|_| None, look),
    ] {
        assert!(acting(&written).is_empty(), "{written}");
    }
}

#[test]
fn colour_is_the_only_escape_in_coloured_text() {
    let written =
        text::write(&hostile(), &|_| Some(EVIL.repeat(3)), Look { colour: true, width: 80, all: true });
    for sequence in written.split('\u{1b}').skip(1) {
        let style = sequence.strip_prefix('[').and_then(|rest| rest.split_once('m')).map(|(style, _)| style);
        assert!(
            style.is_some_and(|style| style.bytes().all(|b| b.is_ascii_digit() || b == b';')),
            "{sequence:?}"
        );
    }
}

#[test]
fn a_hostile_report_reads_back_as_it_was() {
    assert_eq!(json::read(&json::write(&hostile())).unwrap(), hostile());
}

#[test]
fn github_sees_one_command_for_each_finding() {
    let written = github::write(&hostile(), &rules(), "", true);
    assert_eq!(written.lines().count(), 3, "{written}");
    for line in written.lines() {
        let (head, _) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).unwrap();
        let properties = head.split_once(' ').unwrap().1;
        assert!(properties.split(',').count() <= 4, "{properties}");
    }
}

#[test]
fn markdown_shows_hostile_text_and_obeys_none_of_it() {
    let written = markdown::write(&hostile(), &rules(), true);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH | Options::ENABLE_GFM;
    let mut headings = 0;
    let mut cells = 0;
    for event in Parser::new_ext(&written, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                assert!(["<sub>", "</sub>", "<!-- -->"].contains(&&*html), "{html}");
            }
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::Rule => panic!("{event:?}"),
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Start(Tag::TableCell) => cells += 1,
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strikethrough) => {
                panic!("{event:?}")
            }
            _ => {}
        }
    }
    // The title, the findings, what was lost and the notes.
    assert_eq!(headings, 1 + 2 + 1 + 1, "{written}");
    // The table of all findings with its head, and a table of two steps and one of one.
    assert_eq!(cells, 3 * 5 + 3 * 4 + 2 * 4, "{written}");
}

#[test]
fn the_same_report_is_the_same_text_each_time() {
    let look = Look { colour: true, width: 90, all: true };
    let all = || {
        [
            json::write(&hostile()),
            interlock_report::sarif::write(&hostile(), &rules(), ""),
            github::write(&hostile(), &rules(), "", true),
            markdown::write(&hostile(), &rules(), true),
            text::write(&hostile(), &|_| Some(EVIL.into()), look),
        ]
    };
    assert_eq!(all(), all());
}

#[test]
fn every_width_is_survived() {
    for width in (0..200).chain([usize::MAX]) {
        let look = Look { colour: false, width, all: true };
        assert!(text::write(&two_findings(), &|_| Some(EVIL.into()), look).contains("lost-update"));
        assert!(text::write(&hostile(), &|_| Some(String::new()), look).contains("unknown-hazard"));
    }
}
