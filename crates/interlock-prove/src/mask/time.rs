//! What is a time or a duration, whatever its value.

use serde_json::Value;

/// Stands for any time.
pub(super) const TIME: &str = "‹time›";
/// Stands for any duration.
pub(super) const DURATION: &str = "‹duration›";

/// Words in the names of fields that hold how long something took. Last words only: `duration_ms`, `tookMs`, `elapsed`.
const DURATIONS: &[&str] = &["elapsed", "duration", "took", "latency", "uptime", "runtime", "waited"];

/// Whether a field of this name holds a duration.
pub(super) fn names_duration(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    DURATIONS.iter().any(|word| name.contains(word))
}

/// Whether a number is a moment of our time, in seconds, milli-, micro- or nanoseconds.
pub(super) fn is_moment(value: &Value) -> bool {
    // From 2020 to 2100 as seconds: no count or amount that a test makes is as large.
    const FROM: f64 = 1_577_836_800.0;
    const TO: f64 = 4_102_444_800.0;
    value
        .as_f64()
        .is_some_and(|number| [1.0, 1e3, 1e6, 1e9].iter().any(|unit| (FROM..TO).contains(&(number / unit))))
}

/// Replaces times and durations in a text.
pub(super) fn replace(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        let rest = chars.get(at..).unwrap_or_default();
        let fresh = at == 0 || chars.get(at - 1).is_none_or(|before| !before.is_alphanumeric());
        let taken = if fresh && c.is_ascii_digit() { timelike(rest) } else { None };
        match taken {
            Some((length, sign)) => {
                out.push_str(sign);
                at += length;
            }
            None => {
                out.push(*c);
                at += 1;
            }
        }
    }
    out
}

/// How many characters at the front are a date, a time of day, a moment or a duration.
fn timelike(chars: &[char]) -> Option<(usize, &'static str)> {
    let date = matches(chars, "9999-99-99");
    if date {
        let mut end = 10;
        let rest = chars.get(end..).unwrap_or_default();
        let joined = rest.first().is_some_and(|c| *c == 'T' || *c == ' ' || *c == 't');
        if joined && let Some(length) = clock(rest.get(1..).unwrap_or_default()) {
            end += 1 + length;
        }
        return Some((end, TIME));
    }
    if let Some(length) = clock(chars) {
        return Some((length, TIME));
    }
    let digits = chars.iter().take_while(|c| c.is_ascii_digit() || **c == '.').count();
    let number: String = chars.iter().take(digits).collect();
    let rest: String = chars.iter().skip(digits).take(16).collect();
    let unit = rest.trim_start();
    let ends = |unit: &str, word: &str| {
        unit.strip_prefix(word).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
    };
    let units = ["ms", "µs", "us", "ns", "s", "sec", "secs", "second", "seconds", "milliseconds", "millis"];
    if let Some(word) = units.iter().find(|word| ends(unit, word)) {
        let blanks = rest.chars().count() - unit.chars().count();
        return Some((digits + blanks + word.chars().count(), DURATION));
    }
    let whole =
        !number.contains('.') && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    (whole && number.parse::<u64>().is_ok_and(|n| is_moment(&Value::from(n)))).then_some((digits, TIME))
}

/// `12:34`, `12:34:56`, with a fraction and a zone.
fn clock(chars: &[char]) -> Option<usize> {
    let mut end = if matches(chars, "99:99:99") {
        8
    } else {
        return None;
    };
    let at = |index: usize| chars.get(index).copied().unwrap_or(' ');
    if matches!(at(end), '.' | ',') && at(end + 1).is_ascii_digit() {
        end += 1;
        while at(end).is_ascii_digit() {
            end += 1;
        }
    }
    if at(end) == 'Z' {
        end += 1;
    } else if matches!(at(end), '+' | '-') {
        let zone = chars.get(end + 1..).unwrap_or_default();
        if matches(zone, "99:99") {
            end += 6;
        } else if matches(zone, "9999") {
            end += 5;
        }
    }
    Some(end)
}

/// Whether the front looks like the pattern, in which `9` is any digit.
fn matches(chars: &[char], pattern: &str) -> bool {
    let mut pattern = pattern.chars();
    let fits =
        chars.iter().zip(pattern.by_ref()).all(|(c, p)| if p == '9' { c.is_ascii_digit() } else { *c == p });
    fits && pattern.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_replaced_and_counts_are_not() {
        for (text, expected) in [
            ("made at 2026-11-15T08:58:52.123Z by a", "made at ‹time› by a"),
            ("2026-11-15 08:58:52+00:00", "‹time›"),
            ("2026-11-15", "‹time›"),
            ("[08:58:52] ok", "[‹time›] ok"),
            ("took 12ms, then 1.5 s", "took ‹duration›, then ‹duration›"),
            ("stamp 1794733132123", "stamp ‹time›"),
            ("3 entities, 17 left, v1.2.3", "3 entities, 17 left, v1.2.3"),
            ("note-12ms", "note-‹duration›"),
            ("5 states", "5 states"),
        ] {
            assert_eq!(replace(text), expected, "{text}");
        }
    }
}
