//! Which names an expression uses, and whether there are such.

use cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr},
};

/// The variables of every expression.
const VARIABLES: &[&str] = &["answers", "succeeded", "reads", "before"];

/// What may be called; operators and macros are called `_+_` and the like.
const FUNCTIONS: &[&str] = &[
    "at",
    "sum",
    "has_path",
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "int",
    "double",
    "string",
    "type",
    "dyn",
];

/// Loops inside loops: each level multiplies what an evaluation may take.
const MOST_LOOPS: usize = 3;

/// What an expression uses.
pub(super) struct Used {
    /// Whether `before` is one of them.
    pub(super) before: bool,
}

/// Looks at every name.
pub(super) fn names(expression: &IdedExpr) -> Result<Used, String> {
    let mut walk = Walk { bound: Vec::new(), loops: 0, before: false };
    walk.visit(expression)?;
    Ok(Used { before: walk.before })
}

struct Walk<'e> {
    /// Names that loops have made, innermost last.
    bound: Vec<&'e str>,
    loops: usize,
    before: bool,
}

impl<'e> Walk<'e> {
    fn visit(&mut self, expression: &'e IdedExpr) -> Result<(), String> {
        match &expression.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.variable(name),
            Expr::Select(select) => self.visit(&select.operand),
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.visit(element)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.visit(&entry.key)?;
                    self.visit(&entry.value)
                }
                EntryExpr::StructField(field) => self.visit(&field.value),
            }),
            Expr::Struct(object) => Err(format!("there is no type `{}`", object.type_name)),
            Expr::Call(call) => {
                self.function(&call.func_name)?;
                if let Some(target) = &call.target {
                    self.visit(target)?;
                }
                call.args.iter().try_for_each(|argument| self.visit(argument))
            }
            Expr::Comprehension(each) => {
                self.visit(&each.iter_range)?;
                self.visit(&each.accu_init)?;
                if self.loops == MOST_LOOPS {
                    return Err(format!(
                        "at most {MOST_LOOPS} of all, exists, filter and map may stand inside each other"
                    ));
                }
                let outside = self.bound.len();
                self.bound.push(&each.accu_var);
                self.bound.push(&each.iter_var);
                self.bound.extend(each.iter_var2.as_deref());
                self.loops += 1;
                for part in [&each.loop_cond, &each.loop_step, &each.result] {
                    self.visit(part)?;
                }
                self.loops -= 1;
                self.bound.truncate(outside);
                Ok(())
            }
        }
    }

    fn variable(&mut self, name: &'e str) -> Result<(), String> {
        if self.bound.contains(&name) {
            return Ok(());
        }
        self.before |= name == "before";
        unless_known("variable", name, VARIABLES)
    }

    fn function(&self, name: &str) -> Result<(), String> {
        let is_operator = !name.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_operator { Ok(()) } else { unless_known("function", name, FUNCTIONS) }
    }
}

fn unless_known(what: &str, name: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&name) {
        return Ok(());
    }
    Err(format!("there is no {what} `{name}`; there are {}", known.join(", ")))
}
