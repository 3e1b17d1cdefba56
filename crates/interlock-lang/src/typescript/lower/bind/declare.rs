//! Hoisting: what a scope declares is known before its first statement is read.

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression,
    ForStatementInit, ForStatementLeft, ImportDeclarationSpecifier, Statement, TSNamespaceDeclarationBody,
    VariableDeclaration, VariableDeclarator,
};
use oxc_syntax::symbol::SymbolId;

use super::{super::commonjs::required, Binder, SymbolKind};

impl<'a> Binder<'a> {
    /// Everything that a block declares, `var`s in its inner blocks included. Called for the body of a function and of the module.
    pub(super) fn declare_all(&mut self, statements: &[Statement<'a>]) {
        for statement in statements {
            self.hoist_var(statement);
        }
        self.declare_block(statements);
    }

    /// What a block declares for itself.
    pub(super) fn declare_block(&mut self, statements: &[Statement<'a>]) {
        for statement in statements {
            match statement {
                Statement::ImportDeclaration(import) => {
                    let kind = import_kind(import.source.value.as_str());
                    for specifier in import.specifiers.iter().flatten() {
                        match specifier {
                            ImportDeclarationSpecifier::ImportSpecifier(it) => self.declare(&it.local, kind),
                            ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                                self.declare(&it.local, kind)
                            }
                            ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                                self.declare_whole(&it.local, kind)
                            }
                        };
                    }
                }
                Statement::ExportDeclaration(export) => self.declare_declaration(&export.declaration),
                Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        let number = self.function_number(&function.scope_id);
                        if let Some(id) = &function.id {
                            let symbol = self.declare(id, SymbolKind::Function);
                            self.hold(symbol, number);
                        }
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                        if let Some(id) = &class.id {
                            self.declare(id, SymbolKind::Class);
                        }
                    }
                    _ => {}
                },
                _ => {
                    if let Some(declaration) = statement.as_declaration() {
                        self.declare_declaration(declaration);
                    }
                }
            }
        }
    }

    fn declare_declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(variables) => {
                if !variables.kind.is_var() {
                    self.declare_variables(variables);
                }
            }
            Declaration::FunctionDeclaration(function) => {
                // An overload has no body; the name belongs to the one that has.
                if let (Some(id), true) = (&function.id, function.body.is_some()) {
                    let number = self.function_number(&function.scope_id);
                    let symbol = self.declare(id, SymbolKind::Function);
                    self.hold(symbol, number);
                }
            }
            Declaration::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    self.declare(id, SymbolKind::Class);
                }
            }
            Declaration::TSEnumDeclaration(it) => {
                self.declare(&it.id, SymbolKind::Enum);
            }
            Declaration::TSTypeAliasDeclaration(it) => {
                self.declare_type(&it.id);
            }
            Declaration::TSInterfaceDeclaration(it) => {
                self.declare_type(&it.id);
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                self.declare(&it.id, SymbolKind::Library);
            }
            Declaration::TSNamespaceDeclaration(it) => {
                if matches!(it.body, TSNamespaceDeclarationBody::TSModuleBlock(_)) {
                    self.declare(&it.id, SymbolKind::Namespace);
                }
            }
            Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => {}
        }
    }

    /// A type gives way to a value of the same name, which is what code means by it.
    fn declare_type(&mut self, id: &BindingIdentifier<'a>) {
        if !self.names.contains_key(&id.name) {
            self.declare(id, SymbolKind::Type);
        }
    }

    pub(super) fn declare_variables(&mut self, variables: &VariableDeclaration<'a>) {
        let kind = match variables.kind {
            kind if kind.is_const() || kind.is_using() => SymbolKind::Const,
            _ => SymbolKind::Variable,
        };
        for declarator in &variables.declarations {
            match self.brought(declarator) {
                Some(kind) => self.declare_brought(&declarator.id, kind),
                None => self.declare_pattern(&declarator.id, kind),
            }
        }
    }

    /// What kind of names a declaration brings that requires a module, at the top of a file.
    fn brought(&self, declarator: &VariableDeclarator<'a>) -> Option<SymbolKind> {
        let init = declarator.init.as_ref().filter(|_| self.at_top)?;
        let Expression::CallExpression(call) = init.get_inner_expression() else { return None };
        required(call).map(import_kind)
    }

    fn declare_brought(&mut self, pattern: &BindingPattern<'a>, kind: SymbolKind) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.declare_whole(id, kind);
            }
            _ => self.declare_pattern(pattern, kind),
        }
    }

    fn declare_whole(&mut self, id: &BindingIdentifier<'a>, kind: SymbolKind) -> u32 {
        let symbol = self.declare(id, kind);
        if let Some(symbol) = self.facts.symbols.get_mut(symbol as usize) {
            symbol.whole = true;
        }
        symbol
    }

    fn hoist_var(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::VariableDeclaration(variables) => self.hoist_variables(variables),
            Statement::ExportDeclaration(export) => {
                if let Declaration::VariableDeclaration(variables) = &export.declaration {
                    self.hoist_variables(variables);
                }
            }
            Statement::BlockStatement(block) => block.body.iter().for_each(|inner| self.hoist_var(inner)),
            Statement::IfStatement(it) => {
                self.hoist_var(&it.consequent);
                if let Some(alternate) = &it.alternate {
                    self.hoist_var(alternate);
                }
            }
            Statement::ForStatement(it) => {
                if let Some(ForStatementInit::VariableDeclaration(variables)) = &it.init {
                    self.hoist_variables(variables);
                }
                self.hoist_var(&it.body);
            }
            Statement::ForInStatement(it) => {
                self.hoist_left(&it.left);
                self.hoist_var(&it.body);
            }
            Statement::ForOfStatement(it) => {
                self.hoist_left(&it.left);
                self.hoist_var(&it.body);
            }
            Statement::WhileStatement(it) => self.hoist_var(&it.body),
            Statement::DoWhileStatement(it) => self.hoist_var(&it.body),
            Statement::LabeledStatement(it) => self.hoist_var(&it.body),
            Statement::WithStatement(it) => self.hoist_var(&it.body),
            Statement::SwitchStatement(it) => {
                it.cases.iter().flat_map(|case| &case.consequent).for_each(|inner| self.hoist_var(inner));
            }
            Statement::TryStatement(it) => {
                it.block.body.iter().for_each(|inner| self.hoist_var(inner));
                let handler = it.handler.iter().flat_map(|handler| &handler.body.body);
                handler.for_each(|inner| self.hoist_var(inner));
                let finalizer = it.finalizer.iter().flat_map(|block| &block.body);
                finalizer.for_each(|inner| self.hoist_var(inner));
            }
            _ => {}
        }
    }

    fn hoist_left(&mut self, left: &ForStatementLeft<'a>) {
        if let ForStatementLeft::VariableDeclaration(variables) = left {
            self.hoist_variables(variables);
        }
    }

    fn hoist_variables(&mut self, variables: &VariableDeclaration<'a>) {
        if variables.kind.is_var() {
            for declarator in &variables.declarations {
                match self.brought(declarator) {
                    Some(kind) => self.declare_brought(&declarator.id, kind),
                    None => self.hoist_pattern(&declarator.id),
                }
            }
        }
    }

    /// A `var` that was declared before, or is a parameter, is the same variable once more.
    fn hoist_pattern(&mut self, pattern: &BindingPattern<'a>) {
        let BindingPattern::BindingIdentifier(id) = pattern else {
            return self.declare_pattern(pattern, SymbolKind::Variable);
        };
        let known = self.names.get(&id.name).copied();
        let same = known.and_then(|known| Some((known, self.facts.symbols.get_mut(known as usize)?)));
        match same {
            Some((known, symbol)) if symbol.function == self.function && symbol.global == self.at_top => {
                symbol.reassigned = true;
                symbol.counts = false;
                id.symbol_id.set(Some(SymbolId::from_usize(known as usize)));
            }
            _ => {
                self.declare(id, SymbolKind::Variable);
            }
        }
    }

    pub(super) fn hold(&mut self, symbol: u32, function: u32) {
        if let Some(symbol) = self.facts.symbols.get_mut(symbol as usize) {
            symbol.holds = Some(function);
        }
    }
}

/// Packages whose calls only describe data. There are dozens of such calls in every file that registers tools.
const SCHEMAS: &[&str] = &["zod", "zod/v3", "zod/v4", "valibot", "@sinclair/typebox", "arktype", "yup"];

fn import_kind(from: &str) -> SymbolKind {
    if from.starts_with(['.', '/', '#']) || from.starts_with("@/") || from.starts_with("~/") {
        SymbolKind::Import
    } else if SCHEMAS.contains(&from) {
        SymbolKind::Schema
    } else {
        SymbolKind::Library
    }
}
