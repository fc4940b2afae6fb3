//! Lookup of the keys of a file or a setting. For an unknown key, the error suggests the key that
//! the user probably meant.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use vpass_drive::base::phrase::Phrase;
use vpass_drive::phrase;
use vpass_workload::nearest::nearest;

use super::{Section, distinct, exact_places, places};
use crate::failure::{Entry, Failure};
use crate::suggest::any_of;

/// Returns the first unknown key of a document, with its offset in the text.
pub(crate) fn unknown_key(schema: &[Section], document: &DeTable) -> Option<(usize, Unknown)> {
    document.iter().find_map(|(key, value)| {
        let name: &str = key.get_ref();
        if schema.iter().any(|section| section.name == name) {
            return in_table(schema, &[name], value);
        }
        // In a workload file, the table `hints` is read by the module `hints` and not checked here.
        let is_of_all = ["description", "hints"].contains(&name);
        (!is_of_all).then(|| (key.span().start, Unknown::of(&[schema], &[name])))
    })
}

/// Returns the first unknown key of a table, or of a list of tables.
fn in_table(
    schema: &[Section],
    path: &[&str],
    value: &Spanned<DeValue>,
) -> Option<(usize, Unknown)> {
    let known = children(&[schema], path);
    match value.get_ref() {
        DeValue::Array(rows) => rows.iter().find_map(|row| in_table(schema, path, row)),
        DeValue::Table(table) if !known.is_empty() => table.iter().find_map(|(key, value)| {
            let path = [path, &[&**key.get_ref()]].concat();
            if known.contains(&&**key.get_ref()) {
                return in_table(schema, &path, value);
            }
            Some((key.span().start, Unknown::of(&[schema], &path)))
        }),
        _ => None,
    }
}

/// Returns the names that can follow a path: tables, the keys of a table, or the keys of an inner
/// table.
fn children(schema: &[&[Section]], path: &[&str]) -> Vec<&'static str> {
    let all = schema.iter().flat_map(|sections| sections.iter());
    let of_table = all.clone().filter(|section| Some(&section.name) == path.first());
    match path {
        [] => distinct(all.map(|section| section.name)),
        [_] => distinct(of_table.flat_map(Section::keys)),
        [_, inner] => distinct(of_table.filter_map(|section| section.inner_keys(inner)).flatten()),
        _ => vec![],
    }
}

/// Returns the most similar known path. `None` if a part of the path resembles no known name.
fn corrected(schema: &[&[Section]], path: &[&str]) -> Option<Vec<&'static str>> {
    let mut found = vec![];
    for name in path {
        let known = children(schema, &found);
        let exact = known.iter().copied().find(|known| known == name);
        found.push(exact.or_else(|| nearest(name, known))?);
    }
    Some(found)
}

/// Checks a path, such as `geometry.channels` or `gc.stable-greedy.slack`. Returns the description
/// of the table to which the last key of the path belongs.
pub(crate) fn find<'a>(
    schema: &[&'a [Section]],
    table: &str,
    technique: Option<&str>,
    key: &str,
) -> Result<&'a Section, Unknown> {
    let path: Vec<&str> = [Some(table), technique, Some(key)].into_iter().flatten().collect();
    let has_key = |section: &&Section| match technique {
        Some(technique) => section.keys_of(technique).is_some_and(|known| known.contains(&key)),
        None => section.keys().contains(&key),
    };
    let mut all = schema.iter().flat_map(|s| s.iter()).filter(|section| section.name == table);
    let section = all.find(has_key).ok_or_else(|| Unknown::of(schema, &path))?;
    let Some(inner) = section.keys_of(key).filter(|_| technique.is_none()) else {
        return Ok(section);
    };
    let path = path.join(".");
    let paths: Vec<_> = inner.iter().map(|inner| format!("{path}.{inner}")).collect();
    Err(Unknown { path, hint: format!("known are {}", paths.join(", ")) })
}

/// Error about an unknown key, with a suggestion.
#[derive(Debug)]
pub(crate) struct Unknown {
    path: String,
    hint: String,
}

impl Unknown {
    /// Returns the error for an unknown key. It suggests the same key in other tables, or else the
    /// most similar path.
    fn of(schema: &[&[Section]], path: &[&str]) -> Self {
        let (key, parent) = path.split_last().expect("a path has a key");
        let known = children(schema, parent);
        let elsewhere = exact_places(schema, key);
        let near = corrected(schema, path);
        let near_table = near.as_ref().filter(|path| path.ends_with(&[key]));
        let meant = match (near_table, near.as_ref()) {
            (Some(path), _) if known.is_empty() => vec![path.join(".")],
            _ if !elsewhere.is_empty() => elsewhere,
            (_, Some(path)) => vec![path.join(".")],
            _ if !known.is_empty() => places(schema, key),
            _ => vec![],
        };
        let hint = if !meant.is_empty() {
            format!("did you mean {}?", any_of(&meant))
        } else if known.is_empty() {
            format!("known tables are {}", children(schema, &[]).join(", "))
        } else {
            format!("known are {}", known.join(", "))
        };
        Self { path: path.join("."), hint }
    }

    /// Formats the error as a sentence. An example is "unknown key `geometry.chanels` in FILE line
    /// 3: did you mean `geometry.channels`?".
    pub(crate) fn sentence(&self, place: impl Into<Phrase>) -> Phrase {
        let Self { path, hint } = self;
        phrase!["unknown key `{path}` in ", place, ": {hint}"]
    }

    /// Returns the failure for this error. `place` names the file and the line.
    pub(crate) fn in_file(&self, place: String) -> Failure {
        let entry = Entry { key: self.path.clone(), value: None };
        Failure { entry: Some(Box::new(entry)), ..Failure::usage(self.sentence(place)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DRIVE, MODEL, WORKLOAD};
    use super::*;

    fn found(text: &str) -> String {
        let document = DeTable::parse(text).unwrap();
        unknown_key(DRIVE, document.get_ref())
            .map_or_else(String::new, |(_, unknown)| unknown.sentence("@").to_string())
    }

    #[test]
    fn an_unknown_key_is_found_and_its_meaning_guessed() {
        assert_eq!(
            found("[geometry]\nchanels = 1"),
            "unknown key `geometry.chanels` in @: did you mean `geometry.channels`?"
        );
        assert_eq!(
            found("[geometry]\ncapacity = 1"),
            "unknown key `geometry.capacity` in @: did you mean `drive.capacity`?"
        );
        assert_eq!(
            found("[geometry]\nlongest_age = 1"),
            "unknown key `geometry.longest_age` in @: did you mean `error.longest_age`?"
        );
        assert_eq!(
            found("model = 1"),
            "unknown key `model` in @: did you mean `disturb.model` or `error.model`?"
        );
        // If a table has the name of an unknown technique, the error suggests a similar technique.
        let found_table = found("[reclaim.my-own]\na = 1");
        assert!(
            found_table.starts_with("unknown key `reclaim.my-own` in @: known are "),
            "{found_table}"
        );
        assert_eq!(
            found("[reclaim.tierd]\na = 1"),
            "unknown key `reclaim.tierd` in @: did you mean `reclaim.tiered`?"
        );
        assert_eq!(found("geometri = {}"), "unknown key `geometri` in @: did you mean `geometry`?");
        assert_eq!(
            found("capacity = 1"),
            "unknown key `capacity` in @: did you mean `drive.capacity`?"
        );
        assert_eq!(
            found("disturb = { table = [{ pec = 0, limits = [1] }] }"),
            "unknown key `disturb.table.limits` in @: did you mean `disturb.table.limit`?"
        );
        assert_eq!(found("description = 'x'\ngeometry = { channels = 1 }"), "");
    }

    #[test]
    fn a_setting_with_an_unknown_key_is_quoted_whole() {
        let said = |table: &str, inner: Option<&str>, key: &str| {
            let unknown = find(&[DRIVE, WORKLOAD, MODEL], table, inner, key).err().unwrap();
            unknown.sentence("@").to_string()
        };
        let mut names: Vec<_> = DRIVE.iter().map(|section| section.name).collect();
        names.push("workload");
        let tables = format!("known tables are {}", names.join(", "));
        assert_eq!(said("a", Some("b"), "c.d"), format!("unknown key `a.b.c.d` in @: {tables}"));
        assert_eq!(said("foo", None, "bar"), format!("unknown key `foo.bar` in @: {tables}"));
        for (table, inner, key, meant) in [
            ("start", None, "pecc", "start.pec"),
            ("disturbe", None, "model", "disturb.model"),
            ("geometri", None, "chanels", "geometry.channels"),
            ("foo", None, "capacity", "drive.capacity"),
            ("reclaim", Some("tierd"), "layer_sets", "reclaim.tiered.layer_sets"),
            ("reclaim", Some("tiered"), "layer_set", "reclaim.tiered.layer_sets"),
            ("reclam", Some("tiered"), "layer_sets", "reclaim.tiered.layer_sets"),
        ] {
            let whole = [Some(table), inner, Some(key)].into_iter().flatten().collect::<Vec<_>>();
            let whole = whole.join(".");
            let expected = format!("unknown key `{whole}` in @: did you mean `{meant}`?");
            assert_eq!(said(table, inner, key), expected);
        }
    }
}
