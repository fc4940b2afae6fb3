//! Errors that `serde` reports when it reads a TOML value as a Rust type. The place and the key of
//! the value are added later.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use crate::failure::Failure;
use crate::keys::wrong::one_of;
use crate::lines::line_of;
use crate::schema;

/// Error that `serde` reports when it reads a value as a Rust type.
#[derive(Debug)]
pub(super) struct Wrong {
    what: What,
    /// Place of the error. `None` until the place is known.
    place: Option<Place>,
}

/// Place of a wrong value in a file, with the key and the value.
#[derive(Debug)]
pub(super) struct Place {
    /// Offset of the value in the text; `None` if the value is the whole file.
    pub(super) at: Option<usize>,
    /// Path of the value's key. Empty if the value is the whole file.
    pub(super) path: String,
    /// Value, as error messages show it.
    pub(super) value: String,
}

#[derive(Debug)]
enum What {
    /// Required key that is missing in the table.
    Missing(&'static str),
    /// Unknown key, and the known keys.
    Unknown(String, &'static [&'static str]),
    /// Word that is not allowed, and the allowed words.
    Word(String, &'static [&'static str]),
    /// Value that is not allowed, with a description of the allowed values.
    Value(String),
    /// Other error, as a sentence.
    Said(String),
}

impl Wrong {
    fn new(what: What) -> Self {
        Self { what, place: None }
    }

    /// Returns the error for a value that is not allowed. `expected` describes the allowed values.
    pub(super) fn value(expected: impl Into<String>) -> Self {
        Self::new(What::Value(expected.into()))
    }

    /// Adds a place to the error. If the error already has the place of an inner value, that place
    /// is kept.
    pub(super) fn at(self, place: impl FnOnce() -> Place) -> Self {
        Self { place: self.place.or_else(|| Some(place())), ..self }
    }

    /// Returns the failure for this error in a file. `name` is the name of the file, and `text` is
    /// the content of the file.
    pub(super) fn in_file(self, name: &str, text: &str) -> Failure {
        let Place { at, path, value } =
            self.place.unwrap_or(Place { at: None, path: String::new(), value: String::new() });
        let place =
            at.map_or_else(|| name.to_owned(), |at| format!("{name} line {}", line_of(text, at)));
        let within = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
        let wrong = |value: String, remedy: String| {
            Failure::usage(format!("{path} is {value}"))
                .at(place.clone())
                .with_remedy(format!("it must be {remedy}"))
                .with_entry(path.clone(), value)
        };
        match self.what {
            What::Missing(key) => Failure::usage(format!("{} is missing", within(key)))
                .at(place)
                .with_remedy("it is required"),
            What::Unknown(key, known) => {
                schema::unknown_of(&within(&key), &key, known).in_file(place)
            }
            What::Word(word, known) => {
                let remedy = one_of(known, Some(&word));
                wrong(format!("{word:?}"), remedy)
            }
            What::Value(remedy) => wrong(value, remedy),
            What::Said(sentence) => Failure::usage(sentence).at(place),
        }
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.what)
    }
}

impl std::error::Error for Wrong {}

impl Error for Wrong {
    fn custom<T: Display>(sentence: T) -> Self {
        Self::new(What::Said(sentence.to_string()))
    }

    fn invalid_type(_: Unexpected, expected: &dyn Expected) -> Self {
        Self::value(expected.to_string())
    }

    fn invalid_value(_: Unexpected, expected: &dyn Expected) -> Self {
        Self::value(expected.to_string())
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::value(expected.to_string())
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::Word(word.into(), known))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::Unknown(key.into(), known))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(What::Missing(key))
    }
}
