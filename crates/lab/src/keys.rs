//! Every key of drive and workload files: what it means, what it may be, what it is where nobody says so.
//!
//! Names and defaults come from the types that read the keys, meanings from the comments on their fields (`docs`). Ranges and units stand in
//! `ranges`; tests hold them against the checks.

use serde::Serialize;

use crate::schema::{DRIVE, PHASES, Section, WORKLOAD};

mod docs;
mod ranges;
#[cfg(test)]
mod tests;

pub(crate) use ranges::allowed;

/// A key, as `vpass list keys` tells of it.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// `table.key`, as `--set` takes it; keys of lists of tables have three parts and stand in files only.
    #[serde(rename = "key")]
    pub path: String,
    /// "drive" or "workload": the kind of file.
    pub file: &'static str,
    /// Whether a file without it is refused.
    pub required: bool,
    /// What stands for it where it is absent; null where it is required or follows from other keys.
    pub default: Option<toml::Value>,
    /// Which values it takes, in words.
    pub range: String,
    /// Empty where it has none.
    pub unit: &'static str,
    /// What it means, in a sentence.
    pub meaning: String,
    /// Whether `--set` takes it.
    pub settable: bool,
}

/// All keys, in the order of their tables and types.
pub fn all() -> Vec<Key> {
    let mut keys = vec![];
    for (file, schema) in [("drive", DRIVE), ("workload", WORKLOAD), ("workload", PHASES)] {
        for section in schema {
            add(&mut keys, file, section.name, section, true);
        }
    }
    keys
}

fn add(keys: &mut Vec<Key>, file: &'static str, path: &str, section: &Section, settable: bool) {
    let docs = docs::fields(section.type_name());
    let defaults = section.defaults();
    for name in section.keys() {
        let key = format!("{path}.{name}");
        // A workload of phases has some keys of the other kind.
        if keys.iter().any(|known| known.path == key) {
            continue;
        }
        let (unit, allowed) = allowed(&key).map_or(("", None), |(unit, allowed)| (unit, Some(allowed)));
        let required = section.requires(name);
        keys.push(Key {
            file,
            required,
            default: if required { None } else { defaults.get(*name).cloned() },
            range: allowed.map_or_else(String::new, |allowed| allowed.to_string()),
            unit,
            meaning: docs.iter().find(|(field, _)| field == name).map_or_else(String::new, |(_, meaning)| meaning.clone()),
            settable: settable && *name != "phase",
            path: key.clone(),
        });
        if let Some(inner) = section.inner(name) {
            add(keys, file, &key, inner, false);
        }
    }
}
