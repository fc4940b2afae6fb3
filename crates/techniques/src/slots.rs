//! Slots: kinds of techniques, and the parameters that a drive file may give to the techniques of
//! each slot.

use vpass_drive::api::card::{About, InSlot, Param};
use vpass_drive::api::gc::GcPolicy;
use vpass_drive::api::parity::Parity;
use vpass_drive::api::reclaim::Policy;
use vpass_drive::api::refresh::Refresh;
use vpass_drive::config::{DriveConfig, Params};

use crate::{Listed, all};

/// Kind of techniques, such as parity. A run uses one technique of each kind.
pub struct Slot {
    /// Name of the slot's table in a drive file.
    pub table: &'static str,
    /// Returns the descriptions of the slot's techniques, in the order of the list.
    pub cards: fn() -> Vec<&'static About>,
    pub(super) given: fn(&mut DriveConfig) -> &mut Params,
}

/// All slots of the drive.
pub const SLOTS: &[Slot] = &[
    Slot::of::<dyn Policy>(),
    Slot::of::<dyn Refresh>(),
    Slot::of::<dyn Parity>(),
    Slot::of::<dyn GcPolicy>(),
];

/// Returns the slot whose table has this name.
pub fn slot(table: &str) -> Option<&'static Slot> {
    SLOTS.iter().find(|slot| slot.table == table)
}

impl Slot {
    const fn of<P: Listed + ?Sized>() -> Self {
        Self { table: <P as InSlot>::TABLE, cards: abouts::<P>, given: P::given_mut }
    }

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

fn abouts<P: Listed + ?Sized>() -> Vec<&'static About> {
    P::of(all()).iter().map(|card| &card.about).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::card::Kind;

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
