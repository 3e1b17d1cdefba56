//! The page: one file with its style and its script inside. Nothing from outside is in it; the script fetches the state and only ever
//! sets text.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub(in crate::ops) fn page() -> &'static str {
    &PAGE
}

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let (before, rest) = BODY.split_once("<!--style-->").unwrap_or((BODY, ""));
    let (between, after) = rest.split_once("<!--script-->").unwrap_or((rest, ""));
    format!("{before}<style>{STYLE}</style>{between}<script>{SCRIPT}</script>{after}")
});

const BODY: &str = include_str!("page.html");

/// What a browser may do with the page: run this script, apply this style, ask this server. Nothing else.
pub(in crate::ops) static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(SCRIPT)),
        STANDARD.encode(Sha256::digest(STYLE)),
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_but_itself() {
        let page = page();
        assert!(page.contains(STYLE) && page.contains(SCRIPT) && page.trim_end().ends_with("</html>"));
        for outside in ["http://", "https://", "//cdn", "@import", "url(", "innerHTML", "eval("] {
            let text = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains(outside), "{outside}");
        }
    }
}
