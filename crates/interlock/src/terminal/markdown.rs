//! A page for the terminal: prose wrapped, code indented and left as it is, the marked lines of an example in red.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use super::Ink;
use crate::console::Look;

/// What stands before each line of code.
const CODE_INDENT: &str = "    ";

/// Renders the Markdown that our own pages are written in: headings, paragraphs, lists, code.
pub(crate) fn markdown(source: &str, look: Look) -> String {
    let mut page =
        Page { ink: Ink::new(look.colour), width: look.width, done: String::new(), text: String::new() };
    let mut in_code = false;
    for event in Parser::new(source) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::Text(text) if in_code => page.text.push_str(&text),
            Event::End(TagEnd::CodeBlock) => {
                in_code = false;
                page.code();
            }
            Event::Text(text) => page.text.push_str(&text),
            Event::Code(text) => page.text += &page.inline_code(&text),
            Event::SoftBreak | Event::HardBreak => page.text.push(' '),
            Event::Start(Tag::List(_)) => page.space(),
            Event::End(TagEnd::Heading(level)) => page.heading(level),
            Event::End(TagEnd::Paragraph) => page.paragraph(),
            Event::End(TagEnd::Item) => page.item(),
            _ => {}
        }
    }
    page.done
}

struct Page {
    ink: Ink,
    width: usize,
    done: String,
    /// What has been read of the current block.
    text: String,
}

impl Page {
    /// An empty line between blocks.
    fn space(&mut self) {
        if !self.done.is_empty() {
            self.done.push('\n');
        }
    }

    fn take(&mut self) -> String {
        self.space();
        std::mem::take(&mut self.text)
    }

    fn heading(&mut self, level: HeadingLevel) {
        let text = self.take();
        let marked = if level == HeadingLevel::H1 { self.ink.heading(&text) } else { self.ink.strong(&text) };
        // Without colour a heading would look like a sentence.
        let line = if self.ink.shows() { marked } else { format!("{} {text}", "#".repeat(level as usize)) };
        self.done += &(line + "\n");
    }

    fn paragraph(&mut self) {
        let text = self.take();
        self.done += &(textwrap::fill(&text, self.width) + "\n");
    }

    fn item(&mut self) {
        let text = std::mem::take(&mut self.text);
        let options = textwrap::Options::new(self.width).initial_indent("- ").subsequent_indent("  ");
        self.done += &(textwrap::fill(&text, options) + "\n");
    }

    fn code(&mut self) {
        let code = self.take();
        for line in code.lines() {
            let marked = line.contains(" hazard: ");
            let line = if marked { self.ink.alarm(line) } else { line.to_owned() };
            self.done += &(format!("{CODE_INDENT}{line}").trim_end().to_owned() + "\n");
        }
    }

    fn inline_code(&self, text: &str) -> String {
        if self.ink.shows() { self.ink.code(text) } else { format!("`{text}`") }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const PAGE: &str = "# Title\n\nA sentence with `code` in it,\nlong enough to be wrapped.\n\n## Part\n\n- one\n- two\n\n\
                        ```ts\nread(); // hazard: lost-update\n\nwrite();\n```\n";

    fn check(colour: bool, expect: Expect) {
        expect.assert_eq(&markdown(PAGE, Look { terminal: colour, colour, width: 30 }).replace('\x1b', "^"));
    }

    #[test]
    fn a_page_without_colour_keeps_its_marks() {
        check(
            false,
            expect![[r#"
                # Title

                A sentence with `code` in it,
                long enough to be wrapped.

                ## Part

                - one
                - two

                    read(); // hazard: lost-update

                    write();
            "#]],
        );
    }

    #[test]
    fn a_page_in_colour_marks_the_line_to_look_at() {
        check(
            true,
            expect![[r#"
                ^[1m^[4mTitle^[0m

                A sentence with ^[36mcode^[0m in it,
                long enough to be wrapped.

                ^[1mPart^[0m

                - one
                - two

                    ^[1m^[31mread(); // hazard: lost-update^[0m

                    write();
            "#]],
        );
    }
}
