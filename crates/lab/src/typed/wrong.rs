//! Error of a type that reads a value, as data. The value adds its place and its key.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use crate::failure::Failure;
use crate::keys::wrong::one_of;
use crate::lines::line_of;
use crate::schema;

/// Error of a type that reads a value.
#[derive(Debug)]
pub(super) struct Wrong {
    what: What,
    /// Value or table in which the error lies, once it is known.
    place: Option<Place>,
}

/// Place of a value, its key, and the value itself.
#[derive(Debug)]
pub(super) struct Place {
    /// Offset in the text; `None` for the whole file.
    pub(super) at: Option<usize>,
    /// Path of the key; empty for the whole file.
    pub(super) path: String,
    /// Value in a sentence.
    pub(super) value: String,
}

#[derive(Debug)]
enum What {
    /// Key that the table lacks.
    Missing(&'static str),
    /// Key that the type does not know, and the keys that it knows.
    Unknown(String, &'static [&'static str]),
    /// Word that the type does not know, and the words that it knows.
    Word(String, &'static [&'static str]),
    /// Value of a wrong type, and what would be right.
    Value(String),
    /// Sentence of the type.
    Said(String),
}

impl Wrong {
    fn new(what: What) -> Self {
        Self { what, place: None }
    }

    /// Makes the error for a value that must be something else.
    pub(super) fn value(expected: impl Into<String>) -> Self {
        Self::new(What::Value(expected.into()))
    }

    /// Adds the place, unless an inner value has added its own.
    pub(super) fn at(self, place: impl FnOnce() -> Place) -> Self {
        Self { place: self.place.or_else(|| Some(place())), ..self }
    }

    /// Makes the failure that reports this error in a file with this name and text.
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
