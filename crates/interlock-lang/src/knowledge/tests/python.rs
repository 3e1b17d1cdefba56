//! That all files of effects that a language has can be read, one after another.

use crate::{go, knowledge::Knowledge, python};

#[test]
fn all_that_is_said_can_be_read() {
    for texts in [python::EFFECT_TEXTS, go::EFFECT_TEXTS] {
        let mut read = Knowledge::default();
        for text in texts {
            read.extend(text).unwrap();
        }
    }
}
