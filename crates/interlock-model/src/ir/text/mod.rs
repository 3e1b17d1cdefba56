//! The stable text form of the IR: one line a step, its source line in front, blocks indented.
//!
//! Tests compare it and people read it in bug reports, so a change here shows up in every expectation; that is intended.

mod name;
mod step;

use std::{
    collections::HashMap,
    fmt::{self, Display, Formatter},
};

use super::{Block, Catch, Effect, Function, Interleaving, Op, Program, Role, Table, Transport};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for server in &self.servers {
            let transport = match server.transport {
                Transport::Stdio => "stdio",
                Transport::Http => "http",
            };
            let limited = if server.limited { ", limited" } else { "" };
            let handlers = server.handlers.iter().filter_map(|id| self.function(*id));
            let handlers: String = handlers.map(|function| format!(" {}", function.name)).collect();
            writeln!(f, "{:<4}  server on {transport}{limited}:{handlers}", server.span.line)?;
        }
        for Table { name, columns, keys } in &self.tables {
            let keys: String = keys.iter().map(|key| format!(" key ({})", key.join(", "))).collect();
            writeln!(f, "      table {name:?}: {}{keys}", columns.join(", "))?;
        }
        let mut file = None;
        for function in &self.functions {
            if file.replace(function.span.file) == Some(function.span.file) {
                writeln!(f)?;
            } else {
                let path = self.files.get(function.span.file.0 as usize);
                writeln!(f, "{}", path.map_or("?", |path| path))?;
            }
            let names = names_of(function);
            Printer { program: self, function, names: &names }.function(f)?;
        }
        for note in &self.notes {
            writeln!(f, "{:<4}  note: {}", note.span.line, note.text)?;
        }
        Ok(())
    }
}

impl Program {
    /// One function in the same form. It may be another version of one of the program's, such as one whose calls were inlined.
    pub fn print<'p>(&'p self, function: &'p Function) -> impl Display + 'p {
        struct One<'p>(&'p Program, &'p Function);
        impl Display for One<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                let names = names_of(self.1);
                Printer { program: self.0, function: self.1, names: &names }.function(f)
            }
        }
        One(self, function)
    }

    /// One step of a function as a line, without the blocks inside it.
    #[must_use]
    pub fn print_step(&self, function: &Function, op: &Op) -> String {
        let names = names_of(function);
        Printer { program: self, function, names: &names }.op(op)
    }
}

/// Prints one function; everything below it needs the function for its values' names and the program for its functions'.
#[derive(Clone, Copy)]
struct Printer<'p> {
    program: &'p Program,
    function: &'p Function,
    names: &'p [String],
}

/// The names of a function's values, made unique: the second `row` is `row.2`.
fn names_of(function: &Function) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let name = |info: &'_ super::ValueInfo, times: usize| match times {
        1 => info.name.to_string(),
        times => format!("{}.{times}", info.name),
    };
    let mut names = Vec::with_capacity(function.values.len());
    for info in &function.values {
        let times = seen.entry(&info.name).or_default();
        *times += 1;
        names.push(name(info, *times));
    }
    names
}

impl Printer<'_> {
    fn function(self, f: &mut Formatter<'_>) -> fmt::Result {
        let Function { name, span, role, interleaving, parameters, .. } = self.function;
        let captures = self.list(" with ", &self.function.captures);
        write!(f, "{:<4}  fn {name}({}){captures}", span.line, self.values(parameters))?;
        match role {
            Role::Helper => {}
            Role::StartUp => write!(f, " at start-up")?,
            Role::Handler(tools) if tools.is_empty() => write!(f, " handles no tool")?,
            Role::Handler(tools) => {
                for tool in tools {
                    let read_only = if tool.read_only { " read-only" } else { "" };
                    let idempotent = if tool.idempotent { " idempotent" } else { "" };
                    write!(f, " handles {}{read_only}{idempotent}", tool.name)?;
                }
            }
        }
        let anywhere = match interleaving {
            Interleaving::AtSuspension => "",
            Interleaving::Anywhere => ", interleaves anywhere",
            Interleaving::Perhaps => ", interleaves perhaps anywhere",
            Interleaving::OneByOne => ", one call at a time",
        };
        let asynchronous = if self.function.asynchronous { ", async" } else { "" };
        let explicitly = if self.function.unwinds { "" } else { ", fails explicitly" };
        writeln!(f, "{asynchronous}{anywhere}{explicitly}")?;
        self.block(f, &self.function.body, 1)
    }

    fn block(self, f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
        block.iter().try_for_each(|effect| self.effect(f, effect, depth))
    }

    fn effect(self, f: &mut Formatter<'_>, effect: &Effect, depth: usize) -> fmt::Result {
        writeln!(f, "{:<4}  {:indent$}{}", effect.span.line, "", self.op(&effect.op), indent = depth * 2)?;
        match &effect.op {
            Op::Check { then, otherwise, .. } => {
                self.labelled(f, "then", then, depth)?;
                self.labelled(f, "else", otherwise, depth)
            }
            Op::Try { body, catch, finally } => {
                self.block(f, body, depth + 1)?;
                if let Some(Catch { error, body }) = catch {
                    let error = error.map(|error| format!(" {}", self.value(error))).unwrap_or_default();
                    self.label(f, &format!("catch{error}"), depth)?;
                    self.block(f, body, depth + 1)?;
                }
                self.labelled(f, "finally", finally, depth)
            }
            Op::Together { branches } => {
                branches.iter().try_for_each(|branch| self.labelled(f, "branch", branch, depth))
            }
            other => other.blocks().try_for_each(|inner| self.block(f, inner, depth + 1)),
        }
    }

    fn labelled(self, f: &mut Formatter<'_>, label: &str, block: &Block, depth: usize) -> fmt::Result {
        if block.is_empty() {
            return Ok(());
        }
        self.label(f, label, depth)?;
        self.block(f, block, depth + 1)
    }

    fn label(self, f: &mut Formatter<'_>, label: &str, depth: usize) -> fmt::Result {
        writeln!(f, "{:indent$}{label}", "", indent = 6 + depth * 2)
    }
}
