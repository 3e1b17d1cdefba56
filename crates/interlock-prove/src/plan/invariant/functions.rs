//! The functions that outcomes need and the language does not have.

use cel::{Context, DeclarationError, ExecutionError, Value, objects::Key};

/// Adds them.
pub(super) fn add(context: &mut Context<'_, '_>) -> Result<(), DeclarationError> {
    context.add_function("at", |value: Value, path: std::sync::Arc<String>| at(&value, &path))?;
    context.add_function("has_path", |value: Value, path: std::sync::Arc<String>| {
        Ok::<_, ExecutionError>(!found(&value, &path).is_empty())
    })?;
    context.add_function("sum", |value: Value, path: std::sync::Arc<String>| sum(&value, &path))
}

/// What stands at a path.
fn at(value: &Value, path: &str) -> Result<Value, ExecutionError> {
    let mut found = found(value, path);
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only.clone()),
        Some(_) => Err(ExecutionError::function_error("at", format!("`{path}` is more than one value"))),
        None => Err(ExecutionError::function_error("at", format!("there is no `{path}`"))),
    }
}

/// All numbers at a path together.
fn sum(value: &Value, path: &str) -> Result<Value, ExecutionError> {
    let fails = |what: &str| Err(ExecutionError::function_error("sum", what));
    let (mut whole, mut real, mut is_real) = (0_i64, 0.0, false);
    for one in found(value, path) {
        match one {
            Value::Int(number) => match whole.checked_add(*number) {
                Some(sum) => whole = sum,
                None => return fails("the numbers are too large"),
            },
            Value::Float(number) => (real, is_real) = (real + number, true),
            _ => return fails(&format!("`{path}` is also something that is no number")),
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "where fractions are added the sum is one anyway")]
    Ok(if is_real { Value::Float(real + whole as f64) } else { Value::Int(whole) })
}

/// The values at a path: names and numbers after slashes, `*` for every one.
fn found<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for step in path.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        found = found.into_iter().flat_map(|value| children(value, &step)).collect();
    }
    found
}

fn children<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    match value {
        Value::List(list) if step == "*" => list.iter().collect(),
        Value::List(list) => step.parse().ok().and_then(|at: usize| list.get(at)).into_iter().collect(),
        Value::Map(map) if step == "*" => map.map.values().collect(),
        Value::Map(map) => map.map.get(&Key::from(step)).into_iter().collect(),
        _ => Vec::new(),
    }
}
