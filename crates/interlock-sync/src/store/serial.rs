//! Ids and keys as serde writes and reads them: what is long as hexadecimal digits, because no reader of JSON keeps 128 bits of a number.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Fence, Fingerprint, Key, OpId, Timestamp, Version};

/// As the text that it is displayed as, and read back by parsing that.
macro_rules! as_text {
    ($($of:ty),*) => {$(
        impl Serialize for $of {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $of {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text(std::marker::PhantomData))
            }
        }
    )*};
}

/// As the number that it holds.
macro_rules! as_number {
    ($($of:ident),*) => {$(
        impl Serialize for $of {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $of {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                u64::deserialize(deserializer).map($of)
            }
        }
    )*};
}

as_text!(Key, OpId, Fingerprint);
as_number!(Fence, Version, Timestamp);

struct Text<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back<T: Serialize + for<'de> Deserialize<'de> + PartialEq + fmt::Debug>(value: &T, json: &str) {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
    }

    #[test]
    fn ids_come_back_as_they_were_and_what_is_none_is_refused() {
        comes_back(&Key::new("order:17").unwrap(), r#""order:17""#);
        comes_back(&OpId(255), r#""000000000000000000000000000000ff""#);
        comes_back(&OpId(u128::MAX), r#""ffffffffffffffffffffffffffffffff""#);
        comes_back(&Fingerprint([0xa0; 32]), &format!("\"{}\"", "a0".repeat(32)));
        comes_back(&Fence(17), "17");
        comes_back(&Version(18), "18");
        comes_back(&Timestamp(1_800_000_000_000_000), "1800000000000000");
        assert!(serde_json::from_str::<Key>(r#""""#).unwrap_err().to_string().contains("must not be empty"));
        for bad in ["ff", "+00000000000000000000000000000ff", "00000000000000000000000000000zzz"] {
            assert!(serde_json::from_str::<OpId>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Fingerprint>(&format!("\"{}\"", "é".repeat(32))).is_err());
    }
}
