//! The parser: the only file that names its entry points.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

/// A syntax tree, if there is one.
pub(crate) struct Parsed<'a> {
    /// The tree; empty if the parser gave up.
    pub(crate) program: Program<'a>,
    /// Where the parser gave up or first complained, as a byte and in its own words.
    pub(crate) trouble: Option<(u32, String)>,
    /// Whether the tree is of use.
    pub(crate) usable: bool,
}

/// Parses a file by the ending of its name. A JavaScript file may hold JSX, and may be a module or a script.
pub(crate) fn parse<'a>(allocator: &'a Allocator, path: &str, text: &'a str) -> Parsed<'a> {
    let options = ParseOptions {
        preserve_parens: false,
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(allocator, text, source_type(path)).with_options(options).parse();
    let trouble = parsed.diagnostics.iter().next().map(|first| {
        let at = first.labels.first().map_or(0, |label| label.offset());
        (at, first.message.to_string())
    });
    Parsed { program: parsed.program, trouble, usable: !parsed.panicked }
}

fn source_type(path: &str) -> SourceType {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let definition = path.ends_with(".d.ts") || path.ends_with(".d.mts") || path.ends_with(".d.cts");
    match ending {
        _ if definition => SourceType::d_ts(),
        "ts" | "mts" | "cts" => SourceType::ts(),
        "tsx" => SourceType::tsx(),
        "mjs" => SourceType::mjs().with_jsx(true),
        _ => SourceType::unambiguous().with_jsx(true),
    }
}
