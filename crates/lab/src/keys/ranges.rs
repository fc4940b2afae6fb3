//! What each key may be, and in which unit.

use std::fmt;

use vpass_core::slots::card::{About, Kind, Param};
use vpass_core::slots::slot;

use crate::numbers::short_number;

mod errors;

/// The values of a key that are not refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Allowed {
    /// A whole number, first to last; takes `k`, `M`, `G`, `T`.
    Whole(u64, u64),
    /// A number, first to last.
    Real(f64, f64),
    /// A number above the first, up to the last.
    Above(f64, f64),
    /// 0, or a number from the first to the last.
    ZeroOr(f64, f64),
    /// Requests a second, first to last; takes `k`, `M`, `G`, `T`.
    Rate(f64, f64),
    /// A size, first to last.
    Size(u64, u64),
    /// A size that is a power of two, first to last.
    PowerOfTwo(u64, u64),
    Bool,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Anything that is said in other words; some values that are right and some that are wrong.
    Other(&'static str, &'static [&'static str], &'static [&'static str]),
}

impl Allowed {
    /// What a parameter's card says.
    pub(super) fn of(param: &Param) -> Self {
        match (param.kind, param.range) {
            (Kind::Whole, (low, high)) => Self::Whole(low as u64, high as u64),
            (Kind::Real, (low, high)) => Self::Real(low, high),
        }
    }

    /// Whether a number of it may be written `1M`.
    pub(crate) const fn takes_suffixes(self) -> bool {
        matches!(self, Self::Whole(..) | Self::Rate(..))
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |n: &u64| vpass_core::base::units::Bytes(*n);
        let n = |n: &f64| short_number(*n);
        match self {
            Self::Whole(low, u64::MAX) => write!(f, "{low} or more"),
            Self::Whole(low, high) => write!(f, "{low} to {high}"),
            Self::Real(low, high) | Self::Rate(low, high) => write!(f, "{} to {}", n(low), n(high)),
            Self::Above(low, high) => write!(f, "above {} to {}", n(low), n(high)),
            Self::ZeroOr(low, high) => write!(f, "{} to {}, or 0", n(low), n(high)),
            Self::Size(low, high) => write!(f, "{} to {}", size(low), size(high)),
            Self::PowerOfTwo(low, high) => {
                write!(f, "power of two, {} to {}", size(low), size(high))
            }
            Self::Bool => f.write_str("true, false"),
            Self::Word(words) => f.write_str(&words.join(", ")),
            Self::Other(words, ..) => f.write_str(words),
        }
    }
}

use Allowed::{Above, Bool, Other, PowerOfTwo, Rate, Real, Size, Whole, Word, ZeroOr};

const SHARE: Allowed = Real(0.0, 1.0);
const U32: u64 = u32::MAX as u64;
/// TOML has no larger whole number.
const MOST: u64 = u64::MAX;
const DISTRIBUTION: Allowed = Other(
    "uniform, sequential, zipf:THETA, hot-cold:ADDRESSES/ACCESSES",
    &["uniform", "sequential", "zipf:0.99", "hot-cold:0.1/0.9"],
    &["zip", "zipf:0", "zipf:11", "hot-cold:1/0.9"],
);
/// Unit and range of a key; none where nobody has written them down.
pub(crate) fn allowed(key: &str) -> Option<(&'static str, Allowed)> {
    let listed =
        ranges().find(|(known, ..)| *known == key).map(|(_, unit, allowed)| (*unit, *allowed));
    listed.or_else(|| param(key).map(|param| (param.unit, Allowed::of(param))))
}

/// The parameter of techniques that a key means.
fn param(key: &str) -> Option<&'static Param> {
    let (table, rest) = key.split_once('.')?;
    let slot = slot(table)?;
    let means = |(about, param): &(&About, &Param)| match rest.split_once('.') {
        Some((technique, key)) => about.name == technique && param.key == key,
        None => param.alias == Some(rest),
    };
    slot.params().find(means).map(|(_, param)| param)
}

/// Key, unit, range.
type Range = (&'static str, &'static str, Allowed);

/// All of them.
pub(super) fn ranges() -> impl Iterator<Item = &'static Range> {
    RANGES.iter().chain(errors::RANGES).chain(HINTS)
}

const HINTS: &[Range] = &[
    ("hints.smallest_us", "us", Real(1e-3, 1e6)),
    ("hints.typical_us", "us", Real(1e-3, 1e6)),
    ("hints.idle_us", "us", Real(1e-3, 1e6)),
    ("hints.margin", "share", Real(0.0, 0.9)),
    ("hints.regroup", "share", Real(1e-4, 1.0)),
];

const RANGES: &[Range] = &[
    ("geometry.channels", "", Whole(1, 256)),
    ("geometry.dies_per_channel", "", Whole(1, 256)),
    ("geometry.planes_per_die", "", Whole(1, 64)),
    ("geometry.blocks_per_plane", "", Whole(1, 1 << 24)),
    ("geometry.wordlines_per_block", "", Whole(1, 16_383)),
    ("geometry.cell", "", Word(&["slc", "mlc", "tlc", "qlc"])),
    ("geometry.page_size", "size", PowerOfTwo(512, 1 << 20)),
    ("geometry.neighbour_stride", "wordlines", Whole(1, 1024)),
    ("geometry.strings_per_layer", "wordlines", Whole(1, 1024)),
    (
        "timing.sense_us",
        "us",
        Other(
            "0.001 to 100000; a list: one for each page kind",
            &["0.001", "1e5", "[40, 60, 90]"],
            &["0", "100001", "[40, 60]", "[40, 60, 0]"],
        ),
    ),
    ("timing.program_unit", "", Word(&["page", "wordline"])),
    (
        "timing.program_us",
        "us",
        Other(
            "0 to 100000; a list: one for each page kind, of programs that take a page",
            &["0", "1e5", "[1600, 5000, 0]"],
            &["-1", "100001", "[40, 60]", "[40, 60, -1]"],
        ),
    ),
    ("timing.pad_after_us", "us", Real(0.0, 1e7)),
    ("timing.erase_us", "us", Real(0.0, 1e5)),
    (
        "timing.erase_by_pec",
        "",
        Other(
            "rows, their pec ascending",
            &["[]", "[{pec = 0, us = 1}, {pec = 15001, us = 10000}]"],
            &["[{pec = 9, us = 1}, {pec = 9, us = 2}]", "[{pec = 9}]", "1"],
        ),
    ),
    ("timing.erase_by_pec.pec", "P/E cycles", Whole(0, 1_000_000)),
    ("timing.erase_by_pec.us", "us", Real(0.0, 1e5)),
    ("timing.channel_mb_s", "MB/s", ZeroOr(1.0, 1e6)),
    ("timing.host_mb_s", "MB/s", ZeroOr(1.0, 1e6)),
    ("timing.probe_us", "us", Real(0.0, 1e5)),
    ("timing.ecc_us", "us", Real(0.0, 1e5)),
    ("timing.independent_planes", "", Bool),
    ("timing.cache_read", "", Bool),
    ("timing.suspend", "", Bool),
    ("timing.suspend_program_us", "us", Real(0.0, 1e5)),
    ("timing.suspend_erase_us", "us", Real(0.0, 1e5)),
    ("timing.suspend_limit", "", Whole(0, U32)),
    (
        "drive.capacity",
        "size",
        Other("above 0; fewer than 2^31 pages", &["1GiB", "2147483648"], &["0", "100TiB", "lots"]),
    ),
    ("drive.spare", "share", Real(0.0, 0.95)),
    ("drive.write_buffer", "size", Size(0, 1 << 36)),
    ("drive.rated_pec", "P/E cycles", Whole(1, 1_000_000)),
    ("drive.max_outstanding", "requests", Whole(1, 65_536)),
    ("gc.background", "share", SHARE),
    ("parity.cache", "", Word(&["volatile", "non-volatile"])),
    ("wear.dynamic", "", Bool),
    ("wear.static_gap", "P/E cycles", Whole(0, U32)),
    ("wear.acceleration", "P/E cycles", Whole(1, 1000)),
    (
        "reclaim.schedule",
        "",
        Other(
            "foreground, deadline, batch:N (N 1 to 65535)",
            &["foreground", "deadline", "batch:1", "batch:65535"],
            &["batch:0", "batch:65536", "never"],
        ),
    ),
    ("reclaim.late_reads", "reads", Whole(0, 20_000_000)),
    ("reclaim.retries", "", Whole(0, 31)),
    (
        "refresh.period",
        "time",
        Other(
            "above 0, with a unit: ns, us, ms, s, min, h, d, y",
            &["'22.4h'", "'30d'", "'1y'"],
            &["0", "'0s'", "30", "'a day'"],
        ),
    ),
    ("density.limit_factor", "", Real(1.0, 100.0)),
    ("density.wear", "", Real(1.0, 10.0)),
    ("density.wear_counts_for_limits", "", Bool),
    ("density.reprogram_dose", "reads", Real(0.0, 1000.0)),
    ("density.pool", "share", SHARE),
    ("density.keep_pool", "", Bool),
    ("density.low_density", "share", SHARE),
    ("density.monitor", "share", SHARE),
    (
        "density.interval_average",
        "",
        Other(
            "blocks, refreshes, recent:N (N 1 to 1000000)",
            &["blocks", "refreshes", "recent:1", "recent:1000000"],
            &["recent:0", "recent:1000001", "mean"],
        ),
    ),
    ("density.shadow", "share", SHARE),
    ("density.shadow_pages", "pages", Whole(1, 65_535)),
    ("density.spare_share", "share", Real(0.0, 0.5)),
    ("start.pec", "P/E cycles", Whole(0, 1_000_000)),
    ("start.pec_spread", "P/E cycles", Whole(0, 1_000_000)),
    ("start.worn_share", "share", SHARE),
    ("start.worn_pec", "P/E cycles", Whole(0, 1_000_000)),
    ("start.fill", "share", SHARE),
    ("start.overwrite", "", Real(0.0, 1000.0)),
    ("start.reads", "reads", Whole(0, 20_000_000)),
    (
        "start.age",
        "time",
        Other(
            "0 or more, with a unit: ns, us, ms, s, min, h, d, y",
            &["0", "'22.4h'", "'1y'"],
            &["30", "'-1d'", "'a day'"],
        ),
    ),
    ("disturb.model", "", Word(&["none", "count", "wordline"])),
    ("disturb.dose", "", Word(&["reads", "sensings"])),
    ("disturb.preprogram_weight", "", Real(0.0, 1.0)),
    (
        "disturb.policy_row_cycles",
        "P/E cycles",
        Other("0, or 10 to 1000000", &["0", "10", "1000000"], &["9", "1000001", "-1"]),
    ),
    ("disturb.groups", "", Other("1 to 16 names", &["['a', 'b', 'c', 'd']"], &["[]", "3"])),
    (
        "disturb.group_share",
        "share",
        Other(
            "one for each group, adding up to 1",
            &["[]", "[0.5, 0.25, 0.25, 0]"],
            &["[1.0]", "[0.5, 0.5, 0.5, 0]", "[1.5, -0.5, 0, 0]"],
        ),
    ),
    (
        "disturb.spread",
        "",
        Other(
            "1 to 10, one for each group",
            &["[]", "[1, 10, 1.5, 1]"],
            &["[1.0]", "[1, 1, 1, 10.5]", "[0.5, 1, 1, 1]"],
        ),
    ),
    ("disturb.block_variation", "share", Real(0.0, 9.0)),
    (
        "disturb.kind_factor",
        "",
        Other(
            "1 to 10, one for each page kind, one of them 1",
            &["[]", "[1.8, 10, 1]"],
            &["[1, 1]", "[1, 1, 10.5]", "[1, 1, 0.5]", "[2, 2, 2]"],
        ),
    ),
    (
        "disturb.table",
        "",
        Other(
            "rows, their pec ascending",
            &["[{pec = 0, limit = [9, 9, 9, 9], alpha = [2, 2, 2, 2]}]"],
            &["[]", "1"],
        ),
    ),
    ("disturb.table.pec", "P/E cycles", Whole(0, U32)),
    (
        "disturb.table.limit",
        "reads",
        Other(
            "1 to 20000000, one for each group",
            &["[1, 2, 3, 2e7]"],
            &["[1, 2]", "[1, 2, 3, 20000001]", "[0, 1, 1, 1]"],
        ),
    ),
    (
        "disturb.table.alpha",
        "",
        Other(
            "1 to 32, one for each group",
            &["[1, 2, 3, 32]"],
            &["[1, 2]", "[1, 2, 3, 32.5]", "[0, 1, 1, 1]"],
        ),
    ),
    ("workload.requests", "requests", Whole(1, MOST)),
    ("workload.read_share", "share", SHARE),
    (
        "workload.block_size",
        "size",
        Other("512B to 16MiB, a multiple of 512B", &["512", "16MiB"], &["0", "513", "16777728"]),
    ),
    (
        "workload.block_sizes",
        "",
        Other(
            "rows, their shares adding up to 1",
            &["[{size = '4KiB', share = 1}]"],
            &["[{size = '4KiB', share = 0.5}]", "4096"],
        ),
    ),
    (
        "workload.block_sizes.size",
        "size",
        Other("512B to 16MiB, a multiple of 512B", &["512", "16MiB"], &["0", "513", "16777728"]),
    ),
    ("workload.block_sizes.share", "share", SHARE),
    ("workload.queue_depth", "requests", Whole(1, 65_536)),
    ("workload.rate", "requests/s", Rate(1e-6, 1e12)),
    ("workload.arrivals", "", Word(&["poisson", "constant"])),
    ("workload.distribution", "", DISTRIBUTION),
    ("workload.write_distribution", "", DISTRIBUTION),
    ("workload.hot_sets", "", Word(&["shared", "disjoint"])),
    ("workload.footprint", "share", Above(0.0, 1.0)),
    (
        "workload.run",
        "size",
        Other("a multiple of every block size", &["4KiB", "1MiB"], &["0", "4097"]),
    ),
    (
        "workload.phase",
        "",
        Other("rows, at least one", &["[{requests = 1, pages = [0]}]"], &["[]", "1"]),
    ),
    ("workload.phase.op", "", Word(&["read", "write", "trim"])),
    ("workload.phase.requests", "requests", Whole(1, MOST)),
    ("workload.phase.order", "", Word(&["round-robin", "random"])),
    (
        "workload.phase.pages",
        "pages",
        Other("below the pages of the drive", &["[0, 65535, 0]"], &["[65536]", "[-1]", "0"]),
    ),
    (
        "workload.phase.ranges",
        "pages",
        Other(
            "[first, last] each, below the pages of the drive",
            &["[[0, 65535], [7, 7]]"],
            &["[[1, 0]]", "[[0, 65536]]", "[0, 1]"],
        ),
    ),
    ("workload.stripes", "", Other("a table", &[], &["1"])),
    ("workload.stripes.pages", "pages", Whole(1, 1024)),
    ("workload.stripes.page", "size", PowerOfTwo(512, 1 << 20)),
    ("workload.stripes.recent", "stripes", Whole(1, 65_536)),
    ("workload.stripes.recent_share", "share", Real(0.0, 1.0)),
    ("workload.stripes.sequential", "share", Real(0.0, 1.0)),
    ("workload.stripes.write_pages", "pages", Real(1.0, 1024.0)),
    ("workload.stripes.read_pages", "pages", Real(1.0, 1024.0)),
    ("workload.stripes.most_pages", "pages", Whole(1, 1024)),
    ("statistics.disk", "", Other("text", &["x"], &["7"])),
    ("statistics.source", "", Other("text", &["x"], &["7"])),
    ("statistics.page", "size", PowerOfTwo(512, 1 << 20)),
    ("statistics.footprint_pages", "pages", Whole(1, U32)),
    ("statistics.scale", "share", Above(0.0, 1.0)),
    ("statistics.speed", "", Real(1e-6, 1e9)),
    (
        "statistics.extent",
        "size",
        Other(
            "a multiple of statistics.page up to 1GiB",
            &["4KiB", "1GiB"],
            &["0", "4097", "1028MiB"],
        ),
    ),
    ("statistics.queue_depth", "requests", Whole(1, 65_536)),
    ("statistics.windows", "", Other("a table", &[], &["1"])),
    (
        "statistics.windows.ends_s",
        "s",
        Other("ascending, up to 3.2e9, one for each window", &[], &["[]", "[1]", "3"]),
    ),
    (
        "statistics.windows.read_pages",
        "pages",
        Other("one for each window, up to 2^48 in sum", &[], &["[]", "[1]", "3"]),
    ),
    (
        "statistics.windows.write_pages",
        "pages",
        Other("one for each window, up to 2^48 in sum", &[], &["[]", "[1]", "3"]),
    ),
    ("statistics.reads", "", Other("a table", &[], &["1"])),
    (
        "statistics.reads.requests",
        "requests",
        Other("1 to the pages of all windows", &["1000000"], &["0", "9000000000"]),
    ),
    (
        "statistics.reads.bytes",
        "bytes",
        Other("1 to 16 MiB a request", &["12400000000"], &["1", "9000000000000000"]),
    ),
    (
        "statistics.reads.pages",
        "pages",
        Other("1 to the pages of all windows", &["200000"], &["0", "9000000000"]),
    ),
    (
        "statistics.reads.percentiles",
        "%",
        Other(
            "ascending, above 0 to 100",
            &[],
            &["[]", "[1, 2]", "[1, 25, 50, 75, 90, 95, 99, 101]"],
        ),
    ),
    (
        "statistics.reads.accesses",
        "requests",
        Other(
            "ascending, one for each percentile",
            &[],
            &["[]", "[1, 2]", "[1, 1, 2, 6, 20, 60, 180, 9]"],
        ),
    ),
    (
        "statistics.reads.sizes",
        "bytes",
        Other(
            "ascending, up to 16 MiB, one for each percentile",
            &[],
            &["[]", "[1, 2]", "[1, 1, 1, 1, 1, 1, 1, 16777217]"],
        ),
    ),
    ("statistics.writes", "", Other("a table", &[], &["1"])),
    (
        "statistics.writes.requests",
        "requests",
        Other("1 to the pages of all windows", &["400000"], &["0", "9000000000"]),
    ),
    (
        "statistics.writes.bytes",
        "bytes",
        Other("1 to 16 MiB a request", &["3300000000"], &["1", "9000000000000000"]),
    ),
    (
        "statistics.writes.pages",
        "pages",
        Other("1 to the pages of all windows", &["60000"], &["0", "9000000000"]),
    ),
    (
        "statistics.writes.percentiles",
        "%",
        Other(
            "ascending, above 0 to 100",
            &[],
            &["[]", "[1, 2]", "[1, 25, 50, 75, 90, 95, 99, 101]"],
        ),
    ),
    (
        "statistics.writes.accesses",
        "requests",
        Other(
            "ascending, one for each percentile",
            &[],
            &["[]", "[1, 2]", "[1, 2, 5, 14, 36, 60, 110, 4]"],
        ),
    ),
    (
        "statistics.writes.sizes",
        "bytes",
        Other(
            "ascending, up to 16 MiB, one for each percentile",
            &[],
            &["[]", "[1, 2]", "[1, 1, 1, 1, 1, 1, 1, 16777217]"],
        ),
    ),
];
