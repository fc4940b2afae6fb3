//! Attacks: sequences of reads that try to make a drive lose data, or copy as much data as
//! possible. Each attack has its own file.
//!
//! The attacker knows more than any real attacker: where every page lies, how many reads each
//! wordline endures, and how the policy is set ([`Knowledge`]). An attack is a function that turns
//! this knowledge into phases of requests. `vpass run` replays these phases like any other
//! workload. A policy that survives the best of these attacks should survive every workload.
//!
//! When a policy moves data, the attacker does not learn the new place of the data. For this
//! reason, each attack reads many blocks, one after the other.

mod below_interval;
mod charge_and_burst;
mod defeat_counters;
mod hammer;
mod knowledge;
mod weak_spot;

use crate::phases::PhaseConfig;

pub use knowledge::{Knowledge, ReadMix, Strength, Target};

/// Attack with its name, its summary and the function that makes its phases.
pub struct Attack {
    /// Name of the attack on the command line and in reports, such as "hammer".
    pub name: &'static str,
    /// Summary of the attack in one line, for lists.
    pub summary: &'static str,
    /// Function that makes the request phases of one round of the attack. The function gets the
    /// attacker's knowledge about the drive.
    pub phases: fn(&Knowledge) -> Vec<PhaseConfig>,
}

macro_rules! attacks {
    ($($name:literal, $summary:literal => $phases:path;)*) => {
        /// List of all attacks.
        pub const ATTACKS: &[Attack] =
            &[$(Attack { name: $name, summary: $summary, phases: $phases },)*];
    };
}

attacks! {
    "hammer", "reads the neighbours of the weakest wordline, block after block"
        => hammer::phases;
    "defeat-counters", "tricks a table of counters into underestimating the reads of a wordline, \
        then reads beside this wordline"
        => defeat_counters::phases;
    "below-interval", "reads blocks evenly up to the last check before a rewrite, then reads \
        beside a single wordline"
        => below_interval::phases;
    "charge-and-burst", "brings many blocks near their limit, then brings all these blocks over \
        the limit at once"
        => charge_and_burst::phases;
    "weak-spot", "keeps reading the pages around the weakest wordline, wherever these pages move"
        => weak_spot::phases;
}

/// Returns the attack with the given name.
pub fn attack(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|a| a.name == name)
}
