//! Techniques: read reclaim, refresh, parity and garbage collection. Each technique is one file, or
//! a file with a folder, and implements an interface of the drive. This file lists the techniques
//! of all slots, and finds them by name.

pub mod gc;
pub mod parity;
pub mod reclaim;
pub mod refresh;
mod resolve;
mod slots;
#[cfg(test)]
mod testing;

pub use resolve::resolve;
pub use slots::{SLOTS, Slot, slot};

use vpass_drive::api;
use vpass_drive::api::card::{Card, InSlot};
use vpass_drive::api::gc::{GcPolicy, GcTechnique};
use vpass_drive::api::parity::{NO_PARITY, Parity, ParityTechnique};
use vpass_drive::api::reclaim::{Policy, Technique};
use vpass_drive::api::refresh::{NO_REFRESH, Refresh, RefreshTechnique};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;

/// Cards of techniques, one list for each slot.
#[derive(Clone, Copy)]
pub struct Lists {
    /// Reclaim techniques.
    pub reclaim: &'static [Technique],
    /// Refresh techniques.
    pub refresh: &'static [RefreshTechnique],
    /// Parity techniques.
    pub parity: &'static [ParityTechnique],
    /// GC policies.
    pub gc: &'static [GcTechnique],
}

/// Slot that has a list.
pub trait Listed: InSlot + 'static {
    /// Returns the list of this slot.
    fn of(lists: Lists) -> &'static [Card<Self>];
}

impl Listed for dyn Policy {
    fn of(lists: Lists) -> &'static [Card<Self>] {
        lists.reclaim
    }
}

impl Listed for dyn Refresh {
    fn of(lists: Lists) -> &'static [Card<Self>] {
        lists.refresh
    }
}

impl Listed for dyn Parity {
    fn of(lists: Lists) -> &'static [Card<Self>] {
        lists.parity
    }
}

impl Listed for dyn GcPolicy {
    fn of(lists: Lists) -> &'static [Card<Self>] {
        lists.gc
    }
}

/// Returns all techniques of this crate.
pub fn all() -> Lists {
    Lists { reclaim: reclaim::LIST, refresh: refresh::LIST, parity: parity::LIST, gc: gc::LIST }
}

/// Returns the technique that has this name; `None` if there is no such technique.
pub fn named<P: Listed + ?Sized>(name: &str) -> Option<&'static Card<P>> {
    P::of(all()).iter().find(|card| card.name == name)
}

/// Returns the technique that has this name, for a caller that knows that it exists.
///
/// # Panics
/// If there is no such technique.
pub fn card<P: Listed + ?Sized>(name: &str) -> &'static Card<P> {
    named(name).unwrap_or_else(|| panic!("there is no {} technique `{name}`", P::TABLE))
}

/// Returns the techniques of a run that names none: reclaim `block` and GC `greedy`, without
/// refresh and parity.
pub fn usual() -> Techniques {
    Techniques {
        reclaim: card("block"),
        gc: card("greedy"),
        refresh: card(NO_REFRESH),
        parity: card(NO_PARITY),
        seed: 0,
    }
}

/// Returns two things: the configuration of a drive with a parity technique and a refresh
/// technique, and this refresh technique. If the caller names no refresh technique, the one that is
/// part of the parity technique is used.
pub fn with_parts(
    mut config: DriveConfig,
    parity: &ParityTechnique,
    refresh: Option<&'static RefreshTechnique>,
) -> (DriveConfig, &'static RefreshTechnique) {
    let parts = parity.parts.as_ref().filter(|_| refresh.is_none());
    if let Some(period) = parts.and_then(|parts| (parts.period)(&config)) {
        config.refresh.period = period;
    }
    let part = parts.map(|parts| parts.refresh);
    let refresh = refresh.or(part).unwrap_or_else(|| card(NO_REFRESH));
    (api::parity::drive(api::refresh::drive(config, refresh), parity), refresh)
}
