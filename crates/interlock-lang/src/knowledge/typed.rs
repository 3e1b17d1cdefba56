//! Clauses of mappers that know a table by the type of an object: `db.First(&user, "email = ?", email)` reads from `users`, `db.Save(&user)` writes the
//! row whose id is in `user`. So do GORM and those that are like it.

use interlock_model::ir::{AccessPath, Field, Name, Root, Term};

use super::{
    chain::Chain,
    format::Clause,
    sql::{self, Parameters},
    statement::{Conflict, Set, To, Verb},
};
use crate::{Arg, Shape};

impl Chain<'_, '_> {
    /// What a call says that is handed an object of the table.
    pub(super) fn object(&mut self, clause: Clause, arguments: &[Arg]) {
        let Some((object, behind)) = arguments.split_first() else { return };
        self.table_of(object);
        self.object = Some(object.clone());
        if self.statement.verb == Verb::Insert {
            self.whole(object);
        }
        let written = written_out(object);
        match clause {
            Clause::OneObject => {
                self.one = true;
                self.condition(behind);
            }
            Clause::OwnObject => self.own_row(object),
            Clause::SaveObject => {
                self.statement.verb = Verb::Update;
                self.own_row(object);
                self.whole(object);
            }
            Clause::InsertObject => {
                self.statement.verb = Verb::Insert;
                if written { self.values(Some(object)) } else { self.whole(object) }
            }
            Clause::EnsureObject => {
                self.statement.verb = Verb::Insert;
                self.statement.conflict = Conflict::Ignore;
                behind.iter().for_each(|values| self.values(Some(values)));
            }
            Clause::RemoveObject => {
                self.statement.verb = Verb::Delete;
                if !written && behind.is_empty() && self.statement.demands.is_empty() {
                    self.own_row(object);
                }
                self.condition(behind);
            }
            _ => self.condition(behind),
        }
    }

    /// Text and what stands for its marks, an object whose fields are all demanded, or the id of a row.
    pub(super) fn condition(&mut self, arguments: &[Arg]) {
        let Some((first, parameters)) = arguments.split_first() else { return };
        match &first.shape {
            Shape::Object(_) | Shape::List(_) => self.filter(std::slice::from_ref(first)),
            Shape::Text(parts) if first.literal().is_none_or(|text| text.contains([' ', '?', '='])) => {
                let parameters = Parameters { list: parameters.iter().collect(), ..Parameters::default() };
                match sql::condition(parts, &parameters) {
                    Some(demands) => self.statement.demands.extend(demands),
                    None => self.statement.unreadable = true,
                }
            }
            _ if parameters.is_empty() => self.by_id(Some(first)),
            _ => self.statement.unreadable = true,
        }
    }

    /// `clause.Locking{Strength: "UPDATE"}`, `clause.OnConflict{DoNothing: true}`.
    pub(super) fn told(&mut self, told: &Arg) {
        let given = |name: &str| told.member(name).is_some_and(|member| member.shape != Shape::Bool(false));
        if told
            .member("Strength")
            .and_then(Arg::literal)
            .is_some_and(|how| how.eq_ignore_ascii_case("update"))
        {
            self.say(Clause::Lock, &[]);
        } else if given("DoNothing") {
            self.statement.conflict = Conflict::Ignore;
        } else if ["UpdateAll", "DoUpdates"].iter().any(|name| given(name)) {
            self.statement.conflict = Conflict::Overwrite;
        }
    }

    /// `Set("stock = stock - ?", n)`.
    pub(super) fn set_text(&mut self, arguments: &[Arg]) {
        let Some((text, parameters)) = arguments.split_first() else { return };
        let parsed = match &text.shape {
            Shape::Text(parts) => {
                let parameters = Parameters { list: parameters.iter().collect(), ..Parameters::default() };
                sql::assignments(parts, &parameters)
            }
            _ => None,
        };
        match parsed {
            Some(sets) => self.statement.sets.extend(sets),
            None => arguments.iter().for_each(|arg| self.whole(arg)),
        }
    }

    /// `WherePK()`: the row whose id is in the object that was handed over.
    pub(super) fn own_key(&mut self) {
        if let Some(object) = self.object.clone() {
            self.own_row(&object);
            if self.statement.verb == Verb::Update && self.statement.sets.is_empty() {
                self.whole(&object);
            }
        }
    }

    /// The table that the type of an object says. What nothing is known of does not change what was said before.
    fn table_of(&mut self, object: &Arg) {
        let path = match (&object.shape, &object.term) {
            // A literal has its type besides its fields.
            (Shape::Object(members), _) if type_of(members).is_some() => type_of(members),
            (_, Term::Path(path)) => {
                let class = self.scene.call.surroundings.class(path);
                if let Some(class) = class {
                    self.statement.table = Term::Literal(plural(&class).into());
                    self.typed = true;
                    return;
                }
                None
            }
            _ => None,
        };
        let named = path.and_then(|path| match (path.fields.last(), &path.root) {
            (Some(Field::Name(name)), _) => Some(plural(name)),
            (None, Root::Global(name)) => name.rsplit("::").next().map(plural),
            _ => None,
        });
        match named {
            Some(table) => {
                self.statement.table = Term::Literal(table.into());
                self.typed = true;
            }
            None if !self.typed => self.statement.table = Term::Unknown,
            None => {}
        }
    }

    /// The row with the id that an object has. A literal that says nothing but its type stands for all rows of it.
    fn own_row(&mut self, object: &Arg) {
        let (false, Term::Path(path)) = (written_out(object), &object.term) else { return };
        let id = Arg::opaque(Term::Path(path.clone().field("id")), object.values.clone());
        self.by_id(Some(&id));
    }

    fn whole(&mut self, object: &Arg) {
        let set = Set { column: None, to: To::Absolute, term: Term::Unknown, values: object.values.clone() };
        self.statement.sets.push(set);
    }
}

fn type_of(members: &[(Name, Arg)]) -> Option<&AccessPath> {
    members.iter().find_map(|(name, arg)| match &arg.term {
        Term::Path(path) if &**name == "..." => Some(path),
        _ => None,
    })
}

fn written_out(object: &Arg) -> bool {
    matches!(object.shape, Shape::Object(_))
}

/// The table of a type, as such mappers call it: `OrderItem` is in `order_items`.
fn plural(class: &str) -> String {
    let mut table = String::with_capacity(class.len() + 2);
    let mut before = None;
    for letter in class.chars() {
        if letter.is_uppercase() && before.is_some_and(|before: char| !before.is_uppercase() && before != '_')
        {
            table.push('_');
        }
        table.extend(letter.to_lowercase());
        before = Some(letter);
    }
    let vowel = |at: Option<char>| at.is_some_and(|letter| "aeiou".contains(letter));
    if table.ends_with('y') && !vowel(table.chars().rev().nth(1)) {
        table.pop();
        table.push_str("ies");
    } else if ["s", "x", "ch", "sh"].iter().any(|end| table.ends_with(end)) {
        table.push_str("es");
    } else {
        table.push('s');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn a_table_is_called_by_the_plural_of_its_type() {
        let tables = ["User", "OrderItem", "Category", "Box", "Day", "HTTPLog"].map(plural);
        assert_eq!(tables, ["users", "order_items", "categories", "boxes", "days", "httplogs"]);
    }
}
