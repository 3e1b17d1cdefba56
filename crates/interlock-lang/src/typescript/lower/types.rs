//! Declared types, as far as they name something: a class, an interface, a type of a library.

use interlock_model::ir::{AccessPath, Root};
use oxc_ast::ast::{BindingIdentifier, PropertyKey, TSSignature, TSType, TSTypeName};

use super::{bind::SymbolKind, context::Lowerer};
use crate::module::Variable;

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

    /// Notes what the members of an interface are, where that is something with a name: an object of a class or of a library.
    pub(super) fn declared_members(&mut self, id: &BindingIdentifier<'a>, members: &[TSSignature<'a>]) {
        let symbol = self.facts.globals.get(&id.name).and_then(|symbol| self.facts.symbol(*symbol));
        if symbol.is_none_or(|symbol| symbol.kind != SymbolKind::Type) {
            return;
        }
        let whole = AccessPath::of(Root::Global(self.names.global(id.name.as_str())));
        for member in members {
            let TSSignature::TSPropertySignature(it) = member else { continue };
            let (PropertyKey::StaticIdentifier(key), Some(annotation)) = (&it.key, &it.type_annotation)
            else {
                continue;
            };
            let declared = self.type_path(&annotation.type_annotation);
            // What the language itself has says nothing that is not seen where it is used.
            let is_named =
                |path: &AccessPath| matches!(&path.root, Root::Global(name) if name.contains("::"));
            if let Some(declared) = declared.filter(is_named) {
                let path = whole.clone().field(self.names.of(key.name));
                let (owner, initial, within) = (None, None, self.cx.id);
                self.module.variables.push(Variable {
                    path,
                    owner,
                    declared: Some(declared),
                    initial,
                    within,
                });
            }
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
