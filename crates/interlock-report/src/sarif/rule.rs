//! A hazard as a rule of the tool.

use interlock_model::Severity;

use super::wire;
use crate::Rule;

pub(super) fn descriptor<'r>(rule: &'r Rule<'_>) -> wire::Descriptor<'r> {
    let mut tags = vec!["security".to_owned(), "concurrency".to_owned()];
    tags.extend(rule.cwe.iter().map(|number| format!("external/cwe/cwe-{number:03}")));
    wire::Descriptor {
        id: rule.id.as_str(),
        name: pascal(rule.id.as_str()),
        short_description: wire::Text::new(rule.title),
        full_description: wire::Text::new(rule.summary.as_str()),
        help_uri: rule.url.as_deref(),
        help: wire::Text { text: rule.page.to_owned(), markdown: Some(rule.page.to_owned()) },
        default_configuration: wire::Configuration { level: level(rule.severity) },
        properties: wire::DescriptorProperties { tags, security_severity: rank(rule.severity) },
    }
}

/// The standard has three levels for our four.
pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

/// A number inside the band that GitHub calls by the same name.
fn rank(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "2.5",
    }
}

/// `LostUpdate`: the standard wants a name that is an identifier.
fn pascal(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for word in id.split('-') {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(letters);
    }
    out
}
