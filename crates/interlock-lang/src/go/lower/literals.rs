//! What is written out: structs, maps, slices.

use interlock_model::ir::{AccessPath, LockKind, Name, Op, Root, Term};

use super::{
    super::ast::{Element, Kind, Place, Type},
    Lowerer,
    calls::Use,
};
use crate::{
    Arg, Shape,
    module::Variable,
    val::{Val, merge},
};

impl<'a> Lowerer<'a> {
    pub(super) fn composite(&mut self, at: Place, type_: &'a Type<'a>, elements: &'a [Element<'a>]) -> Val {
        // `&sync.Mutex{}` is a lock that is made here.
        if let (Type::Named(Some(package), name), true) = (type_, elements.is_empty())
            && self.imports.get(package.text) == Some(&"sync")
        {
            let package = AccessPath::of(Root::Global(self.global(package.text)));
            let target = Val::path(package.field(self.name(name.text)), vec![], 0);
            self.stand(at);
            return self.invoke(target, vec![], true, Use::Value);
        }
        let (shape, values) = match type_ {
            Type::List(_) => self.list(elements),
            Type::Map(_) => self.members(elements, true),
            _ => self.members(elements, false),
        };
        self.stand(at);
        let path = self.type_path(type_);
        if let (Type::Map(_), Shape::Object(members)) = (type_, &shape)
            && members.is_empty()
        {
            return self.made("map", vec![]);
        }
        if let (Shape::Object(members), Some(path), false) = (&shape, &path, matches!(type_, Type::Map(_))) {
            self.fields_of(path, members);
        }
        let name: Name = match type_ {
            Type::Named(_, name) => self.name(name.text),
            _ => "literal".into(),
        };
        let shape = match (shape, type_, &path) {
            // A struct has what its type has besides: its methods.
            (Shape::Object(mut members), Type::Named(None, _), Some(path)) => {
                members.push(("...".into(), Arg::opaque(path.clone().into(), vec![])));
                Shape::Object(members)
            }
            (shape, _, _) => shape,
        };
        let val = Val { shape, values, ..Val::nothing() };
        let made = self.work.structured_value(&name, &val);
        self.work.cx.locals.push((made, val.clone().into_arg()));
        self.work.cx.types.extend(path.map(|path| (made, path)));
        Val { shape: val.shape, direct: Some(made), ..Val::of(made, 0) }
    }

    /// What the fields of a struct are, as the literals of it say.
    fn fields_of(&mut self, type_: &AccessPath, members: &[(Name, Arg)]) {
        for (field, arg) in members {
            let says_something =
                !matches!(arg.shape, Shape::Opaque | Shape::Null) || matches!(arg.term, Term::Path(_));
            if !says_something || field.is_empty() {
                continue;
            }
            let path = type_.clone().field(field.clone());
            let declared = self.made_type(&Val::from_arg(arg.clone()));
            let (owner, within) = (None, self.cx.id);
            let initial = Some(arg.clone());
            self.work.module.variables.push(Variable { path, owner, declared, initial, within });
        }
    }

    fn list(&mut self, elements: &'a [Element<'a>]) -> (Shape, Vec<interlock_model::ir::Value>) {
        let (mut items, mut values) = (vec![], vec![]);
        for element in elements {
            let val = self.expression(&element.value);
            merge(&mut values, &val.values);
            items.push(val.into_arg());
        }
        (Shape::List(items), values)
    }

    fn members(
        &mut self,
        elements: &'a [Element<'a>],
        keyed: bool,
    ) -> (Shape, Vec<interlock_model::ir::Value>) {
        let (mut members, mut values) = (vec![], vec![]);
        for element in elements {
            let name: Name = match element.key.as_ref().map(|key| (&key.kind, key)) {
                Some((Kind::Name(field), _)) if !keyed => self.name(field),
                Some((Kind::Text(text), _)) => text.as_str().into(),
                Some((_, key)) => {
                    let key = self.expression(key);
                    merge(&mut values, &key.values);
                    match key.term {
                        Term::Literal(text) => text,
                        // A constant that another file may have said.
                        _ => "".into(),
                    }
                }
                None => "".into(),
            };
            let val = self.expression(&element.value);
            // What a call gives is called like the field that it is put into.
            if let (Kind::Call(..), Some(made), false) =
                (&element.value.kind, val.only_value(), keyed || name.is_empty())
            {
                self.rename(made, name.clone());
            }
            merge(&mut values, &val.values);
            members.push((name, val.into_arg()));
        }
        (Shape::Object(members), values)
    }

    /// A collection or the like that the language makes.
    pub(super) fn made(&mut self, name: &'static str, arguments: Vec<Arg>) -> Val {
        let target = Val::path(AccessPath::global(name), vec![], 0);
        self.invoke(target, arguments, true, Use::Value)
    }

    /// Something that nobody else has yet.
    pub(super) fn new_value(&mut self, name: &Name, type_: Option<AccessPath>) -> Val {
        self.new_value_of(name, type_, None)
    }

    /// The same, and whether it is a lock.
    pub(super) fn new_value_of(
        &mut self,
        name: &Name,
        type_: Option<AccessPath>,
        lock: Option<LockKind>,
    ) -> Val {
        let value = self.step(name, 0);
        self.push(Op::New { into: value, lock });
        self.work.cx.types.extend(type_.map(|path| (value, path)));
        Val { direct: Some(value), ..Val::of(value, 0) }
    }
}
