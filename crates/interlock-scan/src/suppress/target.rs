//! Which lines a suppression on a line of its own speaks of.

use super::comment::is_comment;

/// How far below a comment its statement may begin.
const FARTHEST: usize = 200;

/// The first and the last line, counted from 1, for a comment at `index`: past further comments, decorators included, up to the first
/// line of the statement and the lines on which its chain goes on.
pub(super) fn target(lines: &[&str], index: usize) -> (u32, u32) {
    let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    let mut last = index;
    let mut open: i64 = 0;
    for (at, line) in lines.iter().enumerate().skip(index + 1).take(FARTHEST) {
        let trimmed = line.trim_start();
        if open <= 0 && is_comment(line) {
            continue;
        }
        if trimmed.is_empty() && open <= 0 {
            break;
        }
        last = at;
        let decorator = trimmed.starts_with('@') || trimmed.starts_with("#[");
        if decorator || open > 0 {
            open = open.saturating_add(balance(line));
            // A decorator on the same line as what it decorates ends the search as well: then something is left open or follows.
            let alone = trimmed.ends_with([')', ']']) || is_bare(trimmed);
            if open > 0 && !trimmed.ends_with('{') || open <= 0 && alone {
                continue;
            }
        }
        break;
    }
    let chain = lines.iter().skip(last + 1).take(FARTHEST).take_while(|line| {
        let line = line.trim_start();
        last != index && (line.starts_with('.') && !line.starts_with("...") || line.starts_with("?."))
    });
    (number(index), number(last + chain.count()))
}

/// `@name` and nothing else.
fn is_bare(line: &str) -> bool {
    line.starts_with('@') && !line.contains(char::is_whitespace)
}

fn balance(line: &str) -> i64 {
    line.chars().fold(0, |depth, c| match c {
        '(' | '[' | '{' => depth + 1,
        ')' | ']' | '}' => depth - 1,
        _ => depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (u32, u32)) {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(target(&lines, 0), expected, "{text}");
    }

    #[test]
    fn a_comment_speaks_of_the_statement_below_it() {
        check("// c\nsave();\nmore();", (1, 2));
        check("// c\n// d\n/* e */\nsave();\nmore();", (1, 4));
        check("// c\n@tool\n@other(1,\n  2)\ndef f():\n  more()", (1, 5));
        check("// c\n#[tool(x)]\nasync fn f() {\nmore();", (1, 3));
        check("// c\n@tool() run() {\nmore();", (1, 2));
    }

    #[test]
    fn a_chain_belongs_to_its_statement() {
        check("// c\nconst row = await db\n  .select()\n  ?.first();\nmore();", (1, 4));
    }

    #[test]
    fn an_empty_line_cuts_it_off() {
        check("// c\n\nsave();", (1, 1));
        check("// c", (1, 1));
    }
}
