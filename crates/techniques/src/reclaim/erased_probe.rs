//! # Erased probe
//! Measures the dose of each wordline by probes, instead of counting reads. A probe is one sensing
//! of a wordline that counts the errors in its erased state.
//!
//! - **Paper:** DEAR (MICRO 2025), from public notes; the paper itself was not available.
//! - **Acts at:** rounds that probe all wordlines of a block, [`BATCH`] per read. A wordline moves
//!   if `(1 - share) ERC_MAX < need`. Here, `share` is the part of its limit that a probe finds
//!   used up. `need = alpha (max(I, R_late + 1) + R_late + 3 W) + M + 2 S`. A round has W reads,
//!   and its probes have the dose S. The next round begins before another wordline could have less
//!   than its need.
//! - **Costs:** 9 bytes per block, and one bit per wordline of a block in a round. For each
//!   wordline, a round takes the time `timing.probe_us` and adds the dose of a read.
//! - **Departs from the paper:** DEAR senses a layer's first wordline, after a fixed number of
//!   reads. `erased-probe` senses all wordlines, without noise.
//! - **Does not help:** blocks close to a limit. Their rounds become more frequent, and each round
//!   costs time and dose.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/erased-probe.md`).
//!
//! ```text
//! one page a wordline, alpha 9, limit 900, I = 10, three wordlines (W 0, M 3 + 16, S 3 + 16), hammered in the middle:
//!                 need 9 (10 + 1) + 19 + 38 = 156       fresh: floor((900 - 156) / 9) + 10 = 92 reads to the first round
//! reads   92      three probes make it 95; both neighbours have taken 828 of 900 and move; the middle one has 9, of the first probe, and
//!                 stays: the next round is due at 95 + floor((891 - 156) / 9) + 10 = 186
//! ```

use super::CHECK_INTERVAL;
use super::Technique;
use super::promise::Budget;
use super::{Action, Policy, Probed, Promise, Rewrite, Threshold, View};
use vpass_drive::api::card::{About, Args, Card, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::dose_per_kind;
use vpass_drive::disturb::told::Limits;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "erased-probe",
        summary: "probes wordlines for errors instead of counting reads, and rewrites wordlines \
            that could reach their limit (DEAR, 2025)",
        paper: "DEAR, MICRO 2025",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: &[CHECK_INTERVAL],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(ErasedProbe::new(args, config))),
};

/// Number of wordlines that are probed at one read. Their probes occupy the die for half a
/// millisecond. This value is an assumption: reads wait about as long for a program.
const BATCH: u32 = 16;

pub(super) struct ErasedProbe {
    interval: u32,
    /// Number of dose units by which alarms may be passed between the probe of a wordline and the
    /// end of its job. `step` is the distance between two batches of a round, in dose units.
    overshoot: u32,
    step: u32,
    /// Dose of a probe. `heaviest` is the largest dose that a read can have.
    probe: Quarters,
    heaviest: Quarters,
    counts_before: bool,
    blocks: Vec<State>,
    /// Number of probes since the drive was made. `rounds` is the number of completed rounds.
    probes: u64,
    rounds: u64,
}

/// State of the technique for one block.
#[derive(Clone, Default)]
struct State {
    /// Read count of the block at which the next round begins.
    due: u32,
    round: Option<Round>,
}

/// Round that is running in a block.
#[derive(Clone)]
struct Round {
    /// First wordline that the round has not yet checked.
    next: WordlineInBlock,
    /// Pages that move at the end of the round.
    pages: PageSet,
    /// Number of reads that every wordline that stays can endure in addition to its need.
    spare: u32,
}

/// Need of the wordlines of a group. A wordline stays if a probe finds that at least `left` of its
/// limit is left.
#[derive(Clone, Copy)]
struct Need {
    limit: Dose,
    alpha: Alpha,
    left: Dose,
    /// Number of host reads, in dose units, that `left` allows.
    reads: u32,
}

impl Need {
    /// Returns the number of reads after which a wordline would have less than its need. `left` is
    /// the part of its limit that is left now. Returns `None` if this is already less than the
    /// need.
    fn spare(&self, left: Dose) -> Option<u32> {
        (left >= self.left).then(|| (left - self.left).reads_beside(self.alpha).0)
    }
}

impl ErasedProbe {
    pub(super) fn new(args: &Args, config: &DriveConfig) -> Self {
        let kinds = config.geometry.cell.bits() as usize;
        let doses = dose_per_kind(config.disturb.dose, config.geometry.cell);
        let heaviest = doses[..kinds].iter().copied().max().unwrap_or(Quarters::UNIT);
        let uneven = doses[..kinds].iter().any(|dose| *dose != Quarters::UNIT);
        Self {
            interval: args.whole(&CHECK_INTERVAL),
            // The overshoot has three parts. Two alarms are each passed by less than one read.
            // Counts are rounded up to whole dose units twice. One read follows a job.
            overshoot: if uneven { 2 * heaviest.whole_up().0 + 2 } else { 0 },
            // The next alarm is one dose unit later. In addition, the count is rounded up, and the
            // alarm is passed by less than one read.
            step: if uneven { heaviest.whole_up().0 + 2 } else { 1 },
            probe: doses[0],
            heaviest,
            counts_before: config.disturb.preprogram_weight > 0.0,
            blocks: vec![],
            probes: 0,
            rounds: 0,
        }
    }

    /// Returns W, the number of reads between the first and the last batch of a round, in dose
    /// units.
    fn width(&self, view: &View) -> u32 {
        (view.geometry.wordlines_per_block.div_ceil(BATCH) - 1) * self.step
    }

    /// Returns the smallest possible number of reads between two rounds. It is used if a wordline
    /// has exactly its need left.
    fn pause(&self, view: &View) -> u32 {
        self.interval.max(view.late_in_a_job() + 1)
    }

    /// Returns the need of a group's wordlines. `pages` is the number of pages that movers may
    /// still sense.
    fn need(&self, view: &View, limits: Limits, group: usize, pec: u32, pages: u32) -> Need {
        let e = limits.lookup(group, pec);
        let reads = self.pause(view) + view.late_in_a_job() + self.overshoot + 3 * self.width(view);
        let beside = (e.alpha - Alpha::ONE) * 2;
        // Reads of all pages of a block have a mean dose of one unit per read.
        let moved = (self.heaviest * pages).min(Reads(view.geometry.pages_per_block).quarters());
        let movers = moved.far() + Reads(view.geometry.cell.bits()) * beside;
        let round = (self.probe * view.geometry.wordlines_per_block).far() + self.probe * beside;
        Need {
            limit: e.limit,
            alpha: e.alpha,
            left: Reads(reads) * e.alpha + movers + round * 2,
            reads,
        }
    }

    fn needs(&self, view: &View, limits: Limits, pec: u32, pages: u32) -> Vec<Need> {
        (0..limits.groups()).map(|group| self.need(view, limits, group, pec, pages)).collect()
    }

    /// Returns the next wordlines to probe in a round, beginning with `from`, and the wordline at
    /// which the round continues. If `all` is true, all remaining wordlines are probed at once.
    fn batch(
        view: &View,
        block: BlockId,
        from: WordlineInBlock,
        all: bool,
    ) -> (Vec<WordlineInBlock>, WordlineInBlock) {
        let bits = view.geometry.cell.bits();
        let written = view.written(block);
        let mut next = from;
        let mut wordlines = vec![];
        while next.first_page(bits) < written && (all || wordlines.len() < BATCH as usize) {
            // A partly written wordline counts even without valid data, because it will get more
            // data.
            if view.is_valid(block, next)
                || (next + 1).first_page(bits) > written && view.pages_to_come(block) > 0
            {
                wordlines.push(next);
            }
            next = next + 1;
        }
        (wordlines, next)
    }

    /// Ends a round: requests a move of the pages that are due, and sets the start of the next
    /// round.
    fn end_round(
        &mut self,
        view: &View,
        block: BlockId,
        limits: Limits,
        out: &mut Vec<Action>,
    ) -> Reads {
        self.rounds += 1;
        let now = view.reads(block).0;
        let Round { mut pages, mut spare, .. } =
            self.blocks[block.index()].round.take().expect("a round is under way");
        let to_come = view.pages_to_come(block);
        if to_come > 0 {
            let before = if self.counts_before { view.dose(block) } else { Quarters::ZERO };
            let needs = self.needs(view, limits, view.pec(block), view.geometry.pages_per_block);
            let of_fresh = needs.iter().map(|n| n.spare(n.limit - before * n.alpha));
            match of_fresh.min().expect("there are groups") {
                Some(of_fresh) => spare = spare.min(of_fresh),
                // A move of pages out of an open block closes the block. Closing helps only if
                // wordlines keep the dose that they got before their programming.
                None if self.counts_before => pages.insert(view.written(block), to_come),
                None => spare = 0,
            }
        }
        let due = now.saturating_add(self.pause(view)).saturating_add(spare).min(u32::MAX - 1);
        self.blocks[block.index()].due = due;
        if pages.is_empty() {
            return Reads(due);
        }
        out.push(Rewrite::pages(block, pages).into());
        Reads(now.saturating_add(view.late_in_a_job()))
    }

    /// Requests the next probes of a round, or ends the round if there are none.
    fn go_on(
        &mut self,
        view: &View,
        block: BlockId,
        limits: Limits,
        out: &mut Vec<Action>,
    ) -> Reads {
        let now = view.reads(block).0;
        let state = &mut self.blocks[block.index()];
        // The block had reads from before the run, so this alarm came late. There may be no time
        // for the usual one batch per read.
        let is_late = now > state.due.saturating_add(self.overshoot);
        let none = || Round {
            next: WordlineInBlock::FIRST,
            pages: PageSet::none(view.geometry.pages_per_block),
            spare: u32::MAX,
        };
        let round = state.round.get_or_insert_with(none);
        let (wordlines, next) =
            Self::batch(view, block, round.next, is_late && round.next == WordlineInBlock::FIRST);
        round.next = next;
        if wordlines.is_empty() {
            return self.end_round(view, block, limits, out);
        }
        out.push(Action::Probe { block, wordlines });
        Reads(now + 1)
    }
}

impl Policy for ErasedProbe {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let Some(limits) = view.limits else { return Reads::NEVER };
        if self.blocks.is_empty() {
            self.blocks = vec![State::default(); view.geometry.blocks as usize];
        }
        let needs = self.needs(view, limits, view.pec(block), view.geometry.pages_per_block);
        let spare = needs.iter().map(|n| n.spare(n.limit)).min().expect("there are groups");
        let due = spare.map_or(1, |spare| spare.saturating_add(self.pause(view)));
        self.blocks[block.index()] = State { due, round: None };
        Reads(due)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let Some(limits) = view.limits else { return Reads::NEVER };
        let State { due, round } = &self.blocks[block.index()];
        if round.is_none() && view.reads(block).0 < *due {
            // This alarm came early, because a job has ended. No round is due yet.
            return Reads(*due);
        }
        self.go_on(view, block, limits, out)
    }

    fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let Some(limits) = view.limits else { return Reads::NEVER };
        let needs = self.needs(
            view,
            limits,
            view.pec(block),
            view.valid_pages(block) + view.pages_to_come(block),
        );
        let bits = view.geometry.cell.bits();
        self.probes += found.len() as u64;
        let round = self.blocks[block.index()].round.as_mut().expect("a round is under way");
        for probed in found {
            let need = &needs[limits.group_of(probed.wordline)];
            match need.spare(probed.left_of(need.limit)) {
                Some(spare) => round.spare = round.spare.min(spare),
                None => round.pages.insert(probed.wordline.first_page(bits), bits),
            }
        }
        let (rest, _) = Self::batch(view, block, round.next, false);
        if rest.is_empty() {
            return self.end_round(view, block, limits, out);
        }
        Reads(view.reads(block).0 + 1)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("probes", self.probes), ("probe_rounds", self.rounds)]
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(9 * u64::from(geometry.blocks))
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        let budget = |limits: Limits, group: usize| {
            let Need { limit, alpha, left, reads } =
                self.need(view, limits, group, pec, view.geometry.pages_per_block);
            let alpha = alpha.weight();
            let own = left.units() - alpha * f64::from(reads);
            Budget { group, endures: limit.units(), alpha, reads, own }
        };
        Promise::within(
            view.limits
                .into_iter()
                .flat_map(|limits| (0..limits.groups()).map(move |group| budget(limits, group))),
        )
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let Some(limits) = view.limits else { return vec![] };
        let pages = view.geometry.pages_per_block;
        let of_group = |group: usize| {
            let Need { limit, alpha, left, .. } = self.need(view, limits, group, pec, pages);
            let (limit, need, alpha) = (limit.units(), left.units(), alpha.weight());
            Threshold {
                name: format!(
                    "group {}: a wordline is rewritten once a probe finds {:.1} % of the \
                     wordline's limit used (first round of a full block)",
                    view.disturb.groups[group],
                    ((1.0 - need / limit) * 100.0).max(0.0)
                ),
                reads: (((limit - need) / alpha).max(0.0) + f64::from(self.pause(view))) as u32,
                because: format!(
                    "(ERC_MAX {limit} - need {need:.1}) / alpha {alpha:.3} + max(I {}, R_late {} + \
                     1); a round takes {} reads",
                    self.interval,
                    view.late_in_a_job(),
                    self.width(view)
                ),
            }
        };
        (0..limits.groups()).map(of_group).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{card, usual};
    use vpass_drive::base::units::{Cause, Lpn};
    use vpass_drive::drive::{Drive, Techniques};

    fn drive(text: &str, timed: bool) -> Drive {
        let config = crate::testing::config(text);
        let mut drive =
            Drive::new(config, &Techniques { reclaim: card("erased-probe"), ..usual() }, timed)
                .unwrap();
        drive.precondition(1);
        drive.begin_measurement();
        drive
    }

    /// Returns a drive file for blocks of one-page wordlines, with alpha 9.
    fn text(wordlines: u32, limit: u32, more: &str) -> String {
        format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = {wordlines}, cell = "slc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5 }}
            disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [{limit}], alpha = [9.0] }}], {more} }}
            reclaim = {{ schedule = "foreground", check_interval = 10 }}
            "#
        )
    }

    /// Returns the numbers of probes, of copied pages and of alarms.
    fn counts(drive: &Drive) -> (u64, u64, u64) {
        let counts = drive.reclaim_counts();
        (drive.technique_counts()[0].1, counts.pages_copied, counts.alarms)
    }

    fn read(drive: &mut Drive, page: u32, times: u32) {
        (0..times).for_each(|_| drive.read_pages(&[Lpn::new(page)]));
    }

    /// Worked example of the file header.
    #[test]
    fn the_neighbours_of_a_hammered_wordline_move_when_a_probe_finds_them_used_up() {
        let mut drive = drive(&text(3, 900, ""), false);
        read(&mut drive, 1, 91);
        assert_eq!(counts(&drive), (0, 0, 0));
        read(&mut drive, 1, 1);
        assert_eq!(counts(&drive), (3, 2, 1));
        // After three probes and two copies the dose is 97. At the read after the job, the policy
        // has an alarm but requests nothing. At dose 186, a round begins.
        read(&mut drive, 1, 88);
        assert_eq!(counts(&drive), (3, 2, 2));
        read(&mut drive, 1, 1);
        assert_eq!(counts(&drive), (4, 2, 3));
        assert_eq!(drive.flash_counts().reads[Cause::Reclaim as usize], 4 + 2);
        read(&mut drive, 1, 100_000);
        // The block still holds one wordline, without neighbours. Only probes of other wordlines
        // could disturb it, and there are none.
        assert_eq!(
            (
                counts(&drive).1,
                drive.flash_counts().erases[Cause::Reclaim as usize],
                drive.lost_pages()
            ),
            (2, 0, 0)
        );
    }

    /// A round of a block with 40 wordlines takes three reads, at which 16, 16 and 8 wordlines are
    /// probed. Pages that are due move at the end of the round.
    #[test]
    fn a_round_is_spread_over_reads() {
        let mut drive = drive(&text(40, 3000, ""), false);
        let mut rounds = vec![];
        while counts(&drive).1 == 0 {
            let before = counts(&drive).0;
            read(&mut drive, 20, 1);
            rounds.push(counts(&drive).0 - before);
        }
        let first = rounds.iter().position(|probes| *probes > 0).unwrap();
        // With W 2 and S 40 + 16, the need is 9 (10 + 1 + 3 x 2) + 40 + 16 + 2 x 56 = 321. The
        // round begins after floor(2679 / 9) + 10 reads.
        assert_eq!((first + 1, &rounds[first..]), (307, &[16, 16, 8][..]));
        // Wordlines 19 and 21 have a dose of 9 x 307 at that time. Only these two move.
        assert_eq!(counts(&drive).1, 2);
    }

    /// A probe shows if a block endures more than the limit in the table. So the strongest of ten
    /// blocks is rewritten last.
    #[test]
    fn a_strong_block_is_left_alone_longer() {
        let reads = |block: u32, more: &str| {
            let mut drive = drive(&text(3, 9000, more), false);
            let mut reads = 0;
            while counts(&drive).1 == 0 {
                read(&mut drive, 3 * block + 1, 1);
                reads += 1;
            }
            reads
        };
        let varied: Vec<u32> = (0..10).map(|block| reads(block, "block_variation = 0.5")).collect();
        let (least, most) = (varied.iter().min().unwrap(), varied.iter().max().unwrap());
        assert!(reads(0, "") <= *least && least * 12 / 10 < *most && *most < 1500, "{varied:?}");
    }
}
