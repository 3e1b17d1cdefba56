//! Calls that lead nowhere are noted with their reason.

use interlock_model::ir::UnresolvedReason;

use super::linked;
use crate::{Source, knowledge::Knowledge, link::link, python};

#[test]
fn a_call_that_leads_nowhere_is_noted_with_its_reason() {
    let program = linked(
        r#"
//- a.ts
import { odd } from "odd-library";
import { gone } from "./gone.js";
class Known { method() { odd(); } }
export async function save(x, which) {
  x.inner.store(1);
  missing(1);
  odd(x);
  gone(x);
  new Known().other(x);
  which[x.kind](x);
}
"#,
    );
    let noted: Vec<_> =
        program.unresolved.iter().map(|unresolved| (&*unresolved.callee, unresolved.reason)).collect();
    assert_eq!(
        noted,
        [
            ("x.inner.store", UnresolvedReason::Receiver),
            ("missing", UnresolvedReason::Library),
            ("odd", UnresolvedReason::Library),
            ("gone", UnresolvedReason::Function),
            ("Known.other", UnresolvedReason::Method),
            ("which[]", UnresolvedReason::Computed),
            ("odd", UnresolvedReason::Library),
        ]
    );
}

#[test]
fn what_a_library_made_is_the_librarys_where_it_is_called() {
    let program = linked(
        r#"
//- a.ts
import { compile } from "odd-library";
import { gone } from "./gone.js";
const check = compile({ type: "object" });
const other = gone();
export async function save(x) {
  check(x);
  other(x);
}
"#,
    );
    let noted = |callee: &str| {
        let mut found = program.unresolved.iter().filter(|unresolved| unresolved.callee.ends_with(callee));
        found.next().map(|unresolved| unresolved.reason)
    };
    assert_eq!(noted("check"), Some(UnresolvedReason::Library));
    assert_eq!(noted("other"), Some(UnresolvedReason::Function));
}

#[test]
fn a_thread_is_known_and_a_file_means_the_library_that_it_is_called_like() {
    let sources = [
        ("store/vectors.py", "import vectors\ndef load(connection):\n    vectors.load(connection)\n"),
        (
            "worker.py",
            "import threading\nclass Worker:\n    def __init__(self):\n        self.beat: threading.Thread = threading.Thread(target=self.run)\n        \
             self.beat.start()\n        self.other = threading.Thread(target=self.run)\n        self.other.start()\n    def run(self):\n        self.gone.start()\n",
        ),
    ];
    let modules = sources.map(|(path, text)| python::LANGUAGE.module(&Source { path, text })).into();
    let knowledge = Knowledge::of(python::LANGUAGE).unwrap();
    let program = link(python::LANGUAGE, modules, &[], &knowledge);
    let noted: Vec<_> =
        program.unresolved.iter().map(|unresolved| (&*unresolved.callee, unresolved.reason)).collect();
    assert_eq!(noted, [("load", UnresolvedReason::Library), ("this.gone.start", UnresolvedReason::Receiver)]);
}
