//! The steps of an access path. Paths are copied far more often than they are changed, so copies share their steps.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::{Deref, DerefMut},
    sync::Arc,
};

use super::Field;

/// The steps of an [`AccessPath`](super::AccessPath). A copy costs nothing; what is changed is copied first, unless nobody else has it.
#[derive(Clone, Default)]
pub struct Fields(Option<Arc<Vec<Field>>>);

impl Fields {
    /// No steps.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// The steps.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Field] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// The steps, to be changed.
    pub fn to_mut(&mut self) -> &mut Vec<Field> {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// One step more.
    pub fn push(&mut self, field: Field) {
        self.to_mut().push(field);
    }

    /// Takes the last step off.
    pub fn pop(&mut self) -> Option<Field> {
        if self.is_empty() { None } else { self.to_mut().pop() }
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
        match &mut self.0 {
            Some(fields) => Arc::make_mut(fields).as_mut_slice(),
            None => &mut [],
        }
    }
}

impl From<Vec<Field>> for Fields {
    fn from(fields: Vec<Field>) -> Self {
        Self((!fields.is_empty()).then(|| Arc::new(fields)))
    }
}

impl From<&[Field]> for Fields {
    fn from(fields: &[Field]) -> Self {
        fields.to_vec().into()
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        fields.into_iter().collect::<Vec<_>>().into()
    }
}

impl Extend<Field> for Fields {
    fn extend<I: IntoIterator<Item = Field>>(&mut self, fields: I) {
        let mut fields = fields.into_iter().peekable();
        if fields.peek().is_some() {
            self.to_mut().extend(fields);
        }
    }
}

impl<'f> IntoIterator for &'f Fields {
    type Item = &'f Field;
    type IntoIter = std::slice::Iter<'f, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'f> IntoIterator for &'f mut Fields {
    type Item = &'f mut Field;
    type IntoIter = std::slice::IterMut<'f, Field>;

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
    fn no_steps_are_no_steps_however_they_came_about() {
        let mut emptied: Fields = vec![Field::Name("a".into())].into();
        emptied.pop();
        assert_eq!(emptied, Fields::new());
        assert!(emptied.pop().is_none() && Fields::new().pop().is_none());
    }
}
