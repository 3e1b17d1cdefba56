//! Classes that nothing in the tree names: nobody creates an object of one, so their methods may never run.
//!
//! ```ts
//! export class Tools { register() { this.server.tool("add", {}, …) } }   // and `Tools` stands nowhere else
//! ```
//!
//! A name is looked for in the texts, comments included, and not in what calls lead to: what is created in a way that nobody follows is
//! mentioned all the same. What extends another class, is marked by a decorator, is the default of its file or may be loaded with its
//! whole file by somebody who computes its path is left out: a framework may create it.

use interlock_model::ir::{Doubt, Doubtful, Name, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// What stands where files are loaded whose names are computed, or classes found that nobody names.
const LOADERS: &[&str] = &[
    "import_module",
    "importlib",
    "__subclasses__",
    "pkgutil",
    "getmembers",
    "import.meta.glob",
    "globals()",
];

/// Whether files are loaded here whose names are computed, or all that a file offers is gone through.
fn loads(text: &str) -> bool {
    let computed = |call: &str| {
        let mut behind = text.split(call).skip(1);
        behind.any(|rest| !rest.starts_with(['"', '\'', '`', ')']))
    };
    LOADERS.iter().any(|loader| text.contains(loader))
        || computed(" import(")
        || computed(" require(")
        || text.contains("Object.values(") && text.contains("* as ")
}

/// Doubts all methods of such classes.
pub(crate) fn doubt(program: &mut Program, texts: &[(Name, String)]) {
    let of: FxHashMap<&str, &str> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
    // A class by its file and its name, with the functions in it.
    let mut classes: FxHashMap<(u32, &str), Vec<usize>> = FxHashMap::default();
    for (number, function) in program.functions.iter().enumerate() {
        if let Some((class, _)) = function.name.split_once('.')
            && class.starts_with(|letter: char| letter.is_uppercase())
        {
            classes.entry((function.span.file.0, class)).or_default().push(number);
        }
    }
    if classes.is_empty() {
        return;
    }
    let names: FxHashSet<&str> = classes.keys().map(|(_, name)| *name).collect();
    let mut mentions: FxHashMap<&str, usize> = FxHashMap::default();
    for (_, text) in texts {
        if loads(text) {
            return;
        }
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        for word in text.split(|letter| !is_part(letter)) {
            if let Some(name) = names.get(word) {
                *mentions.entry(*name).or_default() += 1;
            }
        }
    }
    let is_unmade = |file: u32, class: &str| {
        let text = program.files.get(file as usize).and_then(|path| of.get(&**path).copied());
        mentions.get(class) == Some(&1) && text.is_some_and(|text| is_plain(text, class))
    };
    let unmade = classes.iter().filter(|((file, class), _)| is_unmade(*file, class));
    let mut functions: Vec<usize> = unmade.flat_map(|(_, functions)| functions.iter().copied()).collect();
    functions.sort_unstable();
    let spans = functions.into_iter().filter_map(|number| program.functions.get(number));
    let doubts: Vec<Doubt> =
        spans.map(|function| Doubt { span: function.span, why: Doubtful::UnmadeClass }).collect();
    program.doubts.extend(doubts);
}

/// Whether a class is declared in a text so that only who names it can create one: `class A {`, `export class A {`, `class A:`.
fn is_plain(text: &str, class: &str) -> bool {
    let mut before = "";
    for line in text.lines() {
        let code = line.trim();
        let declared = code.strip_prefix("export ").unwrap_or(code).strip_prefix("class ");
        if let Some(rest) = declared.and_then(|rest| rest.strip_prefix(class)) {
            let rest = rest.trim_start();
            let rest = rest.strip_prefix("implements ").map_or(rest, |_| "{");
            return (rest.starts_with('{') || rest.starts_with(':')) && !before.starts_with('@');
        }
        before = code;
    }
    false
}

#[cfg(test)]
mod tests {
    use interlock_model::{FileId, Span, ir::FunctionBuilder};

    use super::*;

    /// How many methods are doubted of a class `Tools` in `a.ts`.
    fn doubted(files: &[(&str, &str)]) -> usize {
        let mut program = Program::default();
        program.add_file("a.ts");
        let span = Span::on_line(FileId(0), 2);
        program.add_function(FunctionBuilder::new("Tools.add").span(span).body([], |_, []| {}));
        let texts: Vec<(Name, String)> =
            files.iter().map(|(path, text)| (Name::from(*path), (*text).to_owned())).collect();
        doubt(&mut program, &texts);
        program.doubts.len()
    }

    #[test]
    fn a_class_that_nothing_names_is_doubted() {
        assert_eq!(doubted(&[("a.ts", "export class Tools {\n add() {} }"), ("b.ts", "new MyTools()")]), 1);
        assert_eq!(doubted(&[("a.ts", "class Tools:\n  def add(self): pass")]), 1);
        for (one, two) in [
            ("export class Tools {\n add() {} }", "new Tools()"),
            ("export class Tools {\n add() {} }", "container.get('Tools')"),
            ("export class Tools {\n add() {} }", "for (const f of readdirSync(d)) await import(f)"),
            ("export class Tools extends Base {\n add() {} }", ""),
            ("@Injectable()\nexport class Tools {\n add() {} }", ""),
            ("export default class Tools {\n add() {} }", ""),
            ("class Tools(Base):\n  def add(self): pass", ""),
        ] {
            assert_eq!(doubted(&[("a.ts", one), ("b.ts", two)]), 0, "{one} {two}");
        }
    }
}
