//! A hazard's `cases.md`: small trees of sources with what must be reported in them.
//!
//! Under `## Must report` and `## Must stay silent` each `### name` is one case. Its fenced blocks are its files: one block, or several
//! that each begin with `// file: PATH`. A comment `hazard: NAME` marks a line that must be reported; every other line of every file must
//! stay silent. `also: NAME, NAME` in the prose of a case allows other hazards anywhere in it, and `confidence: LEVEL` says how sure all that
//! is marked must be.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::page::{Mark, marks};

/// A page of cases.
#[derive(Debug, Default)]
pub struct Cases {
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// What is wrong with the page, with the name of the case.
    pub mistakes: Vec<String>,
}

/// One case: a tree of sources.
#[derive(Debug)]
pub struct Case {
    /// Its heading.
    pub name: String,
    /// Whether something in it must be reported.
    pub reports: bool,
    /// Other hazards that may be reported in it.
    pub also: Vec<String>,
    /// How sure what is marked must be, where that matters.
    pub confidence: Option<String>,
    /// Its files.
    pub files: Vec<File>,
}

/// A file of a case.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// Where it lies in the tree.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The lines that must be reported.
    pub marks: Vec<Mark>,
}

/// The endings that a block's tag stands for, where they differ.
const TAGS: &[(&str, &str)] = &[("typescript", "ts"), ("javascript", "js"), ("python", "py"), ("rust", "rs")];

impl Cases {
    /// Takes a page apart.
    #[must_use]
    pub fn parse(markdown: &str) -> Self {
        let mut reader = Reader { page: Self::default(), reports: None, text: String::new() };
        let mut tag = None;
        for event in Parser::new(markdown) {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) => {
                    reader.text.clear();
                    tag = Some(name.to_string());
                }
                Event::End(TagEnd::CodeBlock) => reader.block(&tag.take().unwrap_or_default()),
                Event::Start(Tag::Heading { .. } | Tag::Paragraph) => reader.text.clear(),
                Event::Text(part) | Event::Code(part) => reader.text.push_str(&part),
                Event::SoftBreak | Event::HardBreak => reader.text.push(' '),
                Event::End(TagEnd::Heading(HeadingLevel::H2)) => reader.section(),
                Event::End(TagEnd::Heading(HeadingLevel::H3)) => reader.case(),
                Event::End(TagEnd::Paragraph) => reader.prose(),
                _ => {}
            }
        }
        reader.check();
        reader.page.mistakes.extend(open_blocks(markdown));
        reader.page
    }

    /// How many cases must report and how many must stay silent, among those with a file of these endings.
    #[must_use]
    pub fn count(&self, endings: &[&str]) -> (usize, usize) {
        let in_language = |case: &&Case| {
            case.files
                .iter()
                .any(|file| endings.iter().any(|ending| file.path.ends_with(&format!(".{ending}"))))
        };
        let (report, silent): (Vec<&Case>, Vec<&Case>) =
            self.cases.iter().filter(in_language).partition(|case| case.reports);
        (report.len(), silent.len())
    }
}

impl Case {
    /// Its name as that of a test, so that it can be typed: `a_handle_that_the_block_itself_closes`.
    #[must_use]
    pub fn test_name(&self) -> String {
        let words = self.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
    }
}

impl File {
    /// A file from a fenced block: named by its first line, or by its tag.
    #[must_use]
    pub fn from_block(tag: &str, code: &str) -> Self {
        let ending = TAGS.iter().find(|(name, _)| *name == tag).map_or(tag, |(_, ending)| ending);
        let first = code.lines().next().unwrap_or_default();
        let named = ["// file: ", "# file: "].iter().find_map(|lead| first.strip_prefix(lead));
        let path = named.map_or_else(|| format!("index.{ending}"), |path| path.trim().to_owned());
        // JSON knows no comments, so its name is taken off; elsewhere it stays, and lines are counted with it.
        let text = match named {
            Some(_) if ending == "json" => code.split_once('\n').map_or("", |(_, rest)| rest),
            _ => code,
        };
        Self { path, marks: marks(text), text: text.to_owned() }
    }
}

struct Reader {
    page: Cases,
    reports: Option<bool>,
    text: String,
}

impl Reader {
    fn section(&mut self) {
        self.reports = match self.text.trim() {
            "Must report" => Some(true),
            "Must stay silent" => Some(false),
            other => {
                self.page.mistakes.push(format!("`{other}` is neither `Must report` nor `Must stay silent`"));
                None
            }
        };
        self.text.clear();
    }

    fn case(&mut self) {
        let name = std::mem::take(&mut self.text).trim().to_owned();
        match self.reports {
            Some(reports) => self.page.cases.push(Case {
                name,
                reports,
                also: Vec::new(),
                confidence: None,
                files: Vec::new(),
            }),
            None => self.page.mistakes.push(format!("`{name}` stands in no section")),
        }
    }

    fn prose(&mut self) {
        let text = std::mem::take(&mut self.text);
        let Some(case) = self.page.cases.last_mut() else { return };
        if let Some((_, names)) = text.split_once("also: ") {
            let names = names.split(',').filter_map(|name| name.split_whitespace().next());
            case.also.extend(names.map(|name| name.trim_end_matches('.').to_owned()));
        }
        if let Some((_, level)) = text.split_once("confidence: ") {
            let level = level.split_whitespace().next().unwrap_or_default();
            case.confidence = Some(level.trim_end_matches(['.', ',', ';']).to_owned());
        }
    }

    fn block(&mut self, tag: &str) {
        let code = std::mem::take(&mut self.text);
        match self.page.cases.last_mut() {
            Some(case) => case.files.push(File::from_block(tag, &code)),
            None => self.page.mistakes.push("a block stands in no case".to_owned()),
        }
    }

    /// What a page must be so that its cases mean something.
    fn check(&mut self) {
        let Cases { cases, mistakes } = &mut self.page;
        for (index, case) in cases.iter().enumerate() {
            let name = &case.name;
            if case.files.is_empty() {
                mistakes.push(format!("`{name}` has no file"));
            }
            let mut paths: Vec<&str> = case.files.iter().map(|file| &*file.path).collect();
            paths.sort_unstable();
            if paths.windows(2).any(|pair| pair.first() == pair.last()) {
                mistakes.push(format!("`{name}` has a file twice; begin each block with `// file: PATH`"));
            }
            let twin = |other: &Case| other.test_name() == case.test_name() && other.reports == case.reports;
            if cases.iter().take(index).any(twin) {
                mistakes.push(format!("`{name}` is the name of two cases"));
            }
        }
    }
}

/// A fence that has begun a block.
struct Fence<'m> {
    line: usize,
    marker: &'m str,
    case: &'m str,
}

/// The blocks that nothing closes. Where a fence is missing, the next block of the page closes this one, and the heading in between is code: a
/// case is gone, and the page still reads well. So a fence with a language inside of a block is a mistake, unless the block's own is longer.
fn open_blocks(markdown: &str) -> Vec<String> {
    let (mut mistakes, mut open, mut case) = (Vec::new(), None::<Fence<'_>>, "");
    for (line, text) in (1..).zip(markdown.lines()) {
        let (indented, text) = (text.len() - text.trim_start_matches(' ').len() > 3, text.trim());
        let of = |sign: char| text.len() - text.trim_start_matches(sign).len();
        let length = of('`').max(of('~'));
        let (marker, tag) = text.split_at_checked(length).unwrap_or_default();
        // In a line that begins with such a sign, another one makes it code within the text.
        let is_fence = !indented && length >= 3 && !tag.contains('`');
        match &open {
            None if is_fence => open = Some(Fence { line, marker, case }),
            None => case = text.strip_prefix("### ").unwrap_or(case),
            Some(_) if !is_fence => {}
            Some(fence) if !marker.starts_with(fence.marker) => {}
            Some(_) if tag.trim().is_empty() => open = None,
            Some(fence) => {
                mistakes.push(format!(
                    "`{}` has a block from line {} on in which line {line} begins another; close the first",
                    fence.case, fence.line
                ));
            }
        }
    }
    mistakes.extend(open.map(|fence| {
        format!("`{}` has a block from line {} on that is never closed", fence.case, fence.line)
    }));
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Cases of lost-update

## Must report

### one file

```ts
load(); // hazard: lost-update
```

### a tree

Needed for the alias; confidence: low; also: retry-storm, duplicate-load.

```ts
// file: src/a.ts
load(); // hazard: lost-update
```

```json
// file: tsconfig.json
{}
```

## Must stay silent

### nothing

```javascript
load();
```
";

    #[test]
    fn a_page_falls_into_cases_with_their_files() {
        let page = Cases::parse(PAGE);
        assert_eq!(page.mistakes, [""; 0]);
        let [one, tree, nothing] = &page.cases[..] else { panic!("three cases") };
        assert_eq!(
            (one.name.as_str(), one.reports, one.files[0].path.as_str()),
            ("one file", true, "index.ts")
        );
        assert_eq!(one.files[0].marks, [Mark { line: 1, hazard: "lost-update".into() }]);
        assert_eq!((one.test_name().as_str(), tree.test_name().as_str()), ("one_file", "a_tree"));
        assert_eq!(tree.also, ["retry-storm", "duplicate-load"]);
        assert_eq!((one.confidence.as_deref(), tree.confidence.as_deref()), (None, Some("low")));
        assert_eq!((tree.files[0].path.as_str(), tree.files[0].marks[0].line), ("src/a.ts", 2));
        assert_eq!((tree.files[1].path.as_str(), tree.files[1].text.as_str()), ("tsconfig.json", "{}\n"));
        assert_eq!((nothing.reports, nothing.files[0].path.as_str()), (false, "index.js"));
        assert_eq!(page.count(&["ts", "js"]), (2, 1));
        assert_eq!(page.count(&["py"]), (0, 0));
    }

    #[test]
    fn what_would_make_a_case_mean_nothing_is_a_mistake() {
        let mistakes = |text: &str| Cases::parse(text).mistakes.join("; ");
        assert_eq!(mistakes("## Maybe\n"), "`Maybe` is neither `Must report` nor `Must stay silent`");
        assert_eq!(mistakes("### a\n"), "`a` stands in no section");
        assert_eq!(mistakes("## Must report\n### a\n"), "`a` has no file");
        let block = "```ts\nx\n```\n";
        assert_eq!(
            mistakes(&format!("## Must report\n### a\n{block}{block}")),
            "`a` has a file twice; begin each block with `// file: PATH`"
        );
        assert_eq!(
            mistakes(&format!("## Must report\n### a\n{block}### a\n{block}")),
            "`a` is the name of two cases"
        );
        assert_eq!(
            mistakes(&format!("## Must report\n### a, b\n{block}### `a` b\n{block}")),
            "`a b` is the name of two cases"
        );
    }

    #[test]
    fn a_block_that_is_not_closed_is_a_mistake() {
        let mistakes = |text: &str| Cases::parse(text).mistakes.join("; ");
        let page = |first: &str| {
            format!("## Must report\n### a\n{first}### b\n```py\nx\n```\n### c\n```ts\ny\n```\n")
        };
        assert_eq!(mistakes(&page("```ts\nx\n```\n")), "");
        // The case that comes next is gone: what closes its block closes this one.
        assert_eq!(
            mistakes(&page("```ts\nx\n")),
            "`a` has a block from line 3 on in which line 6 begins another; close the first"
        );
        assert_eq!(
            mistakes("## Must report\n### a\n```ts\nx\n"),
            "`a` has a block from line 3 on that is never closed"
        );
        // A shorter fence, or one of the other sign, is a part of the source.
        for inner in ["```py\nx\n```", "~~~py\nx\n~~~", "`x`", "    ````py"] {
            assert_eq!(mistakes(&format!("## Must report\n### a\n````ts\n{inner}\n````\n")), "", "{inner}");
        }
    }
}
