//! Statements, declarations and classes, in the order of the source.

use oxc_ast::ast::{
    Class, ClassElement, Declaration, Decorator, ExportDefaultDeclarationKind, Expression, ForStatementInit,
    ForStatementLeft, Function, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
    VariableDeclaration,
};

use super::{Binder, SymbolKind, announced};

impl<'a> Binder<'a> {
    pub(super) fn statements(&mut self, statements: &[Statement<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// A block with a scope of its own.
    pub(super) fn block(&mut self, statements: &[Statement<'a>]) {
        self.scope(|this| {
            this.declare_block(statements);
            this.statements(statements);
        });
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::BlockStatement(it) => self.block(&it.body),
            Statement::ExpressionStatement(it) => self.expression(&it.expression),
            Statement::ReturnStatement(it) => self.maybe(it.argument.as_ref()),
            Statement::ThrowStatement(it) => self.expression(&it.argument),
            Statement::IfStatement(it) => {
                self.expression(&it.test);
                self.branch(&it.consequent);
                if let Some(alternate) = &it.alternate {
                    self.branch(alternate);
                }
            }
            Statement::WhileStatement(it) => self.inside_loop(&it.node_id, |this| {
                this.expression(&it.test);
                this.branch(&it.body);
            }),
            Statement::DoWhileStatement(it) => self.inside_loop(&it.node_id, |this| {
                this.branch(&it.body);
                this.expression(&it.test);
            }),
            Statement::ForStatement(it) => self.scope(|this| {
                match &it.init {
                    Some(ForStatementInit::VariableDeclaration(variables)) => {
                        this.declare_lexical(variables);
                        this.variables(variables);
                    }
                    Some(init) => this.maybe(init.as_expression()),
                    None => {}
                }
                this.inside_loop(&it.node_id, |this| {
                    this.maybe(it.test.as_ref());
                    this.branch(&it.body);
                    this.maybe(it.update.as_ref());
                });
            }),
            Statement::ForInStatement(it) => {
                self.each(&it.left, &it.right, &it.body, &it.node_id);
            }
            Statement::ForOfStatement(it) => {
                self.each(&it.left, &it.right, &it.body, &it.node_id);
            }
            Statement::LabeledStatement(it) => self.branch(&it.body),
            Statement::WithStatement(it) => {
                self.expression(&it.object);
                self.branch(&it.body);
            }
            Statement::SwitchStatement(it) => {
                self.expression(&it.discriminant);
                self.scope(|this| {
                    for case in &it.cases {
                        this.declare_block(&case.consequent);
                    }
                    for case in &it.cases {
                        this.maybe(case.test.as_ref());
                        this.statements(&case.consequent);
                    }
                });
            }
            Statement::TryStatement(it) => {
                self.block(&it.block.body);
                if let Some(handler) = &it.handler {
                    self.scope(|this| {
                        if let Some(parameter) = &handler.param {
                            this.declare_pattern(&parameter.pattern, SymbolKind::Variable);
                            this.defaults(&parameter.pattern);
                        }
                        this.declare_block(&handler.body.body);
                        this.statements(&handler.body.body);
                    });
                }
                if let Some(finalizer) = &it.finalizer {
                    self.block(&finalizer.body);
                }
            }
            Statement::ExportDeclaration(it) => self.declaration(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => self.function(function),
                ExportDefaultDeclarationKind::ClassDeclaration(class) => self.class(class, None),
                other => self.maybe(other.as_expression()),
            },
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    if let oxc_ast::ast::ModuleExportName::IdentifierReference(id) = &specifier.local {
                        self.reference(id);
                    }
                }
            }
            Statement::TSExportAssignment(it) => self.expression(&it.expression),
            _ => {
                if let Some(declaration) = statement.as_declaration() {
                    self.declaration(declaration);
                }
            }
        }
    }

    /// A statement that stands alone in place of a block: a function declared there belongs to it.
    fn branch(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::FunctionDeclaration(_) => self.block(std::slice::from_ref(statement)),
            _ => self.statement(statement),
        }
    }

    fn declare_lexical(&mut self, variables: &VariableDeclaration<'a>) {
        if !variables.kind.is_var() {
            self.declare_variables(variables);
        }
    }

    fn each(
        &mut self,
        left: &ForStatementLeft<'a>,
        right: &Expression<'a>,
        body: &Statement<'a>,
        node: &std::cell::Cell<oxc_syntax::node::NodeId>,
    ) {
        self.expression(right);
        self.scope(|this| {
            if let ForStatementLeft::VariableDeclaration(variables) = left {
                this.declare_lexical(variables);
            }
            this.inside_loop(node, |this| {
                match left {
                    ForStatementLeft::VariableDeclaration(variables) => this.variables(variables),
                    other => {
                        if let Some(target) = other.as_assignment_target() {
                            this.target(target, false);
                        }
                    }
                }
                this.branch(body);
            });
        });
    }

    fn declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(it) => self.variables(it),
            Declaration::FunctionDeclaration(it) => self.function(it),
            Declaration::ClassDeclaration(it) => self.class(it, None),
            Declaration::TSEnumDeclaration(it) => {
                for member in &it.body.members {
                    self.maybe(member.initializer.as_ref());
                }
            }
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it),
            _ => {}
        }
    }

    fn namespace(&mut self, namespace: &TSNamespaceDeclaration<'a>) {
        match &namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                let name = super::symbol_of(&namespace.id.symbol_id);
                let (at_top, outer) = (self.at_top, std::mem::replace(&mut self.namespace, name));
                self.scope(|this| {
                    this.at_top = at_top;
                    this.declare_all(&block.body);
                    this.statements(&block.body);
                });
                self.namespace = outer;
            }
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => self.namespace(inner),
        }
    }

    pub(super) fn variables(&mut self, variables: &VariableDeclaration<'a>) {
        for declarator in &variables.declarations {
            self.defaults(&declarator.id);
            if let Some(init) = &declarator.init {
                if let Some(id) = declarator.id.get_binding_identifier()
                    && let Some(function) = self.function_of(init)
                    && let Some(symbol) = super::symbol_of(&id.symbol_id)
                {
                    self.hold(symbol, function);
                }
                match init.get_inner_expression() {
                    Expression::ClassExpression(class) => {
                        let id = declarator.id.get_binding_identifier();
                        self.class(class, id.and_then(|id| super::symbol_of(&id.symbol_id)));
                    }
                    _ => self.expression(init),
                }
            }
            // A variable that a loop declares inside itself is new on every turn; a hoisted one is assigned.
            if variables.kind.is_var() && declarator.init.is_some() {
                for id in declarator.id.get_binding_identifiers() {
                    if let Some(symbol) = super::symbol_of(&id.symbol_id) {
                        self.assigned_in_loops(symbol, false);
                    }
                }
            }
        }
    }

    pub(super) fn function(&mut self, function: &Function<'a>) {
        let Some(body) = &function.body else { return };
        let number = self.function_number(&function.scope_id);
        self.inside(number, |this| {
            // The name of a function expression is known inside it only; a declaration's is known already.
            if let Some(id) = function.id.as_ref().filter(|id| id.symbol_id.get().is_none()) {
                let symbol = this.declare(id, SymbolKind::Function);
                this.hold(symbol, number);
            }
            this.parameters(&function.params);
            this.declare_all(&body.statements);
            this.statements(&body.statements);
        });
    }

    fn announced(&mut self, decorators: &[Decorator<'a>]) {
        for call in announced(decorators) {
            self.expression(&call.callee);
            self.arguments(&call.arguments);
        }
    }

    /// A class, and the variable that it is made for. Its own name is another one for that variable: `const Store = class _Store { … }`
    /// is what compilers make of a class that names itself.
    pub(super) fn class(&mut self, class: &Class<'a>, variable: Option<u32>) {
        if let Some(heritage) = &class.heritage {
            self.expression(&heritage.expression);
        }
        let constructor = self.add_class(&class.scope_id);
        self.scope(|this| {
            if let Some(id) = class.id.as_ref().filter(|id| id.symbol_id.get().is_none()) {
                match variable {
                    Some(variable) => this.call_also(id, variable),
                    None => drop(this.declare(id, SymbolKind::Class)),
                }
            }
            this.announced(&class.decorators);
            for element in &class.body.body {
                match element {
                    ClassElement::MethodDefinition(method) => {
                        if method.computed {
                            this.maybe(method.key.as_expression());
                        }
                        this.announced(&method.decorators);
                        if method.kind.is_constructor() && method.value.body.is_some() {
                            let id = oxc_syntax::scope::ScopeId::from_usize(constructor as usize);
                            method.value.scope_id.set(Some(id));
                        }
                        this.function(&method.value);
                    }
                    ClassElement::PropertyDefinition(field) => {
                        this.field(
                            &field.key,
                            field.computed,
                            field.r#static,
                            field.value.as_ref(),
                            constructor,
                        );
                    }
                    ClassElement::AccessorProperty(field) => {
                        this.field(
                            &field.key,
                            field.computed,
                            field.r#static,
                            field.value.as_ref(),
                            constructor,
                        );
                    }
                    ClassElement::StaticBlock(block) => this.scope(|this| {
                        this.declare_all(&block.body);
                        this.statements(&block.body);
                    }),
                    ClassElement::TSIndexSignature(_) => {}
                }
            }
        });
    }

    /// A field's value is computed when an object is made, as part of the constructor; a static one's with the class.
    fn field(
        &mut self,
        key: &oxc_ast::ast::PropertyKey<'a>,
        computed: bool,
        fixed: bool,
        value: Option<&Expression<'a>>,
        constructor: u32,
    ) {
        if computed {
            self.maybe(key.as_expression());
        }
        let Some(value) = value else { return };
        if fixed {
            self.expression(value);
        } else {
            self.inside(constructor, |this| this.expression(value));
        }
    }
}
