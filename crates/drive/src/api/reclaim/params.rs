//! Parameters of several techniques.

use crate::api::card::{Kind, Param};

/// Number of reads of a block between two checks of its wordlines.
pub const CHECK_INTERVAL: Param = Param {
    key: "check_interval",
    kind: Kind::Whole,
    unit: "reads",
    default: 1000.0,
    range: (1.0, 1e6),
    draw: &[1.0, 5.0, 64.0, 300.0],
    meaning: "Number of reads of a block between two checks of the block's wordlines; for \
        techniques that rewrite single wordlines",
    source: "straw-2024 III-B: \"e.g., every 1K reads to the block\"",
    alias: Some("check_interval"),
};

/// Number of Space-Saving counters of each block.
pub const COUNTERS: Param = Param {
    key: "counters",
    kind: Kind::Whole,
    unit: "",
    default: 32.0,
    range: (2.0, 256.0),
    draw: &[2.0, 3.0, 8.0, 32.0, 40.0],
    meaning: "Number of Space-Saving counters per block; for techniques that use such counters",
    source: "straw-2024 IV: \"32 counter entries for a block\"",
    alias: Some("counters"),
};

/// Whether a block's limits are looked up at the age of its data. Otherwise, they are those at the
/// longest age.
pub const OWN_AGE: Param = Param {
    key: "own_age",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0, 1.0],
    meaning: "1: uses the limits for the actual age of a block's data; 0: uses the limits for the \
        longest possible age. Only for techniques that know the time",
    source: "docs/error-budget.md shows what this setting saves",
    alias: Some("own_age"),
};
