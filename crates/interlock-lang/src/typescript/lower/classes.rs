//! Classes: methods are functions, fields are set by the constructor.

use interlock_model::ir::{AccessPath, Field, Name, Root, Value};
use oxc_ast::ast::{
    BindingPattern, Class, ClassElement, Decorator, Expression, FormalParameters, Function, MethodDefinition,
    PropertyKey,
};

use super::{
    bind::{announced, number_of, symbol_of},
    context::{Lowerer, flag},
    cx::Head,
    functions::{Body, Written},
    val::Val,
};
use crate::{Shape, module};

impl<'a> Lowerer<'a> {
    pub(super) fn class_expression(&mut self, class: &Class<'a>) -> Val {
        let path = self.class(class, None);
        Val::path(path, vec![], 0)
    }

    /// Lowers a class, and says by which path it is known.
    pub(super) fn class(&mut self, class: &Class<'a>, symbol: Option<u32>) -> AccessPath {
        let path = match symbol {
            Some(symbol) => self.class_path(symbol),
            None => {
                let name = class.id.as_ref().map_or("class", |id| id.name.as_str());
                AccessPath::of(Root::Global(self.names.global(name)))
            }
        };
        let name = global_name(&path);
        let short = short_name(&path);
        let Some(number) = number_of(&class.scope_id) else { return path };
        let constructor = self.facts.classes.get(number as usize).map_or(0, |facts| facts.constructor);
        let base = class.heritage.as_ref().and_then(|heritage| {
            let base = self.place(&heritage.expression);
            base.path_ref().cloned()
        });
        let implements =
            class.implements.iter().filter_map(|it| self.type_name_path(&it.expression)).collect();
        let mut lowered = module::Class {
            name: name.clone(),
            bases: base.into_iter().collect(),
            implements,
            methods: vec![(self.names.get("constructor"), constructor)],
            getters: vec![],
            fields: vec![],
        };
        let mut written = None;
        for element in &class.body.body {
            match element {
                ClassElement::MethodDefinition(method) if method.kind.is_constructor() => {
                    if method.value.body.is_some() {
                        written = Some(&*method.value);
                    }
                }
                ClassElement::MethodDefinition(method) => {
                    self.method(method, &name, &short, &path, &mut lowered);
                }
                ClassElement::PropertyDefinition(field) => {
                    let declared = field.type_annotation.as_ref();
                    if let Some(declared) = declared.and_then(|it| self.type_path(&it.type_annotation)) {
                        let key = self.property_name(&field.key, false, &mut vec![]);
                        lowered.fields.push((key, declared));
                    }
                    if let (true, Some(value)) = (field.r#static, &field.value) {
                        self.static_field(&field.key, value, &path);
                    }
                }
                ClassElement::StaticBlock(block) => self.statements(&block.body),
                ClassElement::AccessorProperty(_) | ClassElement::TSIndexSignature(_) => {}
            }
        }
        // What announces a class announces the method of it that does the work.
        let called = |work: &String| lowered.methods.iter().find(|(name, _)| **name == **work);
        if let Some((_, id)) = super::super::tables().sdk().object.work.iter().find_map(called) {
            self.announcements(&class.decorators, *id);
        }
        self.constructor(class, constructor, written, &name, &short, &mut lowered);
        self.module.classes.push(lowered);
        path
    }

    fn class_path(&mut self, symbol: u32) -> AccessPath {
        let global = self.facts.symbol(symbol).is_some_and(|found| found.global);
        if global {
            return self.global(symbol);
        }
        // A class inside a function is known by its name all the same.
        let name = self.facts.symbol(symbol).map(|found| found.name);
        let name = name.map_or("class", |name| name.as_str());
        let path = AccessPath::of(Root::Global(self.names.global(name)));
        let alias = self.keep_path(path.clone());
        let value = self.step(&name.into(), 0);
        self.set(symbol, super::context::Binding { value, alias, shape: None });
        path
    }

    fn method(
        &mut self,
        method: &MethodDefinition<'a>,
        class: &Name,
        short: &str,
        path: &AccessPath,
        lowered: &mut module::Class,
    ) {
        let Some(id) = number_of(&method.value.scope_id).filter(|_| method.value.body.is_some()) else {
            return;
        };
        let key = self.property_name(&method.key, method.computed, &mut vec![]);
        let key = if key.is_empty() { self.names.get("method") } else { key };
        let name = self.names.joined(&[short, ".", &key]);
        let (this, bound) = if method.r#static {
            (path.clone(), Some(path.clone().field(key.clone())))
        } else {
            (AccessPath::this(), None)
        };
        self.function(&method.value, id, name, Some(class.clone()), this, bound);
        lowered.methods.push((key, id));
        self.announcements(&method.decorators, id);
    }

    /// What announces a method to clients is a call that is handed the method: `Tool({ … }, method)`.
    fn announcements(&mut self, decorators: &[Decorator<'a>], id: u32) {
        for call in announced(decorators) {
            self.stand(call.span);
            let callee = self.place(&call.callee).path_ref().cloned();
            let mut arguments = self.arguments(&call.arguments);
            arguments.push(Val::function(id, vec![]).into_arg());
            self.site(callee, false, arguments, None);
        }
    }

    fn static_field(&mut self, key: &PropertyKey<'a>, value: &Expression<'a>, path: &AccessPath) {
        let key = self.property_name(key, false, &mut vec![]);
        let field = path.clone().field(key);
        self.bound = Some(field.clone());
        let val = self.expression(value);
        self.bound = None;
        self.record(field, None, val);
    }

    /// The constructor, written or not: fields first, then parameters that are fields, then its body.
    fn constructor(
        &mut self,
        class: &Class<'a>,
        id: u32,
        written: Option<&Function<'a>>,
        name: &Name,
        short: &str,
        lowered: &mut module::Class,
    ) {
        let own_name = self.names.joined(&[short, ".constructor"]);
        if let Some(function) = written {
            self.constructor_types(&function.params, lowered);
            let Some(body) = &function.body else { return };
            let source = Written {
                id,
                name: own_name,
                span: function.span,
                parameters: &function.params,
                body: Body::Statements(body),
                returns: None,
                asynchronous: false,
                generator: false,
                owner: Some(name.clone()),
                this: AccessPath::this(),
                bound: None,
            };
            let parameters = &function.params;
            self.lower_with(source, |this, values| {
                this.fields(class, lowered);
                this.parameter_fields(parameters, values);
            });
            return;
        }
        let cx = self.open(id, own_name, Some(name.clone()), AccessPath::this());
        let outer = std::mem::replace(&mut self.cx, cx);
        let mark = self.changes.len();
        let captured = self.facts.captures(id).to_vec();
        let captures = captured.into_iter().map(|symbol| self.capture(symbol)).collect();
        if !lowered.bases.is_empty() {
            let name = self.names.get("super");
            self.stand(class.span);
            let target = Val::path(AccessPath::global(name), vec![], 0);
            self.invoke(target, vec![], false, super::calls::Use::Nothing);
        }
        self.fields(class, lowered);
        let span = self.span(class.span);
        let parent = self.facts.functions.get(id as usize).and_then(|facts| facts.parent);
        self.finish(Head { span, captures, parent, ..Head::default() }, outer);
        self.changes.truncate(mark);
    }

    fn fields(&mut self, class: &Class<'a>, lowered: &mut module::Class) {
        for element in &class.body.body {
            let (key, value, computed) = match element {
                ClassElement::PropertyDefinition(it) if !it.r#static => {
                    (&it.key, it.value.as_ref(), it.computed)
                }
                ClassElement::AccessorProperty(it) if !it.r#static => {
                    (&it.key, it.value.as_ref(), it.computed)
                }
                _ => continue,
            };
            let Some(value) = value else { continue };
            let key = self.property_name(key, computed, &mut vec![]);
            let path = AccessPath::this().field(key.clone());
            self.bound = Some(path.clone());
            let val = match value.get_inner_expression() {
                Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                    let short = lowered.name.rsplit_once("::").map_or(&*lowered.name, |(_, last)| last);
                    let name = self.names.joined(&[short, ".", &key]);
                    self.function_expression(value, Some(name))
                }
                _ => self.expression(value),
            };
            self.bound = None;
            if let Shape::Function { function, .. } = &val.shape {
                lowered.methods.push((key, function.0));
            } else if !val.values.is_empty() {
                self.stand(oxc_span::GetSpan::span(value));
                self.write(path.clone(), val.values.clone());
            }
            self.record(path, None, val);
        }
    }

    /// `constructor(private readonly store: Store)`.
    fn parameter_fields(&mut self, parameters: &FormalParameters<'a>, values: &[Value]) {
        for (parameter, value) in parameters.items.iter().zip(values) {
            if parameter.accessibility.is_none() && !parameter.readonly && !parameter.r#override {
                continue;
            }
            let Some(name) = parameter.pattern.get_identifier_name() else { continue };
            let name = self.names.of(name);
            let declared = parameter.type_annotation.as_ref();
            let declared = declared.and_then(|it| self.type_path(&it.type_annotation));
            self.stand(parameter.span);
            let path = AccessPath::this().field(name);
            self.write(path.clone(), vec![*value]);
            self.record(path, declared, Val::of(*value, flag::STATE));
        }
    }

    fn constructor_types(&mut self, parameters: &FormalParameters<'a>, lowered: &mut module::Class) {
        for parameter in &parameters.items {
            let is_field = parameter.accessibility.is_some() || parameter.readonly;
            let BindingPattern::BindingIdentifier(id) = &parameter.pattern else { continue };
            debug_assert!(symbol_of(&id.symbol_id).is_some());
            let declared = parameter.type_annotation.as_ref();
            if let (true, Some(path)) =
                (is_field, declared.and_then(|it| self.type_path(&it.type_annotation)))
            {
                lowered.fields.push((self.names.of(id.name), path));
            }
        }
    }
}

/// The path as one name.
fn global_name(path: &AccessPath) -> Name {
    let Root::Global(root) = &path.root else { return "?".into() };
    if path.fields.is_empty() {
        return root.clone();
    }
    let mut name = root.to_string();
    for field in &path.fields {
        if let Field::Name(field) = field {
            name.push('.');
            name.push_str(field);
        }
    }
    name.into()
}

fn short_name(path: &AccessPath) -> String {
    match path.fields.last() {
        Some(Field::Name(name)) => name.to_string(),
        _ => match &path.root {
            Root::Global(name) => name.rsplit_once("::").map_or(&**name, |(_, last)| last).to_owned(),
            _ => "class".to_owned(),
        },
    }
}
