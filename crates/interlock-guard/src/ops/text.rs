//! Text from outside, cut to a length and made harmless; and moments as people and machines write them.

use std::{
    borrow::Cow,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The longest piece of text from outside that is kept, in bytes.
pub(super) const LONGEST: usize = 200;

/// The beginning of a text, at most [`LONGEST`] bytes of it, with a mark where something was cut off.
pub(super) fn clip(text: &str) -> Cow<'_, str> {
    clip_to(text, LONGEST)
}

/// The beginning of a text, at most so many bytes of it.
pub(super) fn clip_to(text: &str, longest: usize) -> Cow<'_, str> {
    match text.get(..text.floor_char_boundary(longest)) {
        Some(start) if start.len() < text.len() => Cow::Owned(format!("{start}…")),
        _ => Cow::Borrowed(text),
    }
}

/// Whether a character acts instead of being seen: controls, and the invisible ones that reorder or hide what stands around them.
pub(super) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Appends text on one line in which everything that a terminal would obey is spelled out.
pub(super) fn push_harmless(out: &mut Vec<u8>, text: &str) {
    let mut buffer = [0; 4];
    for c in text.chars() {
        if is_harmful(c) {
            out.extend(c.escape_unicode().map(|c| c as u8));
        } else {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Appends a JSON string, quotes included. What JSON would leave as it is but a terminal obeys is escaped, too.
pub(super) fn push_json(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut buffer = [0; 4];
    let mut units = [0; 2];
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\') {
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            c if is_harmful(c) => {
                for unit in c.encode_utf16(&mut units) {
                    push_unit(out, *unit);
                }
            }
            c => out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
        }
    }
    out.push(b'"');
}

/// One UTF-16 unit as JSON escapes it.
fn push_unit(out: &mut Vec<u8>, unit: u16) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        let digit = (unit >> shift & 0xf) as u8;
        out.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }
}

/// Appends a number.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut left = number;
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
        used += 1;
        if left == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(digits.len() - used));
}

/// Appends a duration in ms with three places.
pub(super) fn push_millis(out: &mut Vec<u8>, duration: Duration) {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    push_number(out, micros / 1000);
    let rest = micros % 1000;
    if rest > 0 {
        out.push(b'.');
        for digit in [rest / 100, rest / 10 % 10, rest % 10] {
            out.push(b'0' + digit as u8);
        }
    }
}

/// Appends a moment as RFC 3339 has it, in UTC, to the millisecond.
pub(super) fn push_time(out: &mut Vec<u8>, time: SystemTime) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = date_of(seconds / 86_400);
    let second = seconds % 86_400;
    for (number, width, end) in [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (second / 3600, 2, b':'),
        (second / 60 % 60, 2, b':'),
        (second % 60, 2, b'.'),
        (u64::from(millis), 3, b'Z'),
    ] {
        let mut unit = 10_u64.pow(width - 1);
        while unit > 0 {
            out.push(b'0' + (number / unit % 10) as u8);
            unit /= 10;
        }
        out.push(end);
    }
}

/// Year, month and day of a day since 1970-01-01. Years are counted from March, so that the day that is sometimes there comes last.
fn date_of(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01; 400 years always have the same number of them.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: u64) -> String {
        let mut out = Vec::new();
        push_time(&mut out, UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        assert_eq!(time(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(time(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(time(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(time(1_709_251_199), "2024-02-29T23:59:59.007Z");
        assert_eq!(time(1_709_251_200), "2024-03-01T00:00:00.007Z");
        assert_eq!(time(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(time(1_794_744_000), "2026-11-15T12:00:00.007Z");
    }

    #[test]
    fn whatever_is_written_as_json_is_read_back_and_shows_no_control() {
        for text in [
            "",
            "plain",
            "a\"b\\c",
            "\u{0}\u{1b}[2J\r\n\t\u{7f}\u{9b}",
            "é漢🦀\u{202e}\u{2028}",
            "\u{e0001}x",
        ] {
            let mut out = Vec::new();
            push_json(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            assert!(!String::from_utf8(out).unwrap().contains(|c: char| c.is_control() || c == '\u{202e}'));
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(clip_to("éé", 3), "é…");
        assert_eq!(clip_to("éé", 4), "éé");
        assert_eq!(clip_to("", 0), "");
    }

    #[test]
    fn numbers_are_written_as_they_are() {
        for number in [0, 7, 10, 999, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
        let mut out = Vec::new();
        push_millis(&mut out, Duration::from_micros(12_030));
        assert_eq!(out, b"12.030");
    }
}
