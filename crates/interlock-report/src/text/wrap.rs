//! Lines broken the same way in every build: which algorithm is used by default depends on what other crates ask of the library.

use textwrap::{Options, WordSeparator, WrapAlgorithm};

/// How lines of a width are broken.
pub(crate) fn options<'o>(width: usize) -> Options<'o> {
    Options::new(width).wrap_algorithm(WrapAlgorithm::FirstFit).word_separator(WordSeparator::AsciiSpace)
}
