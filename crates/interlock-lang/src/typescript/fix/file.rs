//! What a change has to know of the whole file.

use std::collections::BTreeSet;

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, Expression, FormalParameter, Program, PropertyDefinition, PropertyKey,
    TSTypeAnnotation, TemplateLiteral, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::Span;

use super::{bindings::Bindings, expression::last_name, layout::Layout};

/// A file that is to be changed.
pub(super) struct File<'f, 'a> {
    pub(super) text: &'f str,
    pub(super) program: &'f Program<'a>,
    pub(super) layout: Layout,
    pub(super) bindings: Bindings,
    /// Every name that is declared somewhere.
    pub(super) declared: BTreeSet<String>,
    /// Names of variables, parameters and fields that hold something else than the name of a file.
    pub(super) no_paths: BTreeSet<String>,
    /// Text in which white space counts.
    templates: Vec<Span>,
}

/// Types of what `writeFile` also takes in place of a path.
const NO_PATHS: &[&str] = &["URL", "FileHandle", "Buffer", "PathLike", "number", "any", "unknown"];

impl<'f, 'a> File<'f, 'a> {
    pub(super) fn new(text: &'f str, program: &'f Program<'a>) -> Self {
        let mut survey = Survey { text, ..Survey::default() };
        survey.visit_program(program);
        Self {
            text,
            program,
            layout: Layout::of(text, &survey.templates),
            bindings: Bindings::of(program, text),
            declared: survey.declared,
            no_paths: survey.no_paths,
            templates: survey.templates,
        }
    }

    /// The text of a stretch.
    pub(super) fn slice(&self, span: Span) -> &'f str {
        self.between(span.start, span.end)
    }

    /// The text from one byte to another.
    pub(super) fn between(&self, start: u32, end: u32) -> &'f str {
        let (start, end) = (start as usize, end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Whether a byte stands inside a template, where an indentation would change the value.
    pub(super) fn in_template(&self, at: u32) -> bool {
        self.templates.iter().any(|span| span.start < at && at < span.end)
    }
}

#[derive(Default)]
struct Survey<'t> {
    text: &'t str,
    declared: BTreeSet<String>,
    no_paths: BTreeSet<String>,
    templates: Vec<Span>,
}

impl Survey<'_> {
    fn note_type(&mut self, name: &str, annotation: Option<&TSTypeAnnotation<'_>>) {
        let Some(annotation) = annotation else { return };
        let (start, end) = (annotation.span.start as usize, annotation.span.end as usize);
        let text = self.text.get(start..end).unwrap_or_default();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if words.any(|word| NO_PATHS.contains(&word)) {
            self.no_paths.insert(name.to_owned());
        }
    }
}

impl<'a> Visit<'a> for Survey<'_> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.declared.insert(it.name.to_string());
    }

    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        self.templates.push(it.span);
        walk::walk_template_literal(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let BindingPattern::BindingIdentifier(name) = &it.id {
            self.note_type(&name.name, it.type_annotation.as_deref());
            if it.init.as_ref().is_some_and(makes_no_path) {
                self.no_paths.insert(name.name.to_string());
            }
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if let BindingPattern::BindingIdentifier(name) = &it.pattern {
            self.note_type(&name.name, it.type_annotation.as_deref());
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if let PropertyKey::StaticIdentifier(name) = &it.key {
            self.note_type(&name.name, it.type_annotation.as_deref());
            if it.value.as_ref().is_some_and(makes_no_path) {
                self.no_paths.insert(name.name.to_string());
            }
        }
        walk::walk_property_definition(self, it);
    }
}

/// Whether a value is no text: an object that was made, an open file.
fn makes_no_path(value: &Expression<'_>) -> bool {
    match value {
        Expression::NewExpression(_) => true,
        Expression::AwaitExpression(awaited) => makes_no_path(&awaited.argument),
        Expression::CallExpression(call) => {
            last_name(&call.callee).is_some_and(|name| ["open", "openSync", "pathToFileURL"].contains(&name))
        }
        _ => false,
    }
}
