//! List of the keys of drive and workload files. Each key has a meaning, a range and a default.
//!
//! Most keys are fields of structs with `#[derive(Keys)]`. Keys for parameters of techniques are
//! declared in the description (card) of each technique. Tests check that values outside a declared
//! range are rejected.

use serde::Serialize;
use vpass_drive::api::card::{About, Param};
use vpass_drive::config::Number;
use vpass_drive::config::keys::Range;
use vpass_techniques::{Slot, slot};

use crate::schema::{ALL, MODEL_TABLE, Section};

pub mod json_schema;
#[cfg(test)]
mod tests;
pub mod wrong;

/// Key, as `vpass list keys` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// Path of the key in the form `table.key`, which `--set` accepts. For a key in a list of
    /// tables, the path has three parts, and only files can set the key.
    #[serde(rename = "key")]
    pub path: String,
    /// Kind of file to which the key belongs: "drive" or "workload".
    pub file: &'static str,
    /// Whether the key is required.
    pub required: bool,
    /// Default value. Null if the key is required, or if the default value depends on other keys.
    pub default: Option<toml::Value>,
    /// Accepted values, in words.
    pub range: String,
    /// Unit of the value; empty if the value has no unit.
    pub unit: &'static str,
    /// Meaning of the key, as a sentence.
    pub meaning: String,
    /// Whether `--set` accepts the key.
    pub settable: bool,
    /// Source of the default value. Absent if the declaration names no source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
}

/// Returns all keys, table by table. The keys of a table are in the order of declaration.
pub fn all() -> Vec<Key> {
    let mut keys = vec![];
    for (kind, schema) in ALL.into_iter().enumerate() {
        let file = if kind == 0 { "drive" } else { "workload" };
        for section in schema {
            add(&mut keys, file, section.name, section, true);
        }
    }
    keys
}

fn add(keys: &mut Vec<Key>, file: &'static str, path: &str, section: &Section, settable: bool) {
    let defaults = section.defaults();
    for declared in section.declared {
        let key = format!("{path}.{}", declared.name);
        // Some keys exist in several kinds of workload files. Such a key is listed only once.
        if keys.iter().any(|known| known.path == key) {
            continue;
        }
        keys.push(Key {
            file,
            required: declared.required,
            default: defaults.get(declared.name).cloned(),
            range: declared.values(),
            unit: declared.unit,
            meaning: declared.meaning.to_owned(),
            settable: settable
                && !["phase", "part"].contains(&declared.name)
                && key != "workload.model",
            source: Some(declared.source).filter(|source| !source.is_empty()),
            path: key.clone(),
        });
        if let Some(inner) = section.inner(declared.name) {
            add(keys, file, &key, inner, declared.name == MODEL_TABLE);
        }
    }
    if let Some(slot) = section.slot() {
        keys.extend(slot.aliases().into_iter().map(|alias| of_alias(slot, alias)));
        keys.extend(slot.params().map(|(about, param)| {
            of_param(format!("{path}.{}.{}", about.name, param.key), param, param.meaning.into())
        }));
    }
}

/// Returns the declared range of a key; `None` for an unknown key.
pub(crate) fn range(path: &str) -> Option<Range> {
    let (table, rest) = path.split_once('.')?;
    let sections = ALL.into_iter().flatten();
    let of_field = sections.filter(|section| section.name == table).find_map(|section| {
        let (section, name) = match rest.split_once('.') {
            Some((inner, name)) => (section.inner(inner)?, name),
            None => (section, rest),
        };
        section.declared.iter().find(|key| key.name == name).map(|key| key.range)
    });
    of_field.or_else(|| param(table, rest).map(Param::values))
}

/// Returns the technique parameter that a key sets. Returns `None` if the key sets no parameter of
/// a technique.
pub(crate) fn param(table: &str, rest: &str) -> Option<&'static Param> {
    let means = |(about, param): &(&About, &Param)| match rest.split_once('.') {
        Some((technique, key)) => about.name == technique && param.key == key,
        None => param.alias == Some(rest),
    };
    slot(table)?.params().find(means).map(|(_, param)| param)
}

/// Returns the entry of a shared key, such as `reclaim.counters`. A shared key sets the same
/// parameter of several techniques. Its meaning begins with the names of the techniques.
fn of_alias(slot: &Slot, alias: &str) -> Key {
    let names: Vec<_> = slot.sharing(alias).map(|(about, _)| about.name).collect();
    let (_, param) = slot.sharing(alias).next().expect("an alias is some parameter's");
    of_param(
        format!("{}.{alias}", slot.table),
        param,
        format!("{}: {}", names.join(", "), param.meaning),
    )
}

fn of_param(path: String, param: &Param, meaning: String) -> Key {
    Key {
        path,
        file: "drive",
        required: false,
        default: Some(default_of(param)),
        range: param.values().to_string(),
        unit: param.unit,
        meaning,
        settable: true,
        source: Some(param.source),
    }
}

/// Returns the default of a parameter as a TOML value.
fn default_of(param: &Param) -> toml::Value {
    match param.number(param.default) {
        Number::Whole(n) => toml::Value::Integer(n),
        Number::Real(x) => toml::Value::Float(x),
    }
}
