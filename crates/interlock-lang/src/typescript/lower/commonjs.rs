//! CommonJS, as people and compilers write it: `require`, `module.exports`, `exports.name`; and `import()`.

use interlock_model::ir::{AccessPath, Name, Root};
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, AssignmentExpression, BindingPattern, CallExpression, Expression,
    MemberExpression, ObjectPropertyKind, PropertyKey, Statement,
};

use super::{
    bind::{meaning_of, symbol_of},
    context::{Lowerer, flag},
    items::specifier,
    val::Val,
};
use crate::module::{Export, Import, Imported};

/// How a module is called that has no name of its own in a file: behind this comes where it is from.
pub(super) const IMPORT: &str = "import(";

impl<'a> Lowerer<'a> {
    /// `const fs = require("fs")`, `const { join } = …`, `const read = require("fs").readFile`, at the top of the module.
    pub(super) fn required_variable(&mut self, symbol: u32, init: &Expression<'a>) -> bool {
        let Some((from, what)) = self.requirement(init) else { return false };
        let local = self.symbol_name(symbol);
        self.fix_package(&local, &from);
        self.module.imports.push(Import { local, from, what });
        true
    }

    pub(super) fn required_pattern(&mut self, pattern: &BindingPattern<'a>, init: &Expression<'a>) -> bool {
        let (BindingPattern::ObjectPattern(object), Some((from, Imported::All))) =
            (pattern, self.requirement(init))
        else {
            return false;
        };
        let simple = object.rest.is_none()
            && object.properties.iter().all(|property| {
                let id = property.value.get_binding_identifier();
                let symbol = id.and_then(|id| symbol_of(&id.symbol_id));
                let global =
                    symbol.and_then(|symbol| self.facts.symbol(symbol)).is_some_and(|found| found.global);
                !property.computed && global
            });
        if !simple {
            return false;
        }
        for property in &object.properties {
            let Some(id) = property.value.get_binding_identifier() else { continue };
            let what = Imported::Name(self.property_name(&property.key, false, &mut vec![]));
            let local = self.names.of(id.name);
            self.fix_package(&local, &from);
            self.module.imports.push(Import { local, from: from.clone(), what });
        }
        true
    }

    fn fix_package(&mut self, local: &Name, from: &str) {
        if !from.starts_with('.') && !from.starts_with('/') {
            let name = self.names.made_global(local);
            self.names.fix(name);
        }
    }

    /// What a `require` or an `await import` brings.
    fn requirement(&self, init: &Expression<'a>) -> Option<(Name, Imported)> {
        match init.get_inner_expression() {
            Expression::CallExpression(call) => {
                if let Some(source) = self.require_source(call) {
                    return Some((specifier(source), Imported::All));
                }
                self.requirement(wrapped(call)?)
            }
            Expression::AwaitExpression(it) => match it.argument.get_inner_expression() {
                Expression::ImportExpression(import) => match &import.source {
                    Expression::StringLiteral(source) => {
                        Some((specifier(source.value.as_str()), Imported::All))
                    }
                    _ => None,
                },
                _ => None,
            },
            Expression::StaticMemberExpression(member) => match self.requirement(&member.object)? {
                (from, Imported::All) => Some((from, Imported::Name(member.property.name.as_str().into()))),
                _ => None,
            },
            _ => None,
        }
    }

    fn require_source(&self, call: &CallExpression<'a>) -> Option<&'a str> {
        let Expression::Identifier(id) = &call.callee else { return None };
        let ours = meaning_of(&id.reference_id).is_some();
        // `const require = createRequire(import.meta.url)` is the same function.
        if !is_require(&id.name) || call.arguments.len() != 1 {
            return None;
        }
        match call.arguments.first().and_then(Argument::as_expression)? {
            Expression::StringLiteral(source) => {
                let made_by_node = ours && !self.facts.globals.contains_key(&id.name);
                (!made_by_node).then(|| source.value.as_str())
            }
            _ => None,
        }
    }

    /// A `require` in the middle of an expression.
    pub(super) fn required(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        if let Some(source) = self.require_source(call) {
            return Some(self.imported(source));
        }
        if self.re_export_all(call) || self.re_export_by_getter(call) {
            return Some(Val::nothing());
        }
        None
    }

    pub(super) fn dynamic_import(&mut self, source: &Expression<'a>) -> Val {
        match source {
            Expression::StringLiteral(source) => self.imported(source.value.as_str()),
            other => {
                self.expression(other);
                // Which one is not known; but a module it is.
                Val { flags: flag::MODULE, ..Val::nothing() }
            }
        }
    }

    /// A module without a name of its own in this file.
    fn imported(&mut self, source: &'a str) -> Val {
        let from = specifier(source);
        let local: Name = format!("{IMPORT}{from})").into();
        if !self.module.imports.iter().any(|import| import.local == local) {
            self.fix_package(&local, &from);
            self.module.imports.push(Import { local: local.clone(), from, what: Imported::All });
        }
        let path = AccessPath::of(Root::Global(self.names.made_global(&local)));
        Val::path(path, vec![], flag::MODULE)
    }

    /// `__exportStar(require("./x"), exports)`.
    fn re_export_all(&mut self, call: &CallExpression<'a>) -> bool {
        let Expression::Identifier(id) = &call.callee else { return false };
        let Some(inner) = call.arguments.first().and_then(Argument::as_expression) else { return false };
        if !matches!(id.name.as_str(), "__exportStar" | "__reExport" | "__export") {
            return false;
        }
        match self.requirement(inner) {
            Some((from, _)) => {
                self.module.exports.push(Export::All { from });
                true
            }
            None => false,
        }
    }

    /// `Object.defineProperty(exports, "name", { enumerable: true, get: function () { return other_1.name; } })`, and esbuild's
    /// `__export(target, { name: () => name })`.
    fn re_export_by_getter(&mut self, call: &CallExpression<'a>) -> bool {
        let exports = match &call.callee {
            Expression::StaticMemberExpression(member) => member.property.name == "defineProperty",
            Expression::Identifier(id) => id.name == "__export",
            _ => false,
        };
        if !exports {
            return false;
        }
        let arguments: Vec<_> = call.arguments.iter().filter_map(Argument::as_expression).collect();
        match (&call.callee, arguments.as_slice()) {
            (
                Expression::StaticMemberExpression(_),
                [
                    Expression::Identifier(exports),
                    Expression::StringLiteral(name),
                    Expression::ObjectExpression(how),
                ],
            ) if self.is_exports(exports.name.as_str()) => {
                let getter = how.properties.iter().find_map(|property| match property {
                    ObjectPropertyKind::ObjectProperty(it) if it.key.is_specific_static_name("get") => {
                        returned(&it.value)
                    }
                    _ => None,
                });
                if let Some(getter) = getter {
                    self.export_by_expression(name.value.as_str(), getter);
                }
                true
            }
            (Expression::Identifier(_), [_, Expression::ObjectExpression(getters)]) => {
                for property in &getters.properties {
                    let ObjectPropertyKind::ObjectProperty(it) = property else { continue };
                    let PropertyKey::StaticIdentifier(key) = &it.key else { continue };
                    if let Some(getter) = returned(&it.value) {
                        self.export_by_expression(key.name.as_str(), getter);
                    }
                }
                true
            }
            _ => false,
        }
    }

    fn export_by_expression(&mut self, exported: &'a str, expression: &Expression<'a>) {
        // `other_1.name`, where `other_1` is an import: exported from there.
        if let Expression::StaticMemberExpression(member) = expression
            && let Expression::Identifier(id) = &member.object
        {
            let import = self.module.imports.iter().find(|import| *import.local == *id.name.as_str());
            if let Some(import) = import {
                let from = import.from.clone();
                let exported = self.names.get(exported);
                let what = Imported::Name(self.names.of(member.property.name));
                self.module.exports.push(Export::From { exported, from, what });
                return;
            }
        }
        let val = self.place(expression);
        self.export_value(exported, val);
    }

    fn is_exports(&self, name: &str) -> bool {
        name == "exports" && !self.facts.globals.contains_key("exports")
    }

    /// `exports.name` or `module.exports.name`; the name is empty for `module.exports` itself.
    fn exported_name(&self, member: &MemberExpression<'a>) -> Option<&'a str> {
        let name = member.static_property_name()?;
        match member.object() {
            Expression::Identifier(id) if meaning_of(&id.reference_id).is_none() => match id.name.as_str() {
                "exports" => Some(name),
                "module" if name == "exports" => Some(""),
                _ => None,
            },
            Expression::StaticMemberExpression(inner) => {
                let Expression::Identifier(id) = &inner.object else { return None };
                let module = id.name == "module" && inner.property.name == "exports";
                (module && meaning_of(&id.reference_id).is_none()).then_some(name)
            }
            _ => None,
        }
    }

    /// `exports.name`, read: the variable of that name, or what was exported under it.
    pub(super) fn exports_member(&mut self, member: &MemberExpression<'a>) -> Option<Val> {
        let name = self.exported_name(member).filter(|name| !name.is_empty())?;
        let root = match self.facts.globals.contains_key(name) {
            true => self.names.global(name),
            false => self.names.made_global(&format!("exports.{name}")),
        };
        Some(Val::path(AccessPath::of(Root::Global(root)), vec![], 0))
    }

    /// `module.exports = …`, `exports.name = …`.
    pub(super) fn exports_assignment(&mut self, it: &AssignmentExpression<'a>) -> Option<Val> {
        let member = it.left.as_simple_assignment_target()?.as_member_expression()?;
        let name = self.exported_name(member)?;
        if !it.operator.is_assign() {
            return None;
        }
        if name.is_empty() {
            self.export_whole(&it.right);
            return Some(Val::nothing());
        }
        // `exports.a = exports.b = …`, and `exports.name = void 0` in front of everything.
        if it.right.is_void_0() || it.right.is_undefined() {
            return Some(Val::nothing());
        }
        if let Expression::AssignmentExpression(inner) = &it.right {
            let val = self.assignment(inner);
            if !val.is_null() && val.values.is_empty() && val.path_ref().is_none() {
                return Some(val);
            }
            self.export_value(name, val.clone());
            return Some(val);
        }
        let made = self.names.made_global(&format!("exports.{name}"));
        self.bound = Some(AccessPath::of(Root::Global(made)));
        let val = self.expression(&it.right);
        self.bound = None;
        self.export_value(name, val.clone());
        Some(Val { direct: None, ..val })
    }

    /// `module.exports = …`: each member of an object by its name, and the whole as the default.
    fn export_whole(&mut self, right: &Expression<'a>) {
        if let Some((from, what)) = self.requirement(right) {
            if what == Imported::All {
                self.module.exports.push(Export::All { from: from.clone() });
            }
            let exported = self.names.get("default");
            self.module.exports.push(Export::From { exported, from, what });
            return;
        }
        let inner = right.get_inner_expression();
        if let Expression::ObjectExpression(object) = inner {
            for property in &object.properties {
                match property {
                    ObjectPropertyKind::ObjectProperty(it) => {
                        let PropertyKey::StaticIdentifier(key) = &it.key else { continue };
                        let name = key.name.as_str();
                        let made = self.names.made_global(&format!("exports.{name}"));
                        self.bound = Some(AccessPath::of(Root::Global(made)));
                        let val = self.expression(&it.value);
                        self.bound = None;
                        self.export_value(name, val);
                    }
                    ObjectPropertyKind::SpreadProperty(spread) => {
                        if let Some((from, Imported::All)) = self.requirement(&spread.argument) {
                            self.module.exports.push(Export::All { from });
                        }
                    }
                }
            }
            return;
        }
        let made = self.names.global("default");
        self.bound = Some(AccessPath::of(Root::Global(made)));
        let val = match inner {
            Expression::ClassExpression(class) => self.class_expression(class),
            _ => self.expression(right),
        };
        self.bound = None;
        self.export_value("default", val);
    }
}

/// What a function without parameters returns at once.
fn returned<'t, 'a>(function: &'t Expression<'a>) -> Option<&'t Expression<'a>> {
    let statements = match function {
        Expression::FunctionExpression(it) => &it.body.as_ref()?.statements,
        Expression::ArrowFunctionExpression(it) => match &it.body {
            ArrowFunctionBody::FunctionBody(body) => &body.statements,
            other => return other.as_expression(),
        },
        _ => return None,
    };
    match statements.as_slice() {
        [Statement::ReturnStatement(it)] => it.argument.as_ref(),
        _ => None,
    }
}

/// The module that a call requires, by the look of it.
pub(crate) fn required<'a>(call: &CallExpression<'a>) -> Option<&'a str> {
    match (&call.callee, call.arguments.as_slice()) {
        (Expression::Identifier(id), [Argument::StringLiteral(from)]) if is_require(&id.name) => {
            Some(from.value.as_str())
        }
        _ => match wrapped(call)?.get_inner_expression() {
            Expression::CallExpression(inner) => required(inner),
            _ => None,
        },
    }
}

/// What is inside of what compilers put around `require`.
fn wrapped<'e, 'a>(call: &'e CallExpression<'a>) -> Option<&'e Expression<'a>> {
    let name = match &call.callee {
        Expression::Identifier(id) => id.name.as_str(),
        // `tslib_1.__importStar(…)`, `_interop_require_default._(…)`.
        Expression::StaticMemberExpression(member) => match &member.object {
            Expression::Identifier(id) if member.property.name == "_" => id.name.as_str(),
            _ => member.property.name.as_str(),
        },
        _ => return None,
    };
    let wraps = matches!(
        name,
        "__importDefault"
            | "__importStar"
            | "__toESM"
            | "_interopRequireDefault"
            | "_interopRequireWildcard"
            | "_interop_require_default"
            | "_interop_require_wildcard"
            | "_interopDefault"
            | "_interopNamespace"
    );
    call.arguments.first().and_then(Argument::as_expression).filter(|_| wraps)
}

/// Bundlers keep `require` under a name of their own, where modules have none.
fn is_require(name: &str) -> bool {
    matches!(name, "require" | "__require")
}
