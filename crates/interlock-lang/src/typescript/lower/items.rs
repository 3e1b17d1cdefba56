//! Imports, exports, enums and namespaces.

use interlock_model::ir::{AccessPath, Name, Root, Term};
use oxc_ast::ast::{
    Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, ImportDeclaration,
    ImportDeclarationSpecifier, ModuleExportName, Statement, TSEnumDeclaration, TSEnumMemberName,
    TSImportEqualsDeclaration, TSModuleReference, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};

use super::{
    bind::{Symbol, SymbolKind, symbol_of},
    context::Lowerer,
    val::Val,
};
use crate::{
    Arg, Shape,
    module::{Export, Import, Imported},
};

impl<'a> Lowerer<'a> {
    pub(super) fn module_item(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::ImportDeclaration(it) => self.import(it),
            Statement::ExportDeclaration(it) => {
                self.declaration(&it.declaration);
                for local in declared_names(&it.declaration) {
                    let local = self.names.get(local);
                    self.export(local.clone(), local);
                }
            }
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    let exported = self.names.get(export_name(&specifier.exported));
                    let local = self.names.get(export_name(&specifier.local));
                    self.export(exported, local);
                }
            }
            Statement::ExportFromDeclaration(it) => {
                let from = specifier(it.source.value.as_str());
                for specifier in &it.specifiers {
                    let exported = self.names.get(export_name(&specifier.exported));
                    let what = Imported::Name(self.names.get(export_name(&specifier.local)));
                    self.module.exports.push(Export::From { exported, from: from.clone(), what });
                }
            }
            Statement::ExportAllDeclaration(it) => {
                let from = specifier(it.source.value.as_str());
                let export = match &it.exported {
                    Some(name) => {
                        let exported = self.names.get(export_name(name));
                        Export::From { exported, from, what: Imported::All }
                    }
                    None => Export::All { from },
                };
                self.module.exports.push(export);
            }
            Statement::ExportDefaultDeclaration(it) => self.export_default(it),
            Statement::TSExportAssignment(it) => {
                let val = self.expression(&it.expression);
                self.export_value("default", val);
            }
            _ => {}
        }
    }

    fn import(&mut self, it: &ImportDeclaration<'a>) {
        let from = specifier(it.source.value.as_str());
        for specifier in it.specifiers.iter().flatten() {
            let (local, what) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => {
                    (&it.local, Imported::Name(self.names.get(export_name(&it.imported))))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                    (&it.local, Imported::Name(self.names.get("default")))
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => (&it.local, Imported::All),
            };
            let local = self.names.of(local.name);
            self.module.imports.push(Import { local, from: from.clone(), what });
        }
    }

    pub(super) fn import_equals(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        let local = self.names.of(it.id.name);
        if let TSModuleReference::ExternalModuleReference(reference) = &it.module_reference {
            let from = specifier(reference.expression.value.as_str());
            self.module.imports.push(Import { local, from, what: Imported::All });
        }
    }

    pub(super) fn export(&mut self, exported: Name, local: Name) {
        self.module.exports.push(Export::Local { exported, local });
    }

    fn export_default(&mut self, it: &ExportDefaultDeclaration<'a>) {
        let default = self.names.get("default");
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => match &function.id {
                Some(id) => {
                    let local = self.names.of(id.name);
                    self.function_declaration(function);
                    self.export(default, local);
                }
                None => {
                    let Some(id) = super::bind::number_of(&function.scope_id) else { return };
                    let bound = AccessPath::of(Root::Global(self.names.global("default")));
                    let this = AccessPath::this();
                    self.function(function, id, default.clone(), None, this, Some(bound));
                    self.export(default.clone(), default);
                }
            },
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                let symbol = class.id.as_ref().and_then(|id| symbol_of(&id.symbol_id));
                let path = self.class(class, symbol);
                let local = match &path.root {
                    Root::Global(name) => name.rsplit_once("::").map_or(&**name, |(_, last)| last).into(),
                    _ => default.clone(),
                };
                self.export(default, local);
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => {
                let local = self.names.of(it.id.name);
                self.export(default, local);
            }
            other => {
                if let Some(expression) = other.as_expression() {
                    let bound = AccessPath::of(Root::Global(self.names.global("default")));
                    self.bound = Some(bound);
                    let val = self.expression(expression);
                    self.bound = None;
                    self.export_value("default", val);
                }
            }
        }
    }

    /// Exports what an expression came to. A global is exported by its name, anything else gets one.
    pub(super) fn export_value(&mut self, exported: &'a str, val: Val) {
        let exported_name = self.names.get(exported);
        if let Some(AccessPath { root: Root::Global(name), fields }) = val.path_ref()
            && let (Some((_, local)), true) = (name.rsplit_once("::"), fields.is_empty())
        {
            let local: Name = local.into();
            return self.export(exported_name, local);
        }
        let local =
            if exported == "default" { exported_name.clone() } else { format!("exports.{exported}").into() };
        let path = AccessPath::of(Root::Global(self.names.made_global(&local)));
        self.record(path, None, val);
        self.export(exported_name, local);
    }

    /// Members with a value that stands in the source are that value; the others count up.
    pub(super) fn enumeration(&mut self, it: &TSEnumDeclaration<'a>) {
        let Some(symbol) = symbol_of(&it.id.symbol_id) else { return };
        let (mut next, mut members) = (Some(0_i64), vec![]);
        for member in &it.body.members {
            let name = match &member.id {
                TSEnumMemberName::Identifier(id) => self.names.of(id.name),
                TSEnumMemberName::String(text) | TSEnumMemberName::ComputedString(text) => {
                    self.names.get(text.value.as_str())
                }
                TSEnumMemberName::ComputedTemplateString(_) => continue,
            };
            let term = match &member.initializer {
                Some(initializer) => {
                    let val = self.expression(initializer);
                    next = match val.shape {
                        Shape::Number(number) => number.checked_add(1),
                        _ => None,
                    };
                    val.term
                }
                None => {
                    let term = next.map_or(Term::Unknown, |number| Term::Literal(format!("{number}").into()));
                    next = next.and_then(|number| number.checked_add(1));
                    term
                }
            };
            if let Term::Literal(text) = &term {
                let shape = Shape::Text(vec![Term::Literal(text.clone())]);
                members.push((name.clone(), Arg { term: term.clone(), values: vec![], shape }));
            }
            self.enums.insert((symbol, name), term);
        }
        // Other files find the members there.
        if self.facts.symbol(symbol).is_some_and(|found| found.global) {
            let path = self.global(symbol);
            self.record(path, None, Val { shape: Shape::Object(members), ..Val::nothing() });
        }
    }

    pub(super) fn namespace(&mut self, it: &TSNamespaceDeclaration<'a>) {
        match &it.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                let exports = self.module.exports.len();
                self.statements(&block.body);
                // What a namespace exports is a member of it, not of the module.
                self.module.exports.truncate(exports);
            }
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => self.namespace(inner),
        }
    }

    /// Members of packages and enums are no state of ours.
    pub(super) fn fix_globals(&mut self) {
        let fixed = |symbol: &&Symbol<'a>| {
            let kind = symbol.kind;
            symbol.global
                && matches!(
                    kind,
                    SymbolKind::Library | SymbolKind::Schema | SymbolKind::Enum | SymbolKind::Namespace
                )
        };
        let names: Vec<&'a str> =
            self.facts.symbols.iter().filter(fixed).map(|symbol| symbol.name.as_str()).collect();
        for name in names {
            let global = self.names.global(name);
            self.names.fix(global);
        }
    }
}

/// As written, without what says where a library is fetched from and in which version: `node:fs`, `npm:zod@3`, `jsr:@std/fs@1`,
/// `https://esm.sh/zod@3?target=deno`.
pub(super) fn specifier(source: &str) -> Name {
    const FETCHED: [&str; 4] = ["npm:", "jsr:", "https://esm.sh/", "https://cdn.skypack.dev/"];
    if let Some(name) = source.strip_prefix("node:") {
        return name.into();
    }
    let Some(name) = FETCHED.iter().find_map(|from| source.strip_prefix(from)) else { return source.into() };
    let name = name.trim_start_matches('/');
    let name = name.split_once('?').map_or(name, |(name, _)| name);
    // The name of a scope begins with the sign that stands in front of a version.
    let (scope, rest) = name.split_at(usize::from(name.starts_with('@')));
    match rest.split_once('@') {
        Some((package, version)) => {
            let inside = version.find('/').and_then(|slash| version.get(slash..)).unwrap_or_default();
            format!("{scope}{package}{inside}").into()
        }
        None => name.into(),
    }
}

fn export_name<'a>(name: &ModuleExportName<'a>) -> &'a str {
    match name {
        ModuleExportName::IdentifierName(id) => id.name.as_str(),
        ModuleExportName::IdentifierReference(id) => id.name.as_str(),
        ModuleExportName::StringLiteral(text) => text.value.as_str(),
    }
}

fn declared_names<'a>(declaration: &Declaration<'a>) -> Vec<&'a str> {
    match declaration {
        Declaration::VariableDeclaration(it) => it
            .declarations
            .iter()
            .flat_map(|declarator| declarator.id.get_binding_identifiers())
            .map(|id| id.name.as_str())
            .collect(),
        other => other.id().map(|id| id.name.as_str()).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::specifier;

    #[test]
    fn a_library_is_the_same_wherever_it_is_fetched_from() {
        for (written, name) in [
            ("zod", "zod"),
            ("./a@2.js", "./a@2.js"),
            ("node:fs/promises", "fs/promises"),
            ("npm:zod@3", "zod"),
            ("npm:/zod@3/v4", "zod/v4"),
            ("npm:@modelcontextprotocol/sdk@1.9.0/server/mcp.js", "@modelcontextprotocol/sdk/server/mcp.js"),
            ("npm:@modelcontextprotocol/sdk/server/mcp.js", "@modelcontextprotocol/sdk/server/mcp.js"),
            ("jsr:@supabase/supabase-js@2", "@supabase/supabase-js"),
            ("https://esm.sh/ioredis@5?target=deno", "ioredis"),
            ("https://esm.sh/@scope/name@^1.2/part", "@scope/name/part"),
            ("https://example.com/mod.ts", "https://example.com/mod.ts"),
        ] {
            assert_eq!(&*specifier(written), name, "{written}");
        }
    }
}
