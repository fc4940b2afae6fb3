//! `#[derive(Keys)]` for the keys of drive and workload files. Each key is declared once, at the
//! field that holds its value.
//!
//! ```
//! use vpass_model::config::keys::{Key, Keys, Range};
//!
//! /// `[hints]`
//! #[derive(Debug, PartialEq, Keys)]
//! #[keys(table = "hints")]
//! pub struct HintsConfig {
//!     /// Longest read of data whose hint is "typical".
//!     #[key(unit = "us", range = Real(1e-3, 1e6), default = 400.0, source = "an assumption")]
//!     pub typical_us: f64,
//!     /// Share of the dose that no hint gives away.
//!     #[key(unit = "share", range = Real(0.0, 0.9), random = [Some(0.0), Some(0.5)])]
//!     pub margin: Option<f64>,
//! }
//!
//! let typical: &Key = &HintsConfig::KEYS[0];
//! assert_eq!((typical.name, typical.unit, typical.required), ("typical_us", "us", false));
//! assert_eq!(typical.meaning, "Longest read of data whose hint is \"typical\"");
//! assert_eq!(typical.range, Range::Real(1e-3, 1e6));
//!
//! let hints = HintsConfig::default();
//! assert_eq!(hints, HintsConfig { typical_us: 400.0, margin: None });
//! assert!(hints.check_ranges().is_ok());
//! let refused = HintsConfig { margin: Some(1.5), ..hints }.check_ranges().unwrap_err();
//! assert_eq!(refused.to_string(), "hints.margin = 1.5 is outside 0 to 0.9");
//! assert_eq!(HintsConfig::RANDOM_MARGIN, [Some(0.0), Some(0.5)]);
//! ```
//!
//! # Declarations of a field
//!
//! The doc comment of a field is the meaning of its key. The type of the field is the type of the
//! key. Inside `#[key(...)]`, these items are allowed:
//!
//! - `unit = "us"`: unit of the values. It is left out if the key has no unit.
//! - `range = Real(0.0, 0.9)`: allowed values, as a variant of `vpass_model::config::keys::Range`
//!   or as a constant of this type. Every number of the field is checked against this range.
//!   Booleans and words have no range, because their types limit their values.
//! - `note = ", one for each group"`: words that lists of keys print after the range.
//! - `default = 400.0`: value of the key if a file does not set the key. A bare `default` is the
//!   default of the type, and lists of keys do not show it. A field of type `Option` is `None` by
//!   default. A key of another type without `default` must be set in the file.
//! - `source = "JESD218"`: source of the default value.
//! - `random = [0.0, 0.5]`: values that random drives use. `random = 1..=3` is a range of whole
//!   numbers. `random = 0.7`, for a boolean, is the probability of `true`.
//! - `skip`: marks a field that is not a key. Fields with `#[serde(skip)]` are not keys either.
//!
//! # Items made by the derive
//!
//! - `impl Keys`: list of the keys, with their defaults and with a check of their ranges
//! - `impl Default` if every key has a default; otherwise, a function `default_FIELD` for each
//!   default, for use in `#[serde(default = "TYPE::default_FIELD")]`
//! - `check_ranges`, if the struct has an attribute such as `#[keys(table = "hints")]`
//! - constant `RANDOM_FIELD` for each `random`
//! - for an enum of words: list of the words, with the names that serde uses

mod declared;
mod table;
mod words;

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Error, Fields};

/// Makes keys from the fields of a struct, or a list of words from the variants of an enum.
#[proc_macro_derive(Keys, attributes(keys, key))]
pub fn derive(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream, Error> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => table::expand(input, fields),
            _ => Err(Error::new_spanned(&input.ident, "a table of keys has named fields")),
        },
        Data::Enum(data) => words::expand(input, data),
        Data::Union(_) => {
            Err(Error::new_spanned(&input.ident, "keys come from a struct or an enum"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let input: DeriveInput = syn::parse_str(text).expect("the text is Rust");
        expand(&input).map_or_else(|e| e.to_string(), |tokens| tokens.to_string())
    }

    #[test]
    fn a_small_struct_expands() {
        let code = said(
            "#[keys(table = \"wear\")] struct Wear {
                /// Free blocks are taken `youngest`
                /// first.
                #[key(default = true, random = 0.7)]
                pub dynamic: bool,
                /// Cycles.
                #[key(unit = \"P/E cycles\", range = Whole(1, 9), random = [1, 9])]
                pub gap: u32,
                #[serde(skip)]
                pub said: Option<u8>,
            }",
        );
        for part in [
            "name : \"dynamic\"",
            "meaning : \"Free blocks are taken youngest first\"",
            "range : :: vpass_model :: config :: keys :: Range :: Whole (1 , 9)",
            "required : true",
            "const RANDOM_DYNAMIC : f64 = 0.7",
            "const RANDOM_GAP : & 'static [u32] = & [1 , 9]",
            "fn default_dynamic () -> bool { true }",
            "pub (crate) fn check_ranges",
        ] {
            assert!(code.contains(part), "{part} is not in {code}");
        }
        // The key `gap` is required and has no default, so the struct has no `Default` either.
        assert!(!code.contains("Default for Wear"), "{code}");
        assert!(!code.contains("\"said\""), "{code}");
    }

    #[test]
    fn words_are_those_of_serde() {
        let code = said(
            "#[serde(rename_all = \"kebab-case\")] enum Order {
                RoundRobin,
                #[serde(rename = \"tlc-2-3-2\")]
                Random,
            }",
        );
        assert!(code.contains("[\"round-robin\" , \"tlc-2-3-2\"]"), "{code}");
    }

    #[test]
    fn a_wrong_declaration_is_named() {
        let of = |attribute: &str| said(&format!("struct T {{ /// M.\n{attribute} a: f64 }}"));
        assert_eq!(
            of("#[key(units = \"us\")]"),
            "`units` is not known here; known are unit, range, note, default, source, random, skip"
        );
        assert_eq!(of("#[key(unit = \"us\", unit = \"s\")]"), "`unit` is given twice");
        assert_eq!(of("#[key(unit)]"), "`unit` needs a value: unit = \"...\"");
        assert_eq!(of("#[key(unit = 3)]"), "`unit` is a text: unit = \"...\"");
        assert_eq!(of("#[key(range = )]"), "`range` needs a value: range = ...");
        assert_eq!(of("#[key(skip = 1)]"), "`skip` takes no value");
        assert_eq!(
            said("struct T { a: f64 }"),
            "a doc comment is missing: it is the meaning of the key"
        );
        assert_eq!(
            said("#[keys(tables = \"a\")] struct T {}"),
            "#[keys(table = \"NAME\")] is expected"
        );
        assert_eq!(said("struct T(f64);"), "a table of keys has named fields");
        assert_eq!(said("enum E { A(u32) }"), "a word has no fields");
        assert_eq!(
            said("enum E { RoundRobin }"),
            "#[serde(rename_all = \"lowercase\")] or \"kebab-case\" is expected"
        );
    }
}
