//! The names of globals: `NAMESPACE::NAME` where a file or a library declares it, `NAME` where the language does.

/// The namespace and the name in a global, `NAMESPACE::NAME`.
pub(crate) fn split_global(global: &str) -> Option<(&str, &str)> {
    // What something is called in its file is short, so reading it from the end is faster than any search for two characters.
    let mut behind = 0;
    for (at, byte) in global.bytes().enumerate().rev() {
        if (byte, behind) == (b':', b':') {
            return Some((global.get(..at)?, global.get(at + 2..)?));
        }
        behind = byte;
    }
    None
}

/// Whether a global belongs to a file or a library, and not to the language.
pub(crate) fn is_qualified(global: &str) -> bool {
    split_global(global).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_global_is_split_at_its_last_double_colon() {
        for name in
            ["src/a.ts::load", "a:b.ts::x", "a::b.ts::x", "a.ts::x:y", "a:::b", "::x", "Map", "a:b", ""]
        {
            assert_eq!(split_global(name), name.rsplit_once("::"), "{name}");
            assert_eq!(is_qualified(name), name.contains("::"), "{name}");
        }
    }
}
