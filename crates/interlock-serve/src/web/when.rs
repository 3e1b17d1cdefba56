//! Moments, as people read them.

/// A moment in milliseconds since 1970, as `2026-11-18 07:47 UTC` in a `time` element.
pub(super) fn when(millis: u64) -> String {
    let seconds = millis / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        r#"<time datetime="{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z">{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC</time>"#
    )
}

/// The date so many days after the first of January 1970, counted in years that begin in March so that the odd day is the last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_775, (2026, 11, 18)),
        ] {
            assert_eq!(date(days), expected);
        }
        assert!(when(1_795_000_000_000).contains("datetime=\"2026-11-18T"));
    }
}
