//! Every key of drive and workload files: its meaning, its range and its default.
//!
//! Names and defaults come from the types that read the keys, meanings from the comments on their
//! fields (`docs`). Ranges and units stand in `ranges`; tests hold them against the checks. The
//! cards of techniques say all of this about their parameters.

use serde::Serialize;
use vpass_core::config::Number;
use vpass_core::slots::Slot;
use vpass_core::slots::card::Param;

use crate::schema::{DRIVE, PHASES, Section, WORKLOAD};

mod docs;
mod ranges;
#[cfg(test)]
mod tests;

pub(crate) use ranges::{Allowed, allowed};

/// A key, as `vpass list keys` tells of it.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// `table.key`, as `--set` takes it; keys of lists of tables have three parts and stand in
    /// files only.
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
    /// Where its default comes from, for a parameter of techniques.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
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
    for name in section.own_keys() {
        let key = format!("{path}.{name}");
        // A workload of phases has some keys of the other kind.
        if keys.iter().any(|known| known.path == key) {
            continue;
        }
        let (unit, allowed) =
            allowed(&key).map_or(("", None), |(unit, allowed)| (unit, Some(allowed)));
        let required = section.requires(name);
        keys.push(Key {
            file,
            required,
            default: if required { None } else { defaults.get(*name).cloned() },
            range: allowed.map_or_else(String::new, |allowed| allowed.to_string()),
            unit,
            meaning: docs
                .iter()
                .find(|(field, _)| field == name)
                .map_or_else(String::new, |(_, meaning)| meaning.clone()),
            settable: settable && *name != "phase",
            source: None,
            path: key.clone(),
        });
        if let Some(inner) = section.inner(name) {
            add(keys, file, &key, inner, false);
        }
    }
    if let Some(slot) = section.slot() {
        keys.extend(slot.aliases().into_iter().map(|alias| of_alias(slot, alias)));
        keys.extend(slot.params().map(|(about, param)| {
            of_param(format!("{path}.{}.{}", about.name, param.key), param, param.meaning.into())
        }));
    }
}

/// A key in a slot's own table that stands for a parameter of techniques, which its meaning names.
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
    let range = Allowed::of(param).to_string();
    let default = match param.number(param.default) {
        Number::Whole(n) => toml::Value::Integer(n),
        Number::Real(x) => toml::Value::Float(x),
    };
    let source = Some(param.source);
    Key {
        path,
        file: "drive",
        required: false,
        default: Some(default),
        range,
        unit: param.unit,
        meaning,
        settable: true,
        source,
    }
}
