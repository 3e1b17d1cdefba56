//! The steps of an access path. Paths are copied far more often than they are changed, so copies share their steps.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    mem,
    ops::{Deref, DerefMut},
    slice,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Field;

/// The steps of an [`AccessPath`](super::AccessPath). A copy costs nothing; what is changed is copied first, unless nobody else has it.
#[derive(Clone, Default)]
pub struct Fields(Option<Arc<Steps>>);

/// The steps themselves. Most paths have one, which needs no list around it.
#[derive(Clone)]
enum Steps {
    One(Field),
    Many(Vec<Field>),
}

/// Up to this many steps a list has no room to spare: there are very many of them, and hardly any grows further.
const FEW: usize = 4;

impl Fields {
    /// No steps.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    fn one(field: Field) -> Self {
        Self(Some(Arc::new(Steps::One(field))))
    }

    fn many(fields: Vec<Field>) -> Self {
        Self(Some(Arc::new(Steps::Many(fields))))
    }

    /// The steps.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Field] {
        match self.0.as_deref() {
            None => &[],
            Some(Steps::One(field)) => slice::from_ref(field),
            Some(Steps::Many(fields)) => fields,
        }
    }

    /// One step more.
    pub fn push(&mut self, field: Field) {
        let Some(steps) = &mut self.0 else {
            *self = Self::one(field);
            return;
        };
        match Arc::get_mut(steps) {
            Some(Steps::Many(own)) => {
                if own.len() == own.capacity() && own.len() < FEW {
                    own.reserve_exact(1);
                }
                own.push(field);
            }
            Some(one) => {
                let first = mem::replace(one, Steps::Many(Vec::with_capacity(2)));
                if let (Steps::One(first), Steps::Many(own)) = (first, one) {
                    own.push(first);
                    own.push(field);
                }
            }
            None => {
                let mut own = Vec::with_capacity(self.len() + 1);
                own.extend_from_slice(self);
                own.push(field);
                *self = Self::many(own);
            }
        }
    }

    /// Takes the last step off.
    pub fn pop(&mut self) -> Option<Field> {
        if let Some(Steps::Many(own)) = self.0.as_mut().and_then(Arc::get_mut) {
            return own.pop();
        }
        let (last, rest) = self.split_last()?;
        let (last, rest) = (last.clone(), rest.into());
        *self = rest;
        Some(last)
    }

    /// Takes the first steps off, as many as given.
    pub fn skip_first(&mut self, count: usize) {
        if count > 0 {
            *self = self.get(count..).unwrap_or_default().into();
        }
    }
}

impl Deref for Fields {
    type Target = [Field];

    #[inline]
    fn deref(&self) -> &[Field] {
        self.as_slice()
    }
}

impl DerefMut for Fields {
    fn deref_mut(&mut self) -> &mut [Field] {
        match self.0.as_mut().map(Arc::make_mut) {
            None => &mut [],
            Some(Steps::One(field)) => slice::from_mut(field),
            Some(Steps::Many(fields)) => fields,
        }
    }
}

impl From<Vec<Field>> for Fields {
    fn from(mut fields: Vec<Field>) -> Self {
        match fields.len() {
            0 => Self::new(),
            1 => fields.pop().map_or(Self::new(), Self::one),
            _ => Self::many(fields),
        }
    }
}

impl From<&[Field]> for Fields {
    fn from(fields: &[Field]) -> Self {
        match fields {
            [] => Self::new(),
            [only] => Self::one(only.clone()),
            fields => Self::many(fields.to_vec()),
        }
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        let mut fields = fields.into_iter();
        let Some(first) = fields.next() else { return Self::new() };
        let Some(second) = fields.next() else { return Self::one(first) };
        Self::many([first, second].into_iter().chain(fields).collect())
    }
}

impl Extend<Field> for Fields {
    fn extend<I: IntoIterator<Item = Field>>(&mut self, fields: I) {
        for field in fields {
            self.push(field);
        }
    }
}

impl<'f> IntoIterator for &'f Fields {
    type Item = &'f Field;
    type IntoIter = slice::Iter<'f, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'f> IntoIterator for &'f mut Fields {
    type Item = &'f mut Field;
    type IntoIter = slice::IterMut<'f, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) if Arc::ptr_eq(one, other) => true,
            _ => self.as_slice() == other.as_slice(),
        }
    }
}

impl Eq for Fields {}

impl PartialOrd for Fields {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fields {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for Fields {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Field>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_to_a_copy_leaves_the_other_alone() {
        let one: Fields = [Field::Name("a".into())].into_iter().collect();
        let mut other = one.clone();
        assert!(one == other);
        other.push(Field::Name("b".into()));
        assert_eq!((one.len(), other.len()), (1, 2));
        assert!(one < other && other.pop().is_some() && one == other);
    }

    #[test]
    fn steps_are_put_on_and_taken_off_at_both_ends() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let field = |name: &&str| Field::Name((*name).into());
        for count in 0..names.len() {
            let expected: Vec<Field> = names.iter().take(count).map(field).collect();
            let mut pushed = Fields::new();
            expected.iter().for_each(|field| pushed.push(field.clone()));
            let mut extended: Fields = expected.iter().take(1).cloned().collect();
            extended.extend(expected.iter().skip(1).cloned());
            for fields in [pushed, extended, expected.clone().into(), (&*expected).into()] {
                assert_eq!(fields.as_slice(), expected);
                for skipped in 0..=count + 1 {
                    let mut rest = fields.clone();
                    rest.skip_first(skipped);
                    assert_eq!(rest.as_slice(), expected.get(skipped..).unwrap_or_default());
                }
                let mut popped = fields.clone();
                assert_eq!(popped.pop().as_ref(), expected.last());
                assert_eq!((popped.len(), fields.len()), (count.saturating_sub(1), count));
            }
        }
    }

    #[test]
    fn no_steps_are_no_steps_however_they_came_about() {
        let mut emptied: Fields = vec![Field::Name("a".into())].into();
        emptied.pop();
        assert_eq!(emptied, Fields::new());
        assert!(emptied.pop().is_none() && Fields::new().pop().is_none());
    }
}
