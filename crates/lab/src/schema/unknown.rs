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
