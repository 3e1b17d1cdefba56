//! Sources and what they become.

use expect_test::Expect;
use interlock_model::ir::{AccessPath, Block, Callee, Field, Function, Op, Program, Root};

use super::lower;
use crate::{Source, module::Module};

mod asynchrony;
mod basics;
mod compiled;
mod conventions;
mod details;
mod facts;
mod locks;
mod robust;
mod waiting;

fn module(path: &str, text: &str) -> Module {
    lower(&Source { path, text })
}

/// The text form of what a file becomes. A call that is yet to be looked up is shown by what it names.
fn text(path: &str, source: &str) -> String {
    let mut module = module(path, source);
    let mut program = Program::default();
    program.add_file(path);
    for mut lowered in std::mem::take(&mut module.functions) {
        let mut body = std::mem::take(&mut lowered.function.body);
        name_calls(&mut body, &module, &lowered.function);
        lowered.function.body = body;
        program.add_function(lowered.function);
    }
    program.notes = module.notes;
    program.hand_made = module.hand_made;
    program.to_string()
}

fn name_calls(block: &mut Block, module: &Module, function: &Function) {
    for effect in block {
        match &mut effect.op {
            Op::Call { callee, receiver, .. } => {
                if let Callee::Pending(site) = callee {
                    let site = &module.sites[*site as usize];
                    let name = site.callee.as_ref().map_or("?".into(), |path| shown(path, function));
                    let new = if site.construct { "new " } else { "" };
                    *callee = Callee::Named(format!("{new}{name}").into());
                    *receiver = None;
                }
            }
            Op::Check { then, otherwise, .. } => {
                name_calls(then, module, function);
                name_calls(otherwise, module, function);
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } => name_calls(body, module, function),
            Op::Together { branches } => {
                branches.iter_mut().for_each(|branch| name_calls(branch, module, function));
            }
            Op::Try { body, catch, finally } => {
                name_calls(body, module, function);
                if let Some(catch) = catch {
                    name_calls(&mut catch.body, module, function);
                }
                name_calls(finally, module, function);
            }
            _ => {}
        }
    }
}

fn shown(path: &AccessPath, function: &Function) -> String {
    let mut text = match &path.root {
        Root::Value(value) => function.values[value.0 as usize].name.to_string(),
        Root::This => "this".to_owned(),
        Root::Global(name) => format!("::{}", name.rsplit_once("::").map_or(&**name, |(_, last)| last)),
    };
    for field in &path.fields {
        match field {
            Field::Name(name) => text.extend([".", name]),
            Field::At(_) => text.push_str("[…]"),
        }
    }
    text
}

fn check(source: &str, expect: Expect) {
    expect.assert_eq(&text("a.ts", source));
}

/// The same with what the locks are worth.
fn check_locks(source: &str, expect: Expect) {
    let mut shown = text("a.ts", source);
    for lock in module("a.ts", source).hand_made {
        let yes = |value: bool| if value { "" } else { "not " };
        shown += &format!(
            "{:<4}  lock {}: {}exclusive, {}outlives failure, removed by {:?} (line {})\n",
            lock.span.line,
            match lock.path.fields.last() {
                Some(Field::Name(name)) => name.to_string(),
                _ => format!("{:?}", lock.path.root),
            } + if lock.keyed { "[]" } else { "" },
            yes(lock.exclusive),
            yes(lock.outlives_failure),
            lock.removal.0,
            lock.removal.1.line,
        );
    }
    expect.assert_eq(&shown);
}
