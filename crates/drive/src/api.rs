//! Techniques by slot. Each slot has an interface. A program brings its techniques as lists or as
//! cards.

pub(crate) mod at_work;
pub mod brought;
pub mod card;
pub mod choice;
pub mod fault;
pub mod gc;
pub mod given;
mod params;
pub mod parity;
pub mod reclaim;
pub mod refresh;
pub mod rewrite;
pub mod seed;
pub(crate) use at_work::{Away, Facts, Slots, Told};

use crate::config::{DriveConfig, Params};

use self::card::{About, InSlot, Param};
use self::gc::{GC, GcPolicy};
use self::parity::{PARITY, Parity};
use self::reclaim::{Policy, RECLAIM};
use self::refresh::{REFRESH, Refresh};

/// Kind of techniques, such as parity. A run uses one technique of each kind.
pub struct Slot {
    /// Name of the slot's table in a drive file.
    pub table: &'static str,
    /// Returns the descriptions of the slot's techniques, in the order of the list.
    pub cards: fn() -> Vec<&'static About>,
    given: fn(&mut DriveConfig) -> &mut Params,
}

impl Slot {
    /// Returns every parameter of the slot's techniques, together with its technique.
    pub fn params(&self) -> impl Iterator<Item = (&'static About, &'static Param)> + use<> {
        (self.cards)()
            .into_iter()
            .flat_map(|about| about.params.iter().map(move |param| (about, param)))
    }

    /// Returns all aliases of the slot's parameters, without duplicates. An alias is a key in the
    /// slot's table that stands for a parameter of several techniques.
    pub fn aliases(&self) -> Vec<&'static str> {
        let mut aliases = vec![];
        for alias in self.params().filter_map(|(_, param)| param.alias) {
            if !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
        aliases
    }

    /// Returns the techniques that share an alias, and their parameters.
    pub fn sharing<'a>(
        &self,
        alias: &'a str,
    ) -> impl Iterator<Item = (&'static About, &'static Param)> + use<'a> {
        self.params().filter(move |(_, param)| param.alias == Some(alias))
    }

    /// Returns one full key for each technique that has this parameter. A full key has the form
    /// that `--set` accepts, such as `reclaim.straw-ss.counters`.
    pub fn paths_of(&self, key: &str) -> Vec<String> {
        self.params()
            .filter(|(_, param)| param.key == key)
            .map(|(about, _)| format!("{}.{}.{key}", self.table, about.name))
            .collect()
    }
}

/// All slots of the drive.
pub const SLOTS: &[Slot] = &[
    Slot {
        table: <dyn Policy as InSlot>::TABLE,
        cards: || RECLAIM.brought().iter().map(|c| &c.about).collect(),
        given: <dyn Policy as InSlot>::given_mut,
    },
    Slot {
        table: <dyn Refresh as InSlot>::TABLE,
        cards: || REFRESH.brought().iter().map(|c| &c.about).collect(),
        given: <dyn Refresh as InSlot>::given_mut,
    },
    Slot {
        table: <dyn Parity as InSlot>::TABLE,
        cards: || PARITY.brought().iter().map(|c| &c.about).collect(),
        given: <dyn Parity as InSlot>::given_mut,
    },
    Slot {
        table: <dyn GcPolicy as InSlot>::TABLE,
        cards: || GC.brought().iter().map(|c| &c.about).collect(),
        given: <dyn GcPolicy as InSlot>::given_mut,
    },
];

/// Returns the slot whose table has this name.
pub fn slot(table: &str) -> Option<&'static Slot> {
    SLOTS.iter().find(|slot| slot.table == table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::card::Kind;

    /// Checks the values that each card allows for a parameter.
    #[test]
    fn cards_say_what_can_be() {
        for slot in SLOTS {
            let names: Vec<_> = (slot.cards)().iter().map(|about| about.name).collect();
            for (about, param) in slot.params() {
                let path = format!("{}.{}.{}", slot.table, about.name, param.key);
                let fits = |n: &f64| {
                    (param.range.0..=param.range.1).contains(n)
                        && (param.kind == Kind::Real || n.fract() == 0.0)
                };
                assert!(
                    [param.default, param.range.0, param.range.1]
                        .iter()
                        .chain(param.draw)
                        .all(fits),
                    "{path}: {param:?}"
                );
                assert!(
                    param.kind == Kind::Real || param.range.1 <= f64::from(u32::MAX),
                    "{path}: {param:?}"
                );
                assert!(
                    !param.draw.is_empty() && !param.meaning.is_empty() && !param.source.is_empty(),
                    "{path}: {param:?}"
                );
                assert_eq!(
                    about.params.iter().filter(|other| other.key == param.key).count(),
                    1,
                    "{path}"
                );
                for (other, same) in param.alias.into_iter().flat_map(|alias| slot.sharing(alias)) {
                    assert_eq!(same, param, "{path} and that of {} have one alias", other.name);
                }
                assert!(
                    param.alias.is_none_or(|alias| !names.contains(&alias)),
                    "{path}: {names:?}"
                );
            }
            for (n, about) in (slot.cards)().iter().enumerate() {
                assert!(
                    !about.summary.is_empty() && !names[..n].contains(&about.name),
                    "{}",
                    about.name
                );
            }
        }
    }
}
