//! Declared types, as far as they name something: a class, an interface, a type of a library.

use interlock_model::ir::{AccessPath, Root};
use oxc_ast::ast::{TSType, TSTypeName};

use super::context::Lowerer;

/// Types that stand for the type they are made of.
const TRANSPARENT: &[&str] =
    &["Promise", "Readonly", "Partial", "Required", "NonNullable", "Awaited", "Omit", "Pick"];

impl<'a> Lowerer<'a> {
    /// The path of a type, looked up like a value. `Promise<T>` and `T | null` are `T`; a list of `T` is no `T`.
    pub(super) fn type_path(&mut self, declared: &TSType<'a>) -> Option<AccessPath> {
        match declared {
            TSType::TSTypeReference(it) => {
                if let (TSTypeName::IdentifierReference(id), Some(arguments)) =
                    (&it.type_name, &it.type_arguments)
                    && TRANSPARENT.contains(&id.name.as_str())
                {
                    return arguments.params.first().and_then(|inner| self.type_path(inner));
                }
                self.type_name_path(&it.type_name)
            }
            TSType::TSUnionType(it) => {
                let mut named = it.types.iter().filter(|one| {
                    !matches!(
                        one,
                        TSType::TSNullKeyword(_) | TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_)
                    )
                });
                match (named.next(), named.next()) {
                    (Some(only), None) => self.type_path(only),
                    _ => None,
                }
            }
            TSType::TSIntersectionType(it) => it.types.first().and_then(|first| self.type_path(first)),
            TSType::TSParenthesizedType(it) => self.type_path(&it.type_annotation),
            TSType::TSTypeOperatorType(it) => self.type_path(&it.type_annotation),
            TSType::TSTypeQuery(it) => self.type_name_path(it.expr_name.as_ts_type_name()?),
            _ => None,
        }
    }

    pub(super) fn type_name_path(&mut self, name: &TSTypeName<'a>) -> Option<AccessPath> {
        match name {
            TSTypeName::IdentifierReference(id) => {
                let text = id.name.as_str();
                match self.facts.globals.get(&id.name) {
                    Some(_) => Some(AccessPath::of(Root::Global(self.names.global(text)))),
                    None => Some(AccessPath::global(self.names.get(text))),
                }
            }
            TSTypeName::QualifiedName(it) => {
                let left = self.type_name_path(&it.left)?;
                Some(left.field(self.names.of(it.right.name)))
            }
            TSTypeName::ThisExpression(_) => None,
        }
    }
}
