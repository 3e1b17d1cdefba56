//! The table of tools: what each is safe to be called beside.

use std::{collections::BTreeSet, fmt::Write as _};

use crate::{
    audit::{Subject, beside},
    proof::markup,
};

pub(super) fn write(out: &mut String, index: usize, subject: &Subject) {
    let tools = beside::tools(subject);
    if tools.is_empty() {
        return;
    }
    let _ = write!(
        out,
        r#"<section id="tools-{index}"><h2>What each tool is safe to be called beside</h2><p class="quiet">Only what was tried is said to have held: for how long and in how many ways is above. A tool that is in no column was neither called together with others nor found to share anything.</p><div class="scroll" tabindex="0"><table class="tools"><thead><tr>"#
    );
    for head in ["tool", "in the sources", "broke beside", "may break beside", "held beside"] {
        let _ = write!(out, r#"<th scope="col">{head}</th>"#);
    }
    out.push_str("</tr></thead><tbody>");
    for (name, tool) in &tools {
        let sources = match tool.followed {
            Some(true) => "followed to the end",
            Some(false) => "not followed to the end",
            None => "not looked at",
        };
        let _ = write!(
            out,
            r#"<tr><th scope="row"><code>{}</code></th><td>{sources}</td><td class="alarm">{}</td><td class="latent">{}</td><td class="held">{}</td></tr>"#,
            markup::short(name, 120),
            list(name, &tool.breaks),
            list(name, &tool.may_break),
            list(name, &tool.held),
        );
    }
    out.push_str("</tbody></table></div></section>\n");
}

fn list(own: &str, names: &BTreeSet<String>) -> String {
    let name = |name: &String| {
        if name == own { "itself".to_owned() } else { format!("<code>{}</code>", markup::short(name, 80)) }
    };
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}
