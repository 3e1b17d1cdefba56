//! A language of a few lines, to show that what a front end provides is enough: imports across packages whose files share their names,
//! types that embed others, closures that capture, tools that its own table registers.
//!
//! ```text
//! use "disk"                          a library, or with "./" a package: a folder, whose files share their names
//! type Book of Base                   embeds Base
//!   method append(text)               `self` is the receiver
//!     old = disk.read("notes")
//! func open()
//!   return new Book()
//! server.tool("add_note") do text     a closure as the last argument
//!   book.append(text)
//! ```

mod lower;
mod parse;

use std::sync::LazyLock;

use expect_test::expect;
use interlock_model::ir::{Interleaving, Name, Program};

use crate::{
    Frontend, Layout, Lookup, Module, Package, Resolve, Resolved, Semantics, Source, Tables,
    knowledge::Knowledge, link,
};

struct Toy;

const EFFECTS: &str = r#"
[library.disk.exports]
read = { do = "read-file", at = 0 }
write = { do = "write-file", at = 0, from = 1 }
"#;

const TABLES: &[&str] = &[
    "[tools]\nlibraries = [\"mcp\"]\n[tools.call]\ntool = { registers = \"tool\", arguments = 2, named = true }",
    "[builtin]\npure = [\"join\"]",
];

impl Frontend for Toy {
    fn name(&self) -> &'static str {
        "Toy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["toy"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &[]
    }

    fn effects(&self) -> &'static str {
        EFFECTS
    }

    fn tables(&self) -> &'static Tables {
        static READ: LazyLock<Tables> = LazyLock::new(|| Tables::parse(TABLES).unwrap());
        &READ
    }

    fn semantics(&self) -> &'static Semantics {
        &Semantics {
            asynchronous: Interleaving::Anywhere,
            synchronous: Interleaving::Anywhere,
            unwinds: false,
            coroutines: false,
            waits_unsaid: false,
            lookup: Lookup::Shallowest,
            constructor: None,
            called: None,
            above: None,
            function_name: None,
            empty_is_false: false,
            tuples: false,
            bare_maps: false,
            default_export: None,
        }
    }

    fn module(&self, source: &Source<'_>) -> Module {
        lower::lower(source.path, &parse::parse(source.text))
    }

    fn layout(&self, modules: &[Module], _: &[(String, String)]) -> Layout {
        let spaces = modules.iter().map(|module| module.namespace.clone().unwrap_or_default()).collect();
        let imports = Box::new(Folders(spaces));
        Layout { imports, packages: vec![], schemas: vec![], broken: vec![], handlers: vec![] }
    }
}

/// The namespace of each file.
#[derive(Debug)]
struct Folders(Vec<Name>);

impl Resolve for Folders {
    fn resolve(&self, _: &Name, specifier: &Name) -> Resolved {
        let Some(folder) = specifier.strip_prefix("./") else { return Resolved::Library(specifier.clone()) };
        match self.0.iter().position(|space| &**space == folder) {
            Some(file) => Resolved::File(file),
            None => Resolved::Unresolved(specifier.clone()),
        }
    }
}

fn linked(files: &[(&str, &str)]) -> Program {
    let module = |(path, text): &(&str, &str)| ((*path).into(), Toy.module(&Source { path, text }));
    let modules = files.iter().map(module).collect();
    let knowledge = Knowledge::of(&Toy).unwrap();
    link(&Toy, Package { modules, settings: vec![], knowledge: &knowledge })
}

#[test]
fn a_language_that_provides_a_module_is_linked_and_its_tools_are_found() {
    let program = linked(&[
        (
            "app/main.toy",
            "use \"mcp\"\n\
             use \"./notes\"\n\
             book = notes.open()\n\
             server = mcp.server()\n\
             serve(server, \"n\")\n\
             func serve(server, prefix)\n  \
               server.tool(\"add_note\") do text\n    \
                 full = join(prefix, text)\n    \
                 book.append(full)\n",
        ),
        ("notes/book.toy", "type Book of Base\n"),
        (
            "notes/base.toy",
            "use \"disk\"\n\
             type Base\n  \
               method append(text)\n    \
                 old = disk.read(\"notes\")\n    \
                 both = join(old, text)\n    \
                 self.save(both)\n  \
               method save(all)\n    \
                 disk.write(\"notes\", all)\n\
             func open()\n  \
               return new Book()\n",
        ),
    ]);
    expect![[r#"
        app/main.toy
        1     fn module() at start-up, interleaves anywhere, fails explicitly
        3       open() = call open()
        3       write blind shared ::app::book from open()
        4       server() = call 'mcp.server'()
        5       serve() = call serve(::app::server, "n")

        7     fn serve(server, prefix), interleaves anywhere, fails explicitly
        7       tool() = call 'tool'("add_note", fn closure with prefix) on server

        8     fn closure(text) with prefix handles add_note, interleaves anywhere, fails explicitly
        8       join() = derived from prefix, text
        8       full = join() from join()
        9       append() = call Base.append(full) on ::app::book
        notes/book.toy
        1     fn module() at start-up, interleaves anywhere, fails explicitly
        notes/base.toy
        1     fn module() at start-up, interleaves anywhere, fails explicitly

        4     fn Base.append(text), interleaves anywhere, fails explicitly
        4       read() = read file "notes"
        4       old = read() from read()
        5       join() = derived from old, text
        5       both = join() from join()
        6       save() = call Base.save(both) on this

        8     fn Base.save(all), interleaves anywhere, fails explicitly
        8       write() = write blind file "notes" from all

        10    fn open(), interleaves anywhere, fails explicitly
        10      Book() = new
        10      return Book()
    "#]]
    .assert_eq(&program.to_string());
    assert_eq!(program.notes, []);
    assert!(program.functions.iter().all(|function| function.interleaving == Interleaving::Anywhere));
}

#[test]
fn what_leads_nowhere_is_noted() {
    let program = linked(&[("app/main.toy", "use \"./gone\"\ngone.away()\nodd.call()\n")]);
    let notes: Vec<&str> = program.notes.iter().map(|note| &*note.text).collect();
    assert_eq!(notes, ["the import of \"./gone\" leads to no file of the tree"]);
}
