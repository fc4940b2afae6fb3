//! Reader of hint files, which are in TOML. An error message names the file, the line, the error,
//! and the expected value.

mod node;
mod wrong;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;
use crate::load::complaint;

use node::Node;

/// Reads the TOML text of a file as a value of type `T`.
///
/// # Errors
/// Returns the first error, with the line of the error.
pub fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Failure> {
    let document = DeTable::parse(text).map_err(|e| complaint(name, text, &e))?;
    let root = DeValue::Table(document.into_inner());
    T::deserialize(Node::root(&root)).map_err(|wrong| wrong.in_file(name, text))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use toml::Spanned;
    use vpass_drive::base::units::Bytes;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        seed: u32,
        #[serde(default)]
        rate: f64,
        size: Option<Bytes>,
        #[serde(default)]
        row: Vec<Spanned<Row>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "lowercase")]
    struct Row {
        name: String,
        kind: Kind,
        #[serde(default)]
        ends: [u8; 2],
        #[serde(default)]
        is_last: bool,
        share: Option<Share>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(try_from = "f64")]
    struct Share(f64);

    impl TryFrom<f64> for Share {
        type Error = &'static str;

        fn try_from(share: f64) -> Result<Self, &'static str> {
            if share <= 1.0 { Ok(Self(share)) } else { Err("a share is at most 1") }
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Page,
        Block,
    }

    const GOOD: &str = "seed = 0x1F\nrate = 2\nsize = \"4KiB\"\n\n[[row]]\nname = \"a\"\n\
                        kind = \"page\"\nends = [1, 2]\nis_last = true\nshare = 0.5\n";

    #[test]
    fn a_file_is_read_as_its_type() {
        let file: File = read("f.toml", GOOD).unwrap();
        assert_eq!((file.seed, file.rate, file.size), (31, 2.0, Some(Bytes(4096))));
        assert_eq!(GOOD[..file.row[0].span().start].lines().count(), 4);
        let row = file.row[0].get_ref();
        assert_eq!((row.name.as_str(), &row.kind, row.ends), ("a", &Kind::Page, [1, 2]));
        assert!(row.is_last && row.share.as_ref().unwrap().0 < 1.0);
    }

    #[test]
    fn a_failure_says_where_what_and_what_would_be_right() {
        let said = |old: &str, new: &str| {
            let text = GOOD.replace(old, new);
            assert_ne!(text, GOOD);
            read::<File>("f.toml", &text).unwrap_err().to_string()
        };
        for (old, new, expected) in [
            ("seed = 0x1F\n", "", "f.toml: seed is missing; it is required"),
            (
                "seed",
                "sed",
                "key `sed` in f.toml line 1: known are seed, rate, size, row; did you mean `seed`?",
            ),
            ("0x1F", "-1", "line 1: seed is -1; it must be a whole number, 0 to 4294967295"),
            ("0x1F", "'a'", "line 1: seed is \"a\"; it must be a whole number, 0 to 4294967295"),
            ("= 2\n", "= true\n", "line 2: rate is true; it must be a number"),
            ("name = \"a\"\n", "", "line 5: row.name is missing; it is required"),
            ("name = \"a\"", "name = 1", "line 6: row.name is 1; it must be text"),
            (
                "\"page\"",
                "\"pag\"",
                "line 7: row.kind is \"pag\"; it must be one of page, block; \
              did you mean `page`?",
            ),
            ("[1, 2]", "[1]", "line 8: row.ends is a list; it must be a list of 2 values"),
            ("[1, 2]", "[1, 256]", "line 8: row.ends is 256; it must be a whole number, 0 to 255"),
            ("true", "1", "line 9: row.is_last is 1; it must be true or false"),
            ("0.5", "2", "f.toml line 10: a share is at most 1"),
            ("[[row]]", "[row]", "line 5: row is a table; it must be a list"),
            (
                "is_last",
                "is_lst",
                "line 9: known are name, kind, ends, is_last, share; did you mean `is_last`?",
            ),
        ] {
            let found = said(old, new);
            assert!(found.ends_with(expected), "{found}");
        }
        let failure = read::<File>("f.toml", "seed = 'a'").unwrap_err();
        let entry = failure.entry().unwrap();
        assert_eq!((&*entry.key, entry.value.as_deref()), ("seed", Some("\"a\"")));
    }
}
