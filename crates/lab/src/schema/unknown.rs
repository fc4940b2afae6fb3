//! Lookup of the keys of a file or a setting. For an unknown key, the error suggests the key that
//! the user probably meant.

use toml::de::{DeTable, DeValue};
use vpass_drive::base::phrase::Phrase;
use vpass_drive::phrase;
use vpass_techniques::Slot;
use vpass_workload::nearest::nearest;

use super::{Section, distinct, exact_places, places, techniques_with_keys};
use crate::failure::{Entry, Failure};
use crate::suggest::any_of;

/// Returns the first unknown key of a document, with its offset in the text.
pub(crate) fn unknown_key(schema: &[Section], document: &DeTable) -> Option<(usize, Unknown)> {
    for (key, value) in document {
        let name: &str = key.get_ref();
        // In a workload file, the table `hints` is read by the module `hints` and not checked here.
        if name == "description" || name == "hints" && schema.iter().all(|s| s.name != name) {
            continue;
        }
        let Some(section) = schema.iter().find(|s| s.name == name) else {
            return Some((key.span().start, unknown_table(schema, name)));
        };
        if let DeValue::Table(table) = value.get_ref()
            && let Some(found) = unknown_in_section(schema, section, table)
        {
            return Some(found);
        }
    }
    None
}

fn unknown_in_section(
    schema: &[Section],
    section: &Section,
    table: &DeTable,
) -> Option<(usize, Unknown)> {
    for (key, value) in table {
        if !section.keys().contains(&&**key.get_ref()) {
            let is_table = value.get_ref().as_table().is_some();
            let unknown = match section.slot().filter(|_| is_table) {
                Some(slot) => unknown_technique(section, slot, key.get_ref()),
                None => unknown_in(schema, section, key.get_ref()),
            };
            return Some((key.span().start, unknown));
        }
        let name = key.get_ref();
        let Some(known) = section.inner_keys(name) else { continue };
        let tables: Vec<_> = match value.get_ref() {
            DeValue::Array(array) => {
                array.iter().filter_map(|row| row.get_ref().as_table()).collect()
            }
            DeValue::Table(table) => vec![table],
            _ => continue,
        };
        for table in tables {
            if let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(&&**key.get_ref()))
            {
                let table = format!("{}.{name}", section.name);
                return Some((key.span().start, unknown_below(&table, key.get_ref(), &known)));
            }
        }
    }
    None
}

/// Checks a path, such as `geometry.channels` or `gc.stable-greedy.slack`. Returns the description
/// of the table to which the last key of the path belongs.
pub(crate) fn find<'a>(
    schema: &[&'a [Section]],
    table: &str,
    technique: Option<&str>,
    key: &str,
) -> Result<&'a Section, Unknown> {
    let all = schema.iter().flat_map(|s| s.iter());
    let has_technique =
        |s: &&Section| technique.is_some_and(|technique| s.keys_of(technique).is_some());
    let of_table = || all.clone().filter(|s| s.name == table);
    let Some(section) = of_table().find(has_technique).or_else(|| of_table().next()) else {
        return Err(in_unknown_table(schema, table, technique, key));
    };
    if let Some(technique) = technique {
        return match section.keys_of(technique) {
            Some(known) if known.contains(&key) => Ok(section),
            Some(known) => Err(unknown_below(&format!("{table}.{technique}"), key, &known)),
            None => Err(in_unknown_inner(section, technique, key)),
        };
    }
    if let Some(known) = section.keys_of(key) {
        let paths: Vec<_> = known.iter().map(|known| format!("{table}.{key}.{known}")).collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        return Err(unknown(&format!("{table}.{key}"), &paths));
    }
    if section.keys().contains(&key) {
        return Ok(section);
    }
    let own =
        schema.iter().find(|s| s.iter().any(|s| s.name == table)).expect("the table was found");
    Err(unknown_in(own, section, key))
}

/// Returns the error for a key of a setting whose table is unknown.
fn in_unknown_table(
    schema: &[&[Section]],
    table: &str,
    technique: Option<&str>,
    key: &str,
) -> Unknown {
    let rest = technique.map_or_else(|| key.to_owned(), |inner| format!("{inner}.{key}"));
    let path = format!("{table}.{rest}");
    let tables = distinct(schema.iter().flat_map(|s| s.iter()).map(|s| s.name));
    let near = nearest(table, tables.iter().copied());
    if let Some(near) = near.filter(|near| find(schema, near, technique, key).is_ok()) {
        return meant(&path, &[format!("{near}.{rest}")]);
    }
    if technique.is_none() {
        let all = schema.iter().flat_map(|s| s.iter());
        let near = |s: &&Section| near == Some(s.name) && nearest(key, s.keys()).is_some();
        let elsewhere = exact_places(schema, key);
        if !elsewhere.is_empty() {
            return meant(&path, &elsewhere);
        }
        if let Some(section) = all.clone().find(near) {
            return Unknown { path, ..unknown_below(section.name, key, &section.keys()) };
        }
    }
    Unknown { path, hint: format!("known tables are {}", tables.join(", ")) }
}

/// Returns the error for a key of a setting whose inner table, such as that of a technique, is
/// unknown.
fn in_unknown_inner(section: &Section, inner: &str, key: &str) -> Unknown {
    let path = format!("{}.{inner}.{key}", section.name);
    let known = section.keys();
    let Some(near) = nearest(inner, known.iter().copied()) else { return unknown(&path, &known) };
    let keys = section.inner_keys(near).unwrap_or_default();
    let key = keys.contains(&key).then_some(key).or_else(|| nearest(key, keys.iter().copied()));
    let key = key.map_or_else(String::new, |key| format!(".{key}"));
    meant(&path, &[format!("{}.{near}{key}", section.name)])
}

/// Returns the error for an inner table that should have the name of a technique, but has another
/// name.
fn unknown_technique(section: &Section, slot: &Slot, name: &str) -> Unknown {
    unknown_below(section.name, name, &techniques_with_keys(slot))
}

fn unknown_table(schema: &[Section], name: &str) -> Unknown {
    let tables: Vec<_> = schema.iter().map(|s| s.name).collect();
    let is_a_key = schema.iter().any(|s| s.keys().contains(&name));
    match nearest(name, tables.iter().copied()).filter(|_| !is_a_key) {
        None => unknown_here(schema, name, name, &tables),
        Some(near) => meant(name, &[near.into()]),
    }
}

fn unknown_in(schema: &[Section], section: &Section, key: &str) -> Unknown {
    let path = format!("{}.{key}", section.name);
    let elsewhere: Vec<_> = schema
        .iter()
        .filter(|s| s.keys().contains(&key))
        .map(|s| format!("{}.{key}", s.name))
        .collect();
    if !elsewhere.is_empty() {
        return meant(&path, &elsewhere);
    }
    match nearest(key, section.keys()) {
        None => unknown_here(schema, &path, key, &section.keys()),
        Some(near) => meant(&path, &[format!("{}.{near}", section.name)]),
    }
}

/// Error about an unknown key, with a suggestion.
#[derive(Debug)]
pub(crate) struct Unknown {
    path: String,
    hint: String,
}

impl Unknown {
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

/// Returns the error for a key that this table cannot have. If other tables can have the key, the
/// error names them.
fn unknown_here(schema: &[Section], path: &str, key: &str, known: &[&str]) -> Unknown {
    let places = places(&[schema], key);
    if places.is_empty() { unknown(path, known) } else { meant(path, &places) }
}

fn meant(path: &str, near: &[String]) -> Unknown {
    Unknown { path: path.into(), hint: format!("did you mean {}?", any_of(near)) }
}

fn unknown(path: &str, known: &[&str]) -> Unknown {
    Unknown { path: path.into(), hint: format!("known are {}", known.join(", ")) }
}

/// Returns the error for an unknown key of a table. `table` is the path of the table.
fn unknown_below(table: &str, key: &str, known: &[&str]) -> Unknown {
    let path = format!("{table}.{key}");
    match nearest(key, known.iter().copied()) {
        Some(near) => meant(&path, &[format!("{table}.{near}")]),
        None => unknown(&path, known),
    }
}
