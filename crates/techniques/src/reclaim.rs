//! Read reclaim: the list of reclaim techniques. Each technique has its own file, and the folder
//! `shared` has code that several techniques share.

pub(crate) mod block;
mod chance_probe;
mod count;
mod erased_probe;
mod hotld;
mod ideal;
mod ipr;
mod ipr_wl;
mod none;
mod observed_retries;
mod page_type;
#[cfg(test)]
mod promise_tests;
mod read_leveling;
mod redftl;
pub(crate) mod shared;
mod straw_ss;
mod straw_ss_published;
mod straw_ss_sound;
mod straw_wl;
mod tiered;

pub use count::{DRIVE_WIDE, RETRIES};

use vpass_drive::api::reclaim::{
    Action, CHECK_INTERVAL, COUNTERS, FIRST_OWN, FULL, GUARDED, OWN_AGE, Policy, Probed, Promise,
    Rewrite, StreamSpec, Technique, Threshold, View, promise,
};

/// All reclaim techniques of this crate.
pub(crate) const LIST: &[Technique] = &[
    none::CARD,
    block::CARD,
    page_type::CARD,
    straw_wl::CARD,
    straw_ss::CARD,
    straw_ss_published::CARD,
    straw_ss_sound::CARD,
    tiered::CARD,
    erased_probe::CARD,
    chance_probe::CARD,
    redftl::CARD,
    read_leveling::CARD,
    hotld::CARD,
    ipr::CARD,
    ipr_wl::CARD,
    count::CARD,
    observed_retries::CARD,
    ideal::CARD,
];
