//! Keys that each table of a drive or workload file may have. The Rust type of a table declares its
//! keys.

mod unknown;

use std::collections::BTreeSet;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use toml::Table;
use vpass_drive::config::keys::{Key, Keys};
use vpass_drive::config::{
    BchConfig, CapacityConfig, DensityConfig, DisturbConfig, EccConfig, EraseAtPec, ErrorConfig,
    ErrorRow, GcConfig, GeometryConfig, HintsConfig, ParityConfig, PerPec, ReclaimConfig,
    RefreshConfig, SheetConfig, StartConfig, TimingConfig, WearConfig,
};
use vpass_techniques::{Slot, slot};
use vpass_workload::model::{ModelConfig, ModelWorkload};
use vpass_workload::nearest::nearest;
use vpass_workload::parts::{PartConfig, PartsConfig};
use vpass_workload::phases::{PhaseConfig, PhasesConfig};
use vpass_workload::stripes::StripesConfig;
use vpass_workload::synthetic::{SizeShare, WorkloadConfig};

pub(crate) use self::unknown::{find, unknown_key};

/// Table of a drive file or of a workload file.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    /// Keys that the Rust type of the table declares, in the order of the fields.
    pub(crate) declared: &'static [Key],
    /// Tables inside this table. Each of them is the value of a key, either as a single table or as
    /// a list of tables.
    inner: &'static [Section],
    /// Function that checks whether a table can be read as its Rust type.
    pub(crate) check: fn(Table) -> Result<(), toml::de::Error>,
    /// Function that returns the declared defaults.
    defaults: fn() -> Table,
}

impl Section {
    /// Returns all keys of the table. The keys that the Rust type declares come first. Then come
    /// keys that belong to techniques, and last the names of inner tables for techniques.
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        let mut keys = self.own_keys();
        if let Some(slot) = self.slot() {
            keys.extend(slot.aliases());
            keys.extend(techniques_with_keys(slot));
        }
        keys
    }

    /// Returns the keys that the Rust type declares.
    pub(crate) fn own_keys(&self) -> Vec<&'static str> {
        self.declared.iter().map(|key| key.name).collect()
    }

    /// Returns the slot (kind of technique) whose techniques have keys in this table. Returns
    /// `None` if the table has no keys of techniques.
    pub(crate) fn slot(&self) -> Option<&'static Slot> {
        slot(self.name)
    }

    /// Returns the keys of a table inside this table: the table of a technique, or the table of a
    /// language model. Returns `None` for an unknown technique.
    pub(crate) fn keys_of(&self, technique: &str) -> Option<Vec<&'static str>> {
        if technique == MODEL_TABLE {
            return self.inner(technique).map(Self::own_keys);
        }
        let about = (self.slot()?.cards)()
            .into_iter()
            .find(|about| about.name == technique && !about.params.is_empty())?;
        Some(about.params.iter().map(|param| param.key).collect())
    }

    /// Returns the keys of the inner table called `name`. A list of tables counts as one inner
    /// table.
    fn inner_keys(&self, name: &str) -> Option<Vec<&'static str>> {
        self.inner(name).map(Self::own_keys).or_else(|| self.keys_of(name))
    }

    /// Returns the description of the inner table that is the value of a key. If the value is a
    /// list of tables, the description applies to each table of the list.
    pub(crate) fn inner(&self, key: &str) -> Option<&'static Section> {
        self.inner.iter().find(|inner| inner.name == key)
    }

    /// Returns whether this key is required.
    pub(crate) fn requires(&self, key: &str) -> bool {
        self.declared.iter().any(|declared| declared.name == key && declared.required)
    }

    /// Returns the default values of keys. A key has no default if its value is computed from other
    /// keys.
    pub(crate) fn defaults(&self) -> Table {
        (self.defaults)()
    }
}

/// Returns the names of the techniques that have keys of their own.
fn techniques_with_keys(slot: &Slot) -> Vec<&'static str> {
    (slot.cards)().iter().filter(|about| !about.params.is_empty()).map(|about| about.name).collect()
}

/// Returns the description of a table that is read as the Rust type `T`.
const fn section<T: DeserializeOwned + Keys>(name: &'static str) -> Section {
    Section {
        name,
        declared: T::KEYS,
        inner: &[],
        check: |table| table.try_into::<T>().map(|_| ()),
        defaults: || {
            Table::try_from(Defaults::<T>(PhantomData)).expect("defaults are values of TOML")
        },
    }
}

/// Serialises the defaults of a table.
struct Defaults<T>(PhantomData<T>);

impl<T: Keys> Serialize for Defaults<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        T::write_defaults(&mut map)?;
        map.end()
    }
}

/// Tables that a drive file may have.
pub(crate) const DRIVE: &[Section] = &[
    section::<GeometryConfig>("geometry"),
    Section {
        inner: &[section::<EraseAtPec>("erase_by_pec")],
        ..section::<TimingConfig>("timing")
    },
    section::<CapacityConfig>("drive"),
    section::<GcConfig>("gc"),
    section::<WearConfig>("wear"),
    section::<ReclaimConfig>("reclaim"),
    section::<RefreshConfig>("refresh"),
    section::<ParityConfig>("parity"),
    section::<DensityConfig>("density"),
    section::<StartConfig>("start"),
    Section { inner: &[section::<PerPec>("table")], ..section::<DisturbConfig>("disturb") },
    Section { inner: &[section::<ErrorRow>("table")], ..section::<ErrorConfig>("error") },
    section::<EccConfig>("ecc"),
    section::<BchConfig>("bch"),
    section::<HintsConfig>("hints"),
    section::<SheetConfig>("sheet"),
];

/// Tables that a generated workload's file may have.
pub(crate) const WORKLOAD: &[Section] = &[Section {
    inner: &[section::<SizeShare>("block_sizes"), section::<StripesConfig>("stripes")],
    ..section::<WorkloadConfig>("workload")
}];

/// Tables that a workload file with phases may have.
pub(crate) const PHASES: &[Section] =
    &[Section { inner: &[section::<PhaseConfig>("phase")], ..section::<PhasesConfig>("workload") }];

/// Tables that a workload file with parts may have.
pub(crate) const PARTS: &[Section] =
    &[Section { inner: &[section::<PartConfig>("part")], ..section::<PartsConfig>("workload") }];

/// Tables that a workload file with a language model may have.
pub(crate) const MODEL: &[Section] = &[Section {
    inner: &[section::<ModelConfig>(MODEL_TABLE)],
    ..section::<ModelWorkload>("workload")
}];

/// Tables of all kinds of files. The first kind is a drive file, and all other kinds are workload
/// files.
pub(crate) const ALL: [&[Section]; 5] = [DRIVE, WORKLOAD, PHASES, PARTS, MODEL];

/// Name of a workload's inner table for a language model. `--set` accepts the keys of this inner
/// table.
pub(crate) const MODEL_TABLE: &str = "model";

/// Returns the paths, such as `geometry.channels`, of a key that the user gave without a table. If
/// the key is unknown, returns the paths of the most similar known key.
pub(crate) fn places(schema: &[&[Section]], key: &str) -> Vec<String> {
    let exact = exact_places(schema, key);
    if !exact.is_empty() {
        return exact;
    }
    let all = schema.iter().flat_map(|s| s.iter());
    nearest(key, all.flat_map(Section::keys))
        .map(|near| exact_places(schema, near))
        .unwrap_or_default()
}

/// Returns the paths of a key in all tables that have it.
fn exact_places(schema: &[&[Section]], wanted: &str) -> Vec<String> {
    let all = schema.iter().flat_map(|s| s.iter());
    let tables = all.clone().filter(|s| s.keys().contains(&wanted));
    let of_techniques = all.filter_map(Section::slot).flat_map(|slot| slot.paths_of(wanted));
    distinct(tables.map(|s| format!("{}.{wanted}", s.name)).chain(of_techniques))
}

/// Returns each name once, in the given order. The schemas of several kinds of workload files have
/// the same tables and keys.
fn distinct<T: Ord + Clone>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use vpass_drive::config::DriveConfig;

    use super::*;

    #[test]
    fn tables_are_those_of_the_drive_and_of_its_keys() {
        let declared = DriveConfig::KEYS.iter().filter_map(|key| Some((key.name, key.inner()?)));
        assert!(declared.eq(DRIVE.iter().map(|section| (section.name, section.declared))));
        for section in [DRIVE, WORKLOAD, PHASES, PARTS, MODEL].into_iter().flatten() {
            let inner = section.declared.iter().filter_map(|key| Some((key.name, key.inner()?)));
            assert!(inner.eq(section.inner.iter().map(|inner| (inner.name, inner.declared))));
        }
    }
}
