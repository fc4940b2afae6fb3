//! What the keys of `[error]`, `[ecc]` and `[bch]` may be.

use super::Allowed::{self, Bool, Other, PowerOfTwo, Real, Whole, Word};
use super::Range;

const FACTORS_BY_GROUP: Allowed = Other(
    "0.01 to 100, one for each group",
    &["[]", "[0.01, 1, 1, 100]"],
    &["[1]", "[1, 1, 1, 101]", "[1, 1, 1, 0]"],
);
const PER_RETRY: Allowed = Other("0 to 100000, one for each retry", &["[]"], &["[20]", "20"]);

/// Key, unit, range.
pub(super) const RANGES: &[Range] = &[
    ("error.model", "", Word(&["none", "powerlaw", "table", "bch"])),
    ("error.e", "RBER", Real(0.0, 0.5)),
    ("error.a", "RBER", Real(0.0, 0.5)),
    ("error.k", "", Real(0.0, 10.0)),
    ("error.b", "RBER", Real(0.0, 0.5)),
    ("error.m", "", Real(0.0, 10.0)),
    ("error.n", "", Real(0.0, 10.0)),
    ("error.time_unit", "", Word(&["hours", "days"])),
    ("error.base_by_group", "", FACTORS_BY_GROUP),
    ("error.retention_by_group", "", FACTORS_BY_GROUP),
    (
        "error.base_by_kind",
        "",
        Other(
            "0.01 to 100, one for each page kind",
            &["[]", "[0.01, 1, 100]"],
            &["[1, 1]", "[1, 1, 101]", "[1, 1, 0]"],
        ),
    ),
    (
        "error.ages",
        "time",
        Other(
            "ascending, up to 10y",
            &["[]", "['1h', '22.4h', '10y']"],
            &["['1d', '1h']", "['0s']", "['11y']", "[1]"],
        ),
    ),
    (
        "error.table",
        "",
        Other(
            "rows at the P/E counts of disturb.table, their pec ascending",
            &["[]"],
            &["[{pec = 0, base = [1], retention = [[1]]}]", "1"],
        ),
    ),
    ("error.table.pec", "P/E cycles", Whole(0, 1_000_000)),
    (
        "error.table.base",
        "RBER",
        Other(
            "0 to 0.5, one for each group",
            &["[0, 1e-3, 0.01, 0.5]"],
            &["[0.1]", "[0, 0, 0, 0.51]", "[0, 0, 0, -1]"],
        ),
    ),
    (
        "error.table.retention",
        "RBER",
        Other(
            "0 to 0.5, rising, one for each of error.ages, a list for each group",
            &["[[0], [0], [0.1], [0.5]]"],
            &["[[0]]", "[[0], [0], [0], [0.51]]", "[[0, 1], [0], [0], [0]]"],
        ),
    ),
    ("error.temperature_c", "degrees C", Real(-40.0, 125.0)),
    ("error.reference_c", "degrees C", Real(-40.0, 125.0)),
    ("error.activation_ev", "eV", Real(0.0, 3.0)),
    (
        "error.longest_age",
        "time",
        Other(
            "above 0 to 10y",
            &["'1h'", "'22.4h'", "'30d'", "'10y'"],
            &["'0s'", "0", "'11y'", "'-1d'", "30", "'soon'"],
        ),
    ),
    ("error.noise", "", Bool),
    ("ecc.codeword", "size", PowerOfTwo(64, 1 << 20)),
    ("ecc.code_rate", "share", Real(0.5, 1.0)),
    (
        "ecc.corrects",
        "bits",
        Other(
            "rising, less than half of a codeword; needs ecc.codeword",
            &["[]"],
            &["[40]", "[-1]", "3"],
        ),
    ),
    (
        "ecc.cap",
        "RBER",
        Other(
            "1e-9 to 0.4, rising; a retry for each but the first",
            &["[]", "[1e-9]", "[0.4]"],
            &["[0]", "[0.41]", "[0.02, 0.01]", "[0.01, 0.02]"],
        ),
    ),
    ("ecc.target", "share", Real(1e-30, 0.5)),
    ("ecc.last_target", "share", Real(1e-30, 0.5)),
    ("ecc.retry_sense_us", "us", PER_RETRY),
    ("ecc.retry_transfer_us", "us", PER_RETRY),
    ("ecc.retry_decode_us", "us", PER_RETRY),
    ("ecc.start_from_last", "", Bool),
    ("bch.target", "", Word(&["yield", "uber", "stripe"])),
    ("bch.yield", "share", Real(0.5, 1.0 - 1e-12)),
    ("bch.uber", "UBER", Real(1e-24, 1e-4)),
    ("bch.combine", "", Word(&["independent", "sum"])),
    ("bch.pec", "P/E cycles", Whole(1, 1_000_000)),
    ("bch.reads", "reads", Real(1.0, 2e7)),
    (
        "bch.age",
        "time",
        Other(
            "above 0 to 100y",
            &["'1h'", "'381d'", "'100y'"],
            &["'0s'", "0", "'101y'", "'-1d'", "30", "'soon'"],
        ),
    ),
    ("bch.at_yield", "share", Real(0.5, 1.0 - 1e-12)),
    ("bch.reads_exponent", "", Real(0.0, 10.0)),
    ("bch.age_exponent", "", Real(0.0, 10.0)),
    ("bch.time_exponent", "", Real(0.1, 10.0)),
    ("bch.spread_common", "", Real(0.0, 1.0)),
    ("bch.spread_own", "", Real(0.0, 1.0)),
    (
        "bch.rows",
        "P/E cycles",
        Other(
            "ascending, 1 to 1000000",
            &["[1]", "[1, 1000000]"],
            &["[]", "[0, 1]", "[2, 1]", "[1000001]", "1"],
        ),
    ),
];
