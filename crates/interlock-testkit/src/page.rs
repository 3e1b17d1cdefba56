//! Pages as tests: a hazard's `doc.md`, taken apart into sections and code blocks.
//!
//! A fenced block is a file and its tag names the language. A comment `hazard: NAME` at the end of a line says that the line
//! must be reported; every other line must stay silent.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

/// A page, taken apart.
#[derive(Debug, Default)]
pub struct Page {
    /// The heading of the whole page.
    pub title: String,
    /// The paragraph right behind the title.
    pub summary: String,
    /// The parts under second-level headings, in order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Default)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Its prose, without code blocks.
    pub prose: String,
    /// Its code blocks.
    pub blocks: Vec<Block>,
}

/// A fenced block: one file.
#[derive(Debug)]
pub struct Block {
    /// The tag behind the fence: `ts`, `python`, `go`, `rust`, `toml`.
    pub tag: String,
    /// The file's text.
    pub code: String,
    /// The lines that must be reported.
    pub marks: Vec<Mark>,
}

/// A line that must be reported.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line in the block, counted from 1.
    pub line: usize,
    /// The hazard's name.
    pub hazard: String,
}

impl Page {
    /// Takes a page apart. Every text is a page of some kind, so this cannot fail; what a page must have is for its test to say.
    #[must_use]
    pub fn parse(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut into = Into::Prose;
        let mut text = String::new();
        for event in Parser::new(markdown) {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(tag))) => {
                    into = Into::Code(tag.to_string())
                }
                Event::Start(Tag::Heading { .. } | Tag::Paragraph) => text.clear(),
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::SoftBreak | Event::HardBreak => text.push(' '),
                Event::End(TagEnd::Heading(HeadingLevel::H1)) => page.title = std::mem::take(&mut text),
                Event::End(TagEnd::Heading(HeadingLevel::H2)) => {
                    page.sections.push(Section { title: std::mem::take(&mut text), ..Section::default() });
                }
                Event::End(TagEnd::CodeBlock) => {
                    let code = std::mem::take(&mut text);
                    if let (Into::Code(tag), Some(section)) =
                        (std::mem::replace(&mut into, Into::Prose), page.last())
                    {
                        section.blocks.push(Block { tag, marks: marks(&code), code });
                    }
                }
                Event::End(TagEnd::Paragraph | TagEnd::Item) => {
                    let paragraph = std::mem::take(&mut text);
                    if let Some(section) = page.last() {
                        section.prose.extend([paragraph.as_str(), "\n"]);
                    } else if page.summary.is_empty() {
                        page.summary = paragraph;
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// A section by its heading.
    #[must_use]
    pub fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.title == title)
    }

    fn last(&mut self) -> Option<&mut Section> {
        self.sections.last_mut()
    }
}

enum Into {
    Prose,
    Code(String),
}

/// The lines of a text that must be reported.
pub(crate) fn marks(code: &str) -> Vec<Mark> {
    let of_line = |(line, text): (usize, &str)| {
        let names = ["// hazard: ", "# hazard: "]
            .iter()
            .find_map(|lead| text.split_once(lead))
            .map_or("", |(_, n)| n);
        let names = names.split(", ").filter(|name| !name.is_empty()).map(str::trim_end);
        names.map(|hazard| Mark { line, hazard: hazard.to_owned() }).collect::<Vec<_>>()
    };
    (1..).zip(code.lines()).flat_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# The title

The summary, on
two lines.

## First

Some `code` in prose.

```ts
read(); // hazard: lost-update, retry-storm
write();
```

```python
x = 1  # hazard: lost-update
```

## Second

- an item
";

    #[test]
    fn a_page_falls_into_title_summary_and_sections() {
        let page = Page::parse(PAGE);
        assert_eq!(page.title, "The title");
        assert_eq!(page.summary, "The summary, on two lines.");
        assert_eq!(page.sections.iter().map(|s| &*s.title).collect::<Vec<_>>(), ["First", "Second"]);
        assert_eq!(page.section("First").unwrap().prose, "Some code in prose.\n");
        assert_eq!(page.section("Second").unwrap().prose, "an item\n");
        assert!(page.section("Third").is_none());
    }

    #[test]
    fn a_block_knows_its_tag_and_the_lines_to_report() {
        let page = Page::parse(PAGE);
        let [ts, python] = &page.section("First").unwrap().blocks[..] else { panic!("two blocks") };
        assert_eq!((ts.tag.as_str(), python.tag.as_str()), ("ts", "python"));
        let mark = |line, hazard: &str| Mark { line, hazard: hazard.to_owned() };
        assert_eq!(ts.marks, [mark(1, "lost-update"), mark(1, "retry-storm")]);
        assert_eq!(python.marks, [mark(1, "lost-update")]);
    }
}
