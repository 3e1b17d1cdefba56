//! Invariants: what must be true of every outcome, as expressions in the Common Expression Language.
//!
//! `docs/invariants.md` says what an expression may use; its examples run as tests.

mod check;
mod functions;
mod thread;
mod value;

use std::sync::Arc;

use cel::{Context, Env, IdedExpr, Value};
use interlock_model::Outcome;

/// The longest expression, in characters: what somebody can still read.
const LONGEST: usize = 1_000;
/// How deep it may nest.
const DEEPEST: u16 = 32;

/// An expression that was understood.
#[derive(Clone)]
pub struct Invariant {
    source: String,
    expression: Arc<IdedExpr>,
    needs_before: bool,
}

/// Why an expression is none, or could not be told true from false.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvariantError {
    /// It was not understood.
    #[error("the invariant `{source_text}` cannot be read: {why}")]
    Syntax {
        /// As it was written.
        source_text: String,
        /// What is wrong with it.
        why: String,
    },
    /// It could not be evaluated on an outcome.
    #[error("the invariant `{source_text}` cannot be decided: {why}")]
    Evaluation {
        /// As it was written.
        source_text: String,
        /// What is missing.
        why: String,
    },
}

impl Invariant {
    /// Reads an expression, before anything is run.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or uses a name that there is not.
    pub fn compile(source: &str) -> Result<Self, InvariantError> {
        let syntax = |why: String| InvariantError::Syntax { source_text: source.to_owned(), why };
        if source.chars().count() > LONGEST {
            let beginning = source.chars().take(40).collect::<String>() + "…";
            let why = format!("it has more than {LONGEST} characters");
            return Err(InvariantError::Syntax { source_text: beginning, why });
        }
        let parse = || {
            let parser = Env::stdlib().parser().max_recursion_depth(DEEPEST);
            let expression = parser.parse(source).map_err(|errors| {
                errors.errors.first().map_or_else(|| "it is no expression".to_owned(), complaint)
            })?;
            let used = check::names(&expression)?;
            Ok((expression, used.before))
        };
        let (expression, needs_before) = thread::apart(parse).and_then(|parsed| parsed).map_err(syntax)?;
        Ok(Self { source: source.to_owned(), expression: Arc::new(expression), needs_before })
    }

    /// As it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the reads have to be made before the calls too.
    #[must_use]
    pub fn needs_before(&self) -> bool {
        self.needs_before
    }

    /// Whether it is true of an outcome; `before` are the results of the reads before the calls.
    ///
    /// # Errors
    ///
    /// When it is neither true nor false: a path that is not there, a text that is compared with a number.
    pub fn holds(&self, outcome: &Outcome, before: &[serde_json::Value]) -> Result<bool, InvariantError> {
        let decide = || {
            let env = Arc::new(Env::stdlib());
            let mut context = Context::with_env(env);
            functions::add(&mut context).map_err(|error| error.to_string())?;
            value::add(&mut context, outcome, before);
            match Value::resolve(&self.expression, &context) {
                Ok(Value::Bool(holds)) => Ok(holds),
                Ok(other) => Err(format!("it is {}, not true or false", other.type_of())),
                Err(error) => Err(error.to_string()),
            }
        };
        let decided = thread::apart(decide).and_then(|decided| decided);
        decided.map_err(|why| InvariantError::Evaluation { source_text: self.source.clone(), why })
    }
}

/// What the parser has to say, without the list of all that could have stood there.
fn complaint(error: &cel::ParseError) -> String {
    let message = error.msg.strip_prefix("Syntax error: ").unwrap_or(&error.msg);
    if message.contains("'<EOF>'") {
        return "it ends too soon".to_owned();
    }
    let message = message.split(" expecting ").next().unwrap_or(message);
    format!("{message} at character {}", error.pos.1)
}

impl std::fmt::Debug for Invariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Invariant").field(&self.source).finish()
    }
}

#[cfg(test)]
mod tests;
