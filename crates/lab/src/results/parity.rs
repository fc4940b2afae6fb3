//! Flash operations for parity, and the wear of each die. With stripes, each page has a fixed die,
//! so wear levelling cannot move data to another die.

use serde::{Deserialize, Serialize};
use vpass_drive::base::window::Window;
use vpass_drive::config::ParityCache;
use vpass_drive::drive::{Drive, Lifetime};
use vpass_drive::error::bch::Bch;
use vpass_drive::time::Replay;

use super::stages::{Stage, stages};

/// Results about parity. The pages that were read and programmed for parity are counted in `flash`,
/// under the cause `parity`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parity {
    /// Number of host pages that share one parity page.
    pub stripe_pages: u32,
    /// Number of parity pages for which the drive reserves flash: one for each stripe.
    pub parity_pages: u32,
    /// Number of stripe updates in which the parity was computed from the old parity.
    pub modified: u64,
    /// Number of stripe updates in which the parity was computed from all data of the stripe.
    pub whole: u64,
    /// Number of unreadable pages that were rebuilt from their stripes.
    pub rebuilt_pages: u64,
    /// Number of times that the drive gave up the parity of a stripe. One reason is that too much
    /// of the stripe was unreadable. The other reason exists only with delayed parity: an update of
    /// the parity would have made a block reach its alarm (a read count) while another block was
    /// being erased.
    pub given_up: u64,
    /// Number of stripes that have no parity at the end because the drive gave it up.
    pub unprotected_stripes: u64,
    /// Mean number of P/E cycles per block for each die, starting with die 0.
    pub pec_mean_by_die: Vec<f64>,
    /// Expected numbers of failed reads and lost codewords, if parity raises the read limits
    /// (`bch.target = "stripe"`). Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_first: Option<ReadsFirst>,
    /// Parity that waits in controller memory. Absent if parity is programmed at each write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed: Option<Delayed>,
    /// Results of a technique that gives parity only to stripes with a page in a worn block. Absent
    /// if all stripes have parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_wear: Option<ByWear>,
}

/// Expected numbers of failed reads and lost codewords, if parity raises the read limits. The limit
/// of a whole stripe is higher than that of a single page. Between the two limits, the drive does
/// not simulate random failures, so no page is lost or rebuilt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReadsFirst {
    /// Factor by which parity raises the number of reads that a block endures.
    pub raised: f64,
    /// Value of the key `bch.uber`: the highest allowed number of lost codewords per data bit read.
    /// This limit applies if every stripe has parity.
    pub uber_target: f64,
    /// Flash page reads for all causes, as the sum of their doses (disturbing effects) in dose
    /// units. The expected numbers are for these page reads.
    pub reads: f64,
    /// Expected number of page reads that the code cannot decode. The drive rebuilds such a page
    /// from its stripe.
    pub expected_failed_reads: f64,
    /// Expected number of lost codewords per data bit read, if all pages of a stripe are read
    /// equally often. Null without reads, or if a stripe had no parity.
    pub expected_uber: Option<f64>,
    /// Upper limit of `expected_uber`: assumes that, at every page read, all other pages of the
    /// same stripe have reached their read limits.
    pub expected_uber_at_most: Option<f64>,
    /// Expected number of lost codewords per data bit read, if the drive had no parity.
    pub expected_uber_without_parity: Option<f64>,
}

/// Results of a technique that gives parity only to stripes with a page in a worn block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByWear {
    /// Limit `T_p`: a block with more than `T_p` P/E cycles is worn.
    pub t_p: u32,
    /// Share of all blocks that are worn at the end.
    pub worn_share: f64,
    /// Number of stripes that have parity at the end.
    pub protected_stripes: u64,
    /// Number of stripes that got parity because one of their pages moved into a worn block.
    pub formed: u64,
    /// Number of stripes whose parity was given up because their last page left the worn blocks.
    pub dissolved: u64,
    /// Number of stripes that wait for parity at the end, because one of their pages moved into a
    /// worn block.
    pub waiting_at_end: u64,
    /// Largest number of stripes that waited for parity at the same time.
    pub most_waiting: u64,
    /// Number of stripes that waited for parity, counted at each page write of the host and summed.
    pub waiting_writes: u64,
    /// Time that stripes waited for parity, in seconds summed over all stripes. Null without a
    /// clock.
    pub waiting_s: Option<f64>,
    /// Number of stripes whose counter of pages in worn blocks is wrong at the end. Counters can be
    /// wrong only if the drive updates them by the rule that was published with the technique.
    pub miscounted_stripes: u64,
    /// Stages of the drive's life; absent if the technique has no stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
}

/// Stages of a drive's life. In stage 1, no stripe has parity. In stage 2, stripes with a page in a
/// worn block get parity. In stage 3, all stripes get parity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Life {
    /// Stage of the drive at the end: 1, 2 or 3.
    pub stage: u8,
    /// Limit `L`: the last stage begins when more than `L` stripes have a page in a worn block.
    pub l: u32,
    /// Number of host page writes before the second stage began, and before the third stage began.
    /// A number is null if the stage began before the measured phase, or did not begin.
    pub began_after_writes: [Option<u64>; 2],
    /// Times in seconds at which the second stage and the third stage began. A time is null if the
    /// run has no clock, if the stage began before the measured phase, or if the stage did not
    /// begin.
    pub began_s: [Option<f64>; 2],
    /// Number of stripes to which the last stage has given parity so far.
    pub stripes_seen_to: u32,
    /// Number of host page writes until the last stage had given parity to all stripes. Null if the
    /// last stage finished before the measured phase, or has not finished.
    pub all_seen_to_after_writes: Option<u64>,
    /// Time in seconds at which the last stage had given parity to all stripes. Null if the run has
    /// no clock, if the last stage finished before the measured phase, or if the last stage has not
    /// finished.
    pub all_seen_to_s: Option<f64>,
    /// Number of blocks that are protected only by parity at the end. Such blocks are not rewritten
    /// because of reads or age.
    pub left_to_parity_blocks: u64,
    /// Results of each stage that occurs in the measured phase.
    pub stages: Vec<Stage>,
}

/// Results about outdated parity on flash. Parity on flash is outdated while the new parity of the
/// stripe waits in a cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delayed {
    /// Largest number of stripes that may have outdated parity at the same time.
    pub cache_pages: u32,
    /// Whether the cache keeps its content after a power loss (`parity.cache`).
    pub survives_power_loss: bool,
    /// Number of stripe updates whose parity went into the cache.
    pub updates: u64,
    /// Number of pages that became unprotected because the cache dropped the parity of a stripe.
    /// Such pages are unprotected until the parity of the stripe is written to flash.
    pub exposed: u64,
    /// Number of stripes whose parity had to be computed early, because a block was about to be
    /// erased. The block contained the old version of a page, and this old version was needed to
    /// compute the parity.
    pub made_whole: u64,
    /// Number of stripes whose parity is outdated at the end.
    pub stripes_at_end: u64,
    /// Largest number of stripes whose parity was outdated at the same time.
    pub most_stripes: u64,
    /// Number of stripes with outdated parity, counted at each page write of the host and summed.
    pub stripe_writes: u64,
    /// Time that stripes had outdated parity, in seconds summed over all stripes. Null without a
    /// clock.
    pub stripe_s: Option<f64>,
    /// Number of pages that would be unprotected after a power loss.
    pub power_loss: PowerLoss,
}

/// Number of host pages that a power loss would make unprotected: all host pages in stripes with
/// outdated parity. The number is 0 if the cache keeps its content after a power loss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PowerLoss {
    /// Mean number of pages that a power loss would make unprotected. The power loss is assumed at
    /// a random time or, without a clock, at a random page write of the host. Null if the measured
    /// phase had no duration. In a run without a clock, null if the measured phase had no page
    /// writes.
    pub pages_mean: Option<f64>,
    /// Largest number of pages that a power loss during the run would make unprotected.
    pub pages_most: u64,
}

impl Parity {
    /// Returns the parity results; `None` if the drive has no parity.
    pub(crate) fn of(drive: &Drive, engine: Option<&Replay>) -> Option<Self> {
        let (geometry, counts) = (drive.geometry(), drive.parity_counts());
        let stripes = geometry.stripes?;
        let pec: Vec<u32> = drive.block_states().map(|row| row.pec).collect();
        let of_die =
            |pec: &[u32]| pec.iter().map(|pec| f64::from(*pec)).sum::<f64>() / pec.len() as f64;
        Some(Self {
            stripe_pages: stripes.members(),
            parity_pages: stripes.count(),
            modified: counts.modified,
            whole: counts.whole,
            rebuilt_pages: counts.rebuilt,
            given_up: counts.given_up,
            unprotected_stripes: drive.unprotected_stripes(),
            pec_mean_by_die: pec
                .chunks(geometry.blocks_per_domain() as usize)
                .map(|of| (of_die(of) * 1e3).round() / 1e3)
                .collect(),
            reads_first: ReadsFirst::of(drive),
            delayed: drive.parity_window().map(|window| Delayed::of(drive, &window)),
            by_wear: drive.forming_window().and_then(|window| ByWear::of(drive, &window, engine)),
        })
    }
}

impl ReadsFirst {
    fn of(drive: &Drive) -> Option<Self> {
        let (expected, bch) = (drive.expected()?, Bch::of(drive.config())?);
        let is_known = expected.reads > 0.0
            && drive.parity_counts().given_up == 0
            && drive.unprotected_stripes() == 0;
        Some(Self {
            raised: bch.tolerable() / bch.pages().rate_alone(bch.lost()),
            uber_target: drive.config().bch.uber,
            reads: expected.reads,
            expected_failed_reads: expected.failed_reads,
            expected_uber: is_known.then_some(expected.uber),
            expected_uber_at_most: is_known.then_some(expected.uber_at_most),
            expected_uber_without_parity: (expected.reads > 0.0).then_some(expected.uber_alone),
        })
    }
}

impl ByWear {
    fn of(drive: &Drive, window: &Window, engine: Option<&Replay>) -> Option<Self> {
        let (t_p, counts) = (drive.config().parity.by_wear()?.above, drive.parity_counts());
        let worn = drive.block_states().filter(|block| block.pec > t_p).count();
        Some(Self {
            t_p,
            worn_share: worn as f64 / f64::from(drive.geometry().blocks),
            protected_stripes: drive.stripes_with_parity(),
            formed: counts.formed,
            dissolved: counts.dissolved,
            waiting_at_end: window.stripes,
            most_waiting: window.most_stripes,
            waiting_writes: window.stripe_writes,
            waiting_s: drive.is_timed().then(|| window.stripe_ns as f64 / 1e9),
            miscounted_stripes: drive.miscounted_stripes(),
            life: drive.lifetime().and_then(|lifetime| Life::of(drive, lifetime, engine)),
        })
    }
}

impl Life {
    fn of(drive: &Drive, lifetime: &Lifetime, engine: Option<&Replay>) -> Option<Self> {
        let (began, seen) = (lifetime.began(), lifetime.all_seen_to());
        Some(Self {
            stage: lifetime.stage().number(),
            l: lifetime.last()?.beyond,
            began_after_writes: began.map(|began| began.map(|(writes, _)| writes)),
            began_s: began
                .map(|began| began.filter(|_| drive.is_timed()).map(|(_, at)| at as f64 / 1e9)),
            stripes_seen_to: lifetime.watermark(),
            all_seen_to_after_writes: seen.map(|(writes, _)| writes),
            all_seen_to_s: seen.filter(|_| drive.is_timed()).map(|(_, at)| at as f64 / 1e9),
            left_to_parity_blocks: drive.block_states().filter(|block| block.left_to_parity).count()
                as u64,
            stages: stages(drive, lifetime, engine),
        })
    }
}

impl Delayed {
    fn of(drive: &Drive, window: &Window) -> Self {
        let counts = drive.parity_counts();
        let survives_power_loss = drive.config().parity.cache == ParityCache::NonVolatile;
        let mean = |sum: f64, over: f64| (over > 0.0).then(|| sum / over);
        let pages_mean = if drive.is_timed() {
            mean(window.page_ns as f64, window.watched_ns as f64)
        } else {
            mean(window.page_writes as f64, drive.host_counts().write_pages as f64)
        };
        Self {
            cache_pages: drive.parity_cache_pages(),
            survives_power_loss,
            updates: counts.delayed,
            exposed: counts.exposed,
            made_whole: counts.made_whole,
            stripes_at_end: window.stripes,
            most_stripes: window.most_stripes,
            stripe_writes: window.stripe_writes,
            stripe_s: drive.is_timed().then(|| window.stripe_ns as f64 / 1e9),
            power_loss: PowerLoss {
                pages_mean: pages_mean.map(|pages| if survives_power_loss { 0.0 } else { pages }),
                pages_most: if survives_power_loss { 0 } else { window.most_pages },
            },
        }
    }
}
