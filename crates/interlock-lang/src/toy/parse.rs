//! From lines to a tree: what is indented deeper belongs to the line above it.

/// A line and those that belong to it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) number: u32,
    pub(super) what: What,
    pub(super) inner: Vec<Line>,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum What {
    /// `use "./notes"`
    Use(String),
    /// `type Book of Base`
    Type { name: String, base: Option<String> },
    /// `method append(text)`, `func open()`
    Function { name: String, parameters: Vec<String> },
    /// `return x`
    Return(Expression),
    /// `x = …` or only `…`
    Set { name: Option<String>, to: Expression },
    /// Anything else.
    Nonsense(String),
}

/// What is computed.
#[derive(Debug)]
pub(super) enum Expression {
    Text(String),
    /// Names with dots between them.
    Path(Vec<String>),
    New(String),
    /// What is called, with what, and the parameter of the closure that is the last argument.
    Call(Vec<String>, Vec<Expression>, Option<String>),
}

/// Reads a file.
pub(super) fn parse(text: &str) -> Vec<Line> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()).peekable();
    block(&mut lines, 0)
}

fn block<'t>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = (&'t str, u32)>>,
    depth: usize,
) -> Vec<Line> {
    let mut found = vec![];
    while let Some((line, number)) = lines.next_if(|(line, _)| indent(line) >= depth) {
        let what = what(line.trim());
        found.push(Line { number, what, inner: block(lines, indent(line) + 1) });
    }
    found
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn what(line: &str) -> What {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let nonsense = || What::Nonsense(line.to_owned());
    match word {
        "use" => What::Use(rest.trim_matches('"').to_owned()),
        "type" => {
            let (name, base) =
                rest.split_once(" of ").map_or((rest, None), |(name, base)| (name, Some(base)));
            What::Type { name: name.to_owned(), base: base.map(str::to_owned) }
        }
        "method" | "func" => match rest.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
            Some((name, parameters)) => What::Function {
                name: name.to_owned(),
                parameters: parts(parameters).map(str::to_owned).collect(),
            },
            None => nonsense(),
        },
        "return" => expression(rest).map_or_else(nonsense, What::Return),
        _ => match rest.strip_prefix("= ") {
            Some(to) => {
                expression(to).map_or_else(nonsense, |to| What::Set { name: Some(word.to_owned()), to })
            }
            None => expression(line).map_or_else(nonsense, |to| What::Set { name: None, to }),
        },
    }
}

fn expression(text: &str) -> Option<Expression> {
    let (text, closure) = text.split_once(" do ").map_or((text, None), |(text, name)| (text, Some(name)));
    let path = |text: &str| text.split('.').map(str::to_owned).collect();
    if let Some(literal) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return Some(Expression::Text(literal.to_owned()));
    }
    if let Some(class) = text.strip_prefix("new ") {
        return Some(Expression::New(class.strip_suffix("()")?.to_owned()));
    }
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((callee, arguments)) => {
            let arguments = parts(arguments).map(expression).collect::<Option<_>>()?;
            Some(Expression::Call(path(callee), arguments, closure.map(str::to_owned)))
        }
        None => Some(Expression::Path(path(text))),
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}
