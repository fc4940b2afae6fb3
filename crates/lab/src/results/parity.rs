//! What was done for parity, and what its layout does to wear: a page has a die of its own, so no
//! die can be traded for a less worn one.

use serde::{Deserialize, Serialize};
use vpass_core::base::window::Window;
use vpass_core::config::ParityCache;
use vpass_core::drive::{Drive, Lifetime};
use vpass_core::error::bch::Bch;
use vpass_core::time::Replay;

use super::stages::{Stage, stages};

/// Parity. Its reads and programs stand in `flash`, under `parity`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parity {
    /// Pages of the host that share a page of parity.
    pub stripe_pages: u32,
    /// Pages of parity that the drive has flash for: one a stripe.
    pub parity_pages: u32,
    /// Stripes whose parity was brought up to date out of the old one.
    pub modified: u64,
    /// Stripes whose parity was worked out of all their data.
    pub whole: u64,
    /// Pages that could not be read and were rebuilt from their stripes.
    pub rebuilt_pages: u64,
    /// Times that the parity of a stripe was given up: too much of the stripe could not be read or,
    /// where parity is delayed, not without bringing a block to its alarm while another was erased.
    pub given_up: u64,
    /// Stripes that are without parity for that at the end.
    pub unprotected_stripes: u64,
    /// Mean P/E cycles of the blocks of each die, from die 0 on.
    pub pec_mean_by_die: Vec<f64>,
    /// What is expected where parity raises the limits of reads (`bch.target = "stripe"`); absent
    /// where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_first: Option<ReadsFirst>,
    /// Parity that waits in the controller's memory; absent where it is programmed with each write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed: Option<Delayed>,
    /// Which stripes have parity where wear says so; absent where all have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_wear: Option<ByWear>,
}

/// Expected numbers of reads between a page's own limit and its stripe's: nothing is drawn, and no
/// page is lost or rebuilt for it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReadsFirst {
    /// Reads that a block bears over those that a page bears by itself.
    pub raised: f64,
    /// `bch.uber`: what no read is expected to lose more of, by data bits, while every stripe has
    /// its parity.
    pub uber_target: f64,
    /// Reads of flash pages, whoever made them, that the numbers below are of; in dose units.
    pub reads: f64,
    /// Of these, those that the code is expected not to decode, so that the page is rebuilt from
    /// its stripe.
    pub expected_failed_reads: f64,
    /// Codewords that are expected to be lost by each data bit of these reads, the members of a
    /// stripe having been read alike; null where nothing was read, or a stripe was without parity.
    pub expected_uber: Option<f64>,
    /// The same, had all other members been at their limits all the time.
    pub expected_uber_at_most: Option<f64>,
    /// The same without any parity.
    pub expected_uber_without_parity: Option<f64>,
}

/// Parity of stripes with a page in a worn block alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByWear {
    /// `T_p`: blocks of more P/E cycles are worn.
    pub t_p: u32,
    /// Share of the blocks that are worn at the end.
    pub worn_share: f64,
    /// Stripes with parity at the end.
    pub protected_stripes: u64,
    /// Stripes that got parity because a page of theirs had come to a worn block.
    pub formed: u64,
    /// Stripes that gave parity back because none of their pages lay in a worn block any more.
    pub dissolved: u64,
    /// Stripes that wait for parity at the end, because a move brought a page of theirs to a worn
    /// block.
    pub waiting_at_end: u64,
    /// The most that did at a time.
    pub most_waiting: u64,
    /// Stripes that waited, summed up over the page writes of the host.
    pub waiting_writes: u64,
    /// Stripes by the time for which they waited, in seconds; null without a clock.
    pub waiting_s: Option<f64>,
    /// Stripes whose counter is not the number of their pages in worn blocks, at the end: above 0
    /// by the published rule alone.
    pub miscounted_stripes: u64,
    /// The stages of the drive's life; absent where the technique has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
}

/// The stages of a drive's life: recycling alone, parity of worn stripes, parity of all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Life {
    /// The stage at the end: 1, 2 or 3.
    pub stage: u8,
    /// L: with a page in a worn block in more stripes than these the last stage begins.
    pub l: u32,
    /// Page writes of the host after which the second and the third stage began; null where they
    /// began before the measured phase, or did not begin.
    pub began_after_writes: [Option<u64>; 2],
    /// The times at which they began, in seconds; null without a clock, too.
    pub began_s: [Option<f64>; 2],
    /// In the last stage: stripes that were seen to, so that they have parity.
    pub stripes_seen_to: u32,
    /// Page writes of the host after which the last stage had seen to all stripes; null where that
    /// was before the measured phase, or is not so.
    pub all_seen_to_after_writes: Option<u64>,
    /// The time at which it had, in seconds; null without a clock, too.
    pub all_seen_to_s: Option<f64>,
    /// Blocks that are left to parity at the end: recycled neither for their reads nor for their
    /// age.
    pub left_to_parity_blocks: u64,
    /// What came in each stage that the drive was in during the measured phase.
    pub stages: Vec<Stage>,
}

/// The window without protection: stripes whose parity on flash lags behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delayed {
    /// Stripes that may lag behind at a time.
    pub cache_pages: u32,
    /// Whether the cache survives a loss of power (`parity.cache`).
    pub survives_power_loss: bool,
    /// Updates of stripes that went to the cache.
    pub updates: u64,
    /// Pages that the cache covered and forgot: nothing protects them until their stripe is
    /// committed.
    pub exposed: u64,
    /// Stripes whose parity was worked out in the cache because a version that it needed was about
    /// to be erased.
    pub made_whole: u64,
    /// Stripes that lag behind at the end.
    pub stripes_at_end: u64,
    /// The most that did at a time.
    pub most_stripes: u64,
    /// Stripes that lagged behind, summed up over the page writes of the host.
    pub stripe_writes: u64,
    /// Stripes by the time for which they lagged behind, in seconds; null without a clock.
    pub stripe_s: Option<f64>,
    /// What a loss of power would take.
    pub power_loss: PowerLoss,
}

/// Pages of the host in stripes that lag behind: a loss of power takes their parity, which counts
/// as their loss. None where the cache survives it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PowerLoss {
    /// At a moment drawn evenly from the run or, without a clock, from the host's page writes; null
    /// where there was none.
    pub pages_mean: Option<f64>,
    /// At the worst moment.
    pub pages_most: u64,
}

impl Parity {
    /// None where the drive keeps none.
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
