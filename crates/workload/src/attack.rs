//! Attacks: reads that try to make a drive lose data, or to make it copy as much as possible. One
//! attack a file.
//!
//! The attacker is stronger than any real one: it sees where every page lies, how much each
//! wordline endures and how the policy is set ([`Knowledge`]). An attack is a function from that to
//! phases of requests, which `vpass run` replays like any other workload. A policy that survives
//! what an attacker who knows everything can do survives every workload; that is what attacks are
//! for.
//!
//! Data moves away when a policy acts, and the attacker does not look again. So each attack takes
//! many blocks in turn.

mod below_interval;
mod breed;
mod charge_and_burst;
mod defeat_counters;
mod hammer;
mod knowledge;
mod weak_spot;

use crate::phases::PhaseConfig;

pub use breed::Breeder;
pub use knowledge::{Knowledge, ReadMix, Strength, Target};

/// An attack: its name reads well in "attacked by ..."; what it does; how.
pub struct Attack {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// One round of it on this drive.
    pub phases: fn(&Knowledge) -> Vec<PhaseConfig>,
}

macro_rules! attacks {
    ($($name:literal, $summary:literal => $phases:path;)*) => {
        /// Every attack; one line each.
        pub const ATTACKS: &[Attack] = &[$(Attack { name: $name, summary: $summary, phases: $phases },)*];
    };
}

attacks! {
    "hammer", "reads beside the wordline that endures least, block after block" => hammer::phases;
    "defeat-counters", "makes a table of a few counters wrong about a wordline, then hammers beside it" => defeat_counters::phases;
    "below-interval", "charges blocks evenly to just before the look at which they would be rewritten, then hammers until the next" => below_interval::phases;
    "charge-and-burst", "brings many blocks near their limit, then over it all at once" => charge_and_burst::phases;
    "weak-spot", "dwells on the pages around one weakest wordline, wherever they go" => weak_spot::phases;
}

/// The attack of this name.
pub fn attack(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|a| a.name == name)
}
