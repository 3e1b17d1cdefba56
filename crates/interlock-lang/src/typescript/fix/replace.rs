//! A file that is emptied and written becomes a file that is written beside and renamed.
//!
//! Changed are `await writeFile(path, data)` and `writeFileSync(path, data)` that are statements of their own, also returned ones.
//! A promise that is kept, a callback, a flag, a file handle or a path that may be no text are left alone.

use oxc_ast::{AstKind, ast::Expression};
use oxc_span::{GetSpan, Span};

use super::{
    bindings::Additions,
    expression::{arguments, called, is_plain, last_name},
    file::File,
    search::{CallSite, is_function, statements},
};
use crate::Edit;

/// The statement that the call makes up.
struct CallStatement {
    start: u32,
    end: u32,
    /// Whether it is the whole body of an `if` or a loop, without braces.
    bare: bool,
    /// Whether it ends the function before its last statement.
    returned: bool,
}

pub(super) fn change(
    file: &File<'_, '_>,
    found: &CallSite<'_>,
    additions: &mut Additions,
) -> Option<Vec<Edit>> {
    let access = file.bindings.file_function(&found.call.callee)?;
    if access.name != "writeFile" && access.name != "writeFileSync" {
        return None;
    }
    let arguments = arguments(found.call)?;
    let path = match arguments.as_slice() {
        [path, _] => *path,
        [path, _, options] if keeps_no_flag(options) => *path,
        _ => return None,
    };
    let place = place(found, access.promises)?;
    if !may_be_text(file, path) || is_renamed_later(file, found, path) {
        return None;
    }
    let names = if access.promises { ["rename", "unlink"] } else { ["renameSync", "rmSync"] };
    let ([rename, remove], random) = additions.siblings(file, &access, names)?;
    let function = found.around.iter().rev().find(|kind| is_function(**kind)).map(|kind| kind.span().start);
    let mut fresh = |wanted| additions.fresh(file, function, wanted);
    let temporary = fresh("temporary");
    let target = (!is_plain(path) && !matches!(path, Expression::StringLiteral(_))).then(|| fresh("target"));
    // The call as it stands, but for the path and one level further in.
    let (call, path_span) = (found.call.span, path.span());
    let before = file.deeper(Span::new(call.start, path_span.start));
    let behind = file.deeper(Span::new(path_span.end, call.end));
    let write = format!("{before}{temporary}{behind}");
    let written =
        Written { file, promises: access.promises, path, write, temporary, target, rename, remove, random };
    Some(vec![Edit::replace(place.start, place.end, written.text(&place))])
}

/// What the new text is made of.
struct Written<'w, 'f, 'a> {
    file: &'w File<'f, 'a>,
    promises: bool,
    path: &'w Expression<'a>,
    write: String,
    temporary: String,
    /// The name for a path that cannot be written twice.
    target: Option<String>,
    rename: String,
    remove: String,
    random: String,
}

impl Written<'_, '_, '_> {
    fn text(&self, place: &CallStatement) -> String {
        let lines = self.lines(place);
        let (base, unit, newline) =
            (self.file.indent(place.start), self.file.unit(), self.file.layout.newline);
        if place.bare {
            let inner = lines.join(&format!("{newline}{base}{unit}"));
            return format!("{{{newline}{base}{unit}{inner}{newline}{base}}}");
        }
        lines.join(&format!("{newline}{base}"))
    }

    fn lines(&self, place: &CallStatement) -> Vec<String> {
        let Self { file, write, temporary, rename, remove, random, .. } = self;
        let semicolon = if file.between(place.start, place.end).ends_with(';') { ";" } else { "" };
        let wait = if self.promises { "await " } else { "" };
        let unit = file.unit();
        let written = file.slice(self.path.span());
        let path = self.target.as_deref().unwrap_or(written);
        let beginning = match self.path {
            Expression::StringLiteral(text) if !text.value.contains(['`', '$', '\\']) => {
                text.value.to_string()
            }
            _ => format!("${{{path}}}"),
        };
        let remove = if self.promises {
            format!("await {remove}({temporary}).catch(() => {{}})")
        } else {
            format!("{remove}({temporary}, {{ force: true }})")
        };
        let target = self.target.as_ref().map(|target| format!("const {target} = {written}{semicolon}"));
        let mut lines: Vec<String> = target.into_iter().collect();
        lines.extend([
            format!("const {temporary} = `{beginning}.${{{random}}}.tmp`{semicolon}"),
            "try {".to_owned(),
            format!("{unit}{wait}{write}{semicolon}"),
            format!("{unit}{wait}{rename}({temporary}, {path}){semicolon}"),
            "} catch (error) {".to_owned(),
            format!("{unit}{remove}{semicolon}"),
            format!("{unit}throw error{semicolon}"),
            "}".to_owned(),
        ]);
        if place.returned {
            lines.push(format!("return{semicolon}"));
        }
        lines
    }
}

/// The statement around the call, if it consists of the call alone.
fn place(found: &CallSite<'_>, promises: bool) -> Option<CallStatement> {
    let mut level = 0;
    let awaited = matches!(found.parent(0), Some(AstKind::AwaitExpression(_)));
    if awaited {
        level = 1;
    }
    let statement = found.parent(level)?;
    let returned = match statement {
        AstKind::ExpressionStatement(_) if awaited == promises => false,
        // A function that is not asynchronous hands its caller the promise, and cannot wait.
        AstKind::ReturnStatement(_) if promises && (awaited || in_async(found)) => true,
        _ => return None,
    };
    let parent = found.parent(level + 1)?;
    let span = statement.span();
    let bare = match parent {
        parent if statements(parent).is_some() => false,
        AstKind::IfStatement(_) => true,
        _ => return None,
    };
    let last = matches!(parent, AstKind::FunctionBody(body) if body.statements.last().is_some_and(|last| last.span() == span));
    let returned = returned && !last;
    Some(CallStatement { start: span.start, end: span.end, bare, returned })
}

fn in_async(found: &CallSite<'_>) -> bool {
    match found.around.iter().rev().find(|kind| is_function(**kind)) {
        Some(AstKind::Function(function)) => function.r#async && !function.generator,
        Some(AstKind::ArrowFunctionExpression(function)) => function.r#async,
        _ => false,
    }
}

/// Whether the options leave the flag as it is: an encoding, or an object that says what it has.
fn keeps_no_flag(options: &Expression<'_>) -> bool {
    match options {
        Expression::StringLiteral(_) => true,
        Expression::ObjectExpression(object) => object.properties.iter().all(|property| {
            property.as_property().is_some_and(|property| {
                !property.computed && property.key.static_name().is_some_and(|name| name != "flag")
            })
        }),
        _ => false,
    }
}

/// Whether the path is written as text, as far as the file tells. A file handle or a URL has no name to put an ending to.
fn may_be_text(file: &File<'_, '_>, path: &Expression<'_>) -> bool {
    let name = match path {
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => return true,
        Expression::Identifier(name) => name.name.as_str(),
        Expression::StaticMemberExpression(member) => member.property.name.as_str(),
        Expression::PrivateFieldExpression(member) => member.field.name.as_str(),
        Expression::CallExpression(call) => last_name(&call.callee).unwrap_or("handle"),
        _ => return false,
    };
    let lower = name.to_lowercase();
    let tells =
        lower == "fd" || ["handle", "url", "uri", "open", "buffer"].iter().any(|word| lower.ends_with(word));
    !tells && !file.no_paths.contains(name)
}

/// Whether what is written is renamed by a later statement of the same list: then it is a temporary file already.
fn is_renamed_later(file: &File<'_, '_>, found: &CallSite<'_>, path: &Expression<'_>) -> bool {
    let written = file.slice(path.span());
    let lists = found
        .around
        .iter()
        .rev()
        .take_while(|kind| !is_function(**kind))
        .filter_map(|kind| statements(*kind));
    lists.flatten().filter(|statement| statement.span().start > found.call.span.end).any(|statement| {
        called(statement).is_some_and(|call| {
            let renames = last_name(&call.callee)
                .is_some_and(|name| name.starts_with("rename") || name.starts_with("move"));
            renames && call.arguments.first().is_some_and(|from| file.slice(from.span()) == written)
        })
    })
}
