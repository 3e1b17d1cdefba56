//! What is written on the command line.

use std::time::Duration;

/// `60`, `60s`, `2m`, `500ms`.
pub(in crate::verbs) fn time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let found = units.iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * seconds)
    });
    let seconds = found.filter(|seconds| seconds.is_finite() && *seconds > 0.0 && *seconds <= 86_400.0);
    let why = || format!("`{text}` is no time up to a day: write 60s, 2m or 500ms");
    seconds.map(Duration::from_secs_f64).ok_or_else(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_unit() {
        for (text, millis) in
            [("60", 60_000), ("2m", 120_000), ("500ms", 500), ("1.5s", 1500), ("1h", 3_600_000)]
        {
            assert_eq!(time(text).map(|time| time.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "0", "-1s", "soon", "1e300", "NaN", "25h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
