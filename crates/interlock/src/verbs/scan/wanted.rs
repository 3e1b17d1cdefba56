//! What `--hazards` and `--language` ask for.

use interlock_lang::Frontend;
use interlock_model::HazardId;

/// The hazards that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hazards(pub(super) Vec<HazardId>);

/// Reads `lost-update,retry-storm` or `all`.
pub(super) fn wanted_hazards(list: &str) -> Result<Hazards, String> {
    if list == "all" {
        return Ok(Hazards(interlock_hazards::ALL.iter().map(|hazard| hazard.id.clone()).collect()));
    }
    let one = |name: &str| match interlock_hazards::find(name.trim()) {
        Some(hazard) => Ok(hazard.id.clone()),
        None => Err(interlock_scan::unknown_hazard(name.trim())),
    };
    list.split(',').map(one).collect::<Result<_, _>>().map(Hazards)
}

/// Finds a language by its name, or by the ending of one of its files.
pub(super) fn language(name: &str) -> Result<&'static dyn Frontend, String> {
    let wanted = name.to_lowercase();
    let named = |one: &&&'static dyn Frontend| {
        one.name().to_lowercase().split(['/', ' ']).any(|word| word == wanted)
            || one.extensions().contains(&wanted.as_str())
    };
    interlock_lang::ALL.iter().find(named).copied().ok_or_else(|| {
        let known: Vec<&str> = interlock_lang::ALL.iter().map(|one| one.name()).collect();
        format!("there is no language `{name}` here; there are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards_are_named_one_by_one_or_all_at_once() {
        let Hazards(two) = wanted_hazards("lost-update, retry-storm").expect("both are known");
        assert_eq!(two.iter().map(HazardId::as_str).collect::<Vec<_>>(), ["lost-update", "retry-storm"]);
        assert_eq!(wanted_hazards("all").expect("all are known").0.len(), interlock_hazards::ALL.len());
        assert!(wanted_hazards("lost-updates").expect_err("it is not known").contains("`lost-update`"));
    }

    #[test]
    fn a_language_is_called_by_its_name_or_by_an_ending() {
        assert_eq!(language("python").expect("it is known").name(), "Python");
        assert_eq!(
            language("mts").expect("it is known").name(),
            language("TypeScript").expect("it is").name()
        );
        assert!(language("cobol").err().is_some_and(|why| why.contains("Python")));
    }
}
