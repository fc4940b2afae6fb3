//! The cases that are recorded for seeded bugs: each the first that shows its bug.

use vpass_core::bugs::Bug;

pub(crate) const CHECK: &[(Bug, u64)] = &[];
pub(crate) const BATTERY: &[(Bug, &str, u64)] = &[
    (Bug::LimitsOfNew, "block", 0),
    (Bug::BetterRow, "block", 0),
    (Bug::MoversForgotten, "straw-wl", 0),
    (Bug::OpenTakenForClosed, "straw-wl", 0),
    (Bug::CountersExact, "straw-ss-sound", 0),
    (Bug::SegmentsBeginLate, "straw-ss-sound", 0),
    (Bug::ProbeHalved, "erased-probe", 0),
    (Bug::ProbeHalved, "chance-probe", 0),
];
pub(crate) const STOPPED: &[Bug] = &[Bug::MoveMissesBuffer, Bug::TrackerKept, Bug::ReserveIgnored, Bug::OpenBlockKept];
pub(crate) const UNTOUCHED: &[(Bug, &str)] = &[(Bug::AlphaOne, "ideal"), (Bug::BestGroup, "ideal")];
