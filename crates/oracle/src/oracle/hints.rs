//! Whether the drive goes by what the host says of how slow reads of its data may be. What is said
//! of a page is worked out from the host's ranges byte by byte, and what it allows from the drive's
//! timing.
//!
//! ```text
//! a block goes by the word of the first page programmed in it          and every other page has that word
//! but for a block that was opened when no more than the reserve was free    it goes by the tightest word of all, and holds data of any
//! and for blocks that were there from the start                        they go by the tightest word of what they held then
//! ```
//!
//! Under a technique that loses nothing no read of the host's takes more retries than the word of
//! its block allows, unless the age that data may come to takes more, or chance does
//! (`error.noise`).

use std::collections::BTreeMap;

use vpass_core::base::geometry::Geometry;
use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::{Op, Request};
use vpass_core::base::units::{BlockId, Cause, Lpn, WordlineInBlock, transfer_ns, us};
use vpass_core::config::DriveConfig;
use vpass_core::disturb::table::LimitTable;
use vpass_core::drive::Drive;
use vpass_core::hints::{HintCounts, HintRange};
use vpass_core::watch::observer::{NO_LPN, Origin, PhysRead};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Free blocks that only moves may take, where all data has one word.
const RESERVE: u32 = 2;

/// Word of each of so many pages: the tightest of its bytes. Ranges are painted over each other in
/// the order of their rank, so the time is n log n in ranges, and linear in pages.
fn words_of_pages(ranges: &[HintRange], page_bytes: u64, pages: u32) -> Vec<AccessLatency> {
    let mut by_rank: Vec<&HintRange> = ranges.iter().filter(|range| range.bytes.0 > 0).collect();
    by_rank.sort_by_key(|range| range.rank);
    // First bytes of stretches with one word.
    let mut painted = BTreeMap::from([(0, AccessLatency::default())]);
    for range in by_rank {
        let (from, end) = (range.offset.0, range.offset.0 + range.bytes.0);
        let behind = *painted.range(..=end).next_back().expect("the first stretch begins at 0").1;
        painted.entry(end).or_insert(behind);
        let covered: Vec<u64> = painted.range(from..end).map(|(first, _)| *first).collect();
        for first in covered {
            painted.remove(&first);
        }
        painted.insert(from, range.access_latency.unwrap_or_default());
    }
    let mut words = vec![AccessLatency::Idle; pages as usize];
    let ends = painted.keys().skip(1).copied().chain([u64::MAX]);
    for ((from, word), end) in painted.iter().zip(ends) {
        let (first, last) = (from / page_bytes, ((end - 1) / page_bytes).min(u64::from(pages) - 1));
        for page in first..=last {
            words[page as usize] = words[page as usize].min(*word);
        }
    }
    words
}

/// What the host said, and what each block goes by.
#[derive(Debug)]
pub(crate) struct Hints {
    /// Word of each page of the host.
    of_page: Vec<AccessLatency>,
    page_bytes: u32,
    /// Words that any page has, the tightest first.
    words: Vec<AccessLatency>,
    /// Retries that each word allows.
    allows: [u8; AccessLatency::COUNT],
    /// Of a block that holds anything.
    goes_by: Vec<Option<AccessLatency>>,
    /// Whether a block holds anything, and how many hold nothing: at every level of the oracle,
    /// which follows wear at one alone.
    used: Vec<bool>,
    free: u32,
    /// Whether a page may wait for others while blocks become free.
    by_wordline: bool,
    counts: [HintCounts; AccessLatency::COUNT],
    /// Reads in bulk, by what their blocks went by; they come without requests.
    in_bulk: [u64; AccessLatency::COUNT],
    is_bulk: bool,
    /// Whether reads had words of their own and nobody followed which.
    unknown: bool,
    /// Where techniques count with more retries than a word allows.
    raised: Option<LimitTable>,
    /// Share of a block's valid pages that must be more relaxed than the block, before they are
    /// moved in the background.
    regroup: Option<f64>,
    /// Whether reads are held to what their blocks go by, and up to which age of data.
    held: Option<u64>,
}

impl Hints {
    /// None where the host says nothing.
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Option<Self> {
        let of_page = words_of_pages(
            config.hints.said.as_ref()?,
            geometry.page_bytes.into(),
            geometry.host_pages,
        );
        let mut words = of_page.clone();
        words.sort_unstable();
        words.dedup();
        Some(Self {
            of_page,
            page_bytes: geometry.page_bytes,
            words,
            allows: allowed(config),
            goes_by: vec![None; geometry.blocks as usize],
            used: vec![false; geometry.blocks as usize],
            free: geometry.blocks,
            by_wordline: config.timing.program_unit == vpass_core::config::ProgramUnit::Wordline,
            counts: Default::default(),
            in_bulk: [0; AccessLatency::COUNT],
            is_bulk: false,
            unknown: false,
            raised: LimitTable::of(config),
            regroup: config.hints.regroup,
            held: None,
        })
    }

    /// Word of a page: the tightest that the host says of its bytes.
    fn word(&self, lpn: Lpn) -> AccessLatency {
        self.of_page.get(lpn.index()).copied().unwrap_or_default()
    }

    /// A block holds something from now on.
    fn take(&mut self, block: BlockId) {
        let used = &mut self.used[block.index()];
        self.free -= u32::from(!std::mem::replace(used, true));
    }

    /// A page is programmed.
    fn program(&mut self, block: BlockId, lpn: Lpn, within: bool) -> Result<(), String> {
        self.take(block);
        let free = self.free;
        let (word, tightest) = (self.word(lpn), self.words[0]);
        let under_pressure = free <= RESERVE || self.by_wordline;
        let goes_by = &mut self.goes_by[block.index()];
        let Some(goes_by) = *goes_by else {
            // The block itself was free until now.
            *goes_by = Some(if free < RESERVE { tightest } else { word });
            return Ok(());
        };
        if word < goes_by {
            return Err(format!(
                "lpn {lpn} with access latency {} is written to block {block} with {}",
                word.name(),
                goes_by.name()
            ));
        }
        if word > goes_by && !(within || goes_by == tightest && under_pressure) {
            return Err(format!(
                "lpn {lpn} with access latency {} is written to block {block} with {}, although \
                 {free} blocks are free",
                word.name(),
                goes_by.name()
            ));
        }
        Ok(())
    }
}

/// Free blocks that cleaning leaves to moves.
pub(crate) fn reserve(hints: Option<&Hints>) -> u32 {
    RESERVE + hints.map_or(0, |hints| hints.words.len() as u32 - 1)
}

/// Retries that fit, of a page of the slowest kind, for each word.
fn allowed(config: &DriveConfig) -> [u8; AccessLatency::COUNT] {
    let (t, ecc, hints) = (&config.timing, &config.ecc, &config.hints);
    let most = ecc.levels().saturating_sub(1);
    let page = config.geometry.page_size.0;
    let (transfer, link) = (transfer_ns(page, t.channel_mb_s), transfer_ns(page, t.host_mb_s));
    let fits = |budget: f64| {
        let of_kind = |sense_us: f64| {
            let first = us(sense_us) + transfer + us(t.ecc_us) + link;
            let retry = |k: usize| {
                let sense = ecc.retry_sense_us.get(k).map_or(us(sense_us), |time| us(*time));
                sense
                    + ecc.retry_transfer_us.get(k).map_or(transfer, |time| us(*time))
                    + us(ecc.retry_decode_us[k])
            };
            let takes = |retries: usize| first + (0..retries).map(retry).sum::<u64>();
            (0..=most).take_while(|retries| takes(*retries) <= us(budget)).last().unwrap_or(0)
        };
        t.sense_per_kind_us(config.geometry.cell).into_iter().map(of_kind).min().unwrap_or(0) as u8
    };
    let without = config.reclaim.retries.min(most as u32) as u8;
    [hints.smallest_us, Some(hints.typical_us), Some(hints.idle_us)]
        .map(|budget| budget.map_or(without, fits))
}

impl Oracle {
    /// The technique loses nothing: reads are held to the budgets of their blocks. Where chance
    /// draws their retries a page whose budget has room for its data may take more all the same,
    /// though seldom: one read proves nothing there.
    pub fn expect_budgets(&mut self, config: &DriveConfig) {
        if let Some(hints) = self.hints.as_mut().filter(|_| !config.error.noise) {
            hints.held = Some(if config.keeps_time() { config.longest_age().0 } else { u64::MAX });
        }
    }

    /// Free blocks that cleaning leaves to moves.
    pub(crate) fn reserve(&self) -> u32 {
        reserve(self.hints.as_ref())
    }

    /// Counts the pages that requests are going to read.
    pub(crate) fn expect_reads(&mut self, requests: &[Request]) {
        let is_full = self.is_full();
        let Some(hints) = &mut self.hints else { return };
        for request in requests.iter().filter(|request| request.op == Op::Read && request.bytes > 0)
        {
            let (size, end) =
                (u64::from(hints.page_bytes), request.offset + u64::from(request.bytes));
            for lpn in (request.offset / size..end.div_ceil(size)).map(|lpn| Lpn::new(lpn as u32)) {
                let word = request.hint.unwrap_or_else(|| hints.word(lpn));
                hints.counts[word as usize].reads += 1;
            }
            hints.unknown |= request.hint.is_some() && !is_full;
        }
    }

    /// Reads come without requests.
    pub(crate) fn expect_bulk(&mut self) {
        if let Some(hints) = &mut self.hints {
            hints.is_bulk = true;
        }
    }

    /// So many reads of a block came in bulk.
    pub(crate) fn read_by_hint(&mut self, block: BlockId, reads: u64) {
        if let Some(hints) = &mut self.hints {
            hints.in_bulk[hints.goes_by[block.index()].unwrap_or_default() as usize] += reads;
        }
    }

    /// A page is programmed: it goes where data of its word is.
    pub(crate) fn program_by_hint(&mut self, at: At, lpn: Lpn, origin: Origin) {
        let Some(hints) = &mut self.hints else { return };
        let within =
            matches!(origin, Origin::Copy(from) if self.geometry.block_of(from) == at.block);
        let checked = hints.program(at.block, lpn, within);
        self.findings.note(Kind::Books, checked);
    }

    /// A block holds data from the start: it goes by the tightest word of it.
    pub(crate) fn preload_by_hint(&mut self, block: BlockId, lpns: &[Lpn]) {
        let Some(hints) = &mut self.hints else { return };
        let words = lpns.iter().filter(|lpn| **lpn != NO_LPN).map(|lpn| hints.word(*lpn));
        hints.goes_by[block.index()] = words.min();
        if !lpns.is_empty() {
            hints.take(block);
        }
    }

    /// A block is erased.
    pub(crate) fn erase_by_hint(&mut self, block: BlockId) {
        if let Some(hints) = &mut self.hints {
            hints.goes_by[block.index()] = None;
            hints.free += u32::from(std::mem::take(&mut hints.used[block.index()]));
        }
    }

    /// All of a block, or some, is moved so that its data lies among its own: enough of what is
    /// valid in it is more relaxed than the block.
    pub(crate) fn check_regrouping(&mut self, block: BlockId, in_part: bool) {
        let first = self.geometry.first_page(block);
        let stamps =
            (0..self.geometry.pages_per_block).filter_map(|page| self.carried(first + page));
        let valid: Vec<Lpn> =
            stamps.filter(|stamp| self.stamps.is_live(*stamp)).map(|stamp| stamp.lpn).collect();
        let Some((hints, least)) =
            self.hints.as_ref().and_then(|hints| Some((hints, hints.regroup?)))
        else {
            return self.findings.add(Kind::Books, || {
                format!("block {block} is regrouped by hints, but no hint requires that")
            });
        };
        let goes_by = hints.goes_by[block.index()].unwrap_or_default();
        let relaxed = valid.iter().filter(|lpn| hints.word(**lpn) > goes_by).count();
        if in_part || (relaxed as f64) < least * valid.len() as f64 || relaxed == 0 {
            let all = valid.len();
            self.findings.add(Kind::Books, || {
                format!(
                    "block {block} is regrouped by hints with {relaxed} of {all} valid pages more \
                     relaxed than the block; their share must be at least {least}, and all pages \
                     must move"
                )
            });
        }
    }

    /// A page that nobody wants fills a block up.
    pub(crate) fn pad_by_hint(&mut self, block: BlockId) {
        if let Some(hints) = &mut self.hints {
            hints.take(block);
        }
    }

    /// The word that a block goes by is another than the policy was told of, if it is.
    pub(crate) fn wrong_budget(&self, block: BlockId, told: AccessLatency) -> Option<String> {
        let goes_by = self.hints.as_ref()?.goes_by[block.index()]?;
        (goes_by != told)
            .then(|| format!("access latency {}; it is {}", told.name(), goes_by.name()))
    }

    /// A read of the host's took retries: no more than it may, and it is counted where it took more
    /// than its data's word allows.
    pub(crate) fn judge_latency(&mut self, read: &PhysRead, at: At) {
        let Some(hints) = &mut self.hints else { return };
        if read.cause != Cause::Host || read.fill {
            return;
        }
        let word = self.requests.hint.unwrap_or_else(|| hints.word(read.lpn));
        hints.counts[word as usize].missed += u64::from(read.retries > hints.allows[word as usize]);
        let (Some(longest), Some(goes_by)) = (hints.held, hints.goes_by[at.block.index()]) else {
            return;
        };
        if self.ageing.age(at.block, None) > longest {
            return;
        }
        let of_table = |table: &LimitTable| {
            table.retries_at(
                goes_by,
                table.group_of(WordlineInBlock::new(at.index)),
                self.doses.pec_of(at.block),
            )
        };
        let raised = hints.raised.as_ref().map_or(0, of_table);
        let allowed = hints.allows[goes_by as usize].max(raised);
        if read.retries > allowed {
            let (lpn, retries, place) = (read.lpn, read.retries, self.place(read.ppn));
            self.findings.add(Kind::Limit, || {
                format!(
                    "host read of lpn {lpn} at {place} took {retries} retries; {} data may \
                         take {allowed}",
                    goes_by.name()
                )
            });
        }
    }

    /// Counts begin anew.
    pub(crate) fn forget_hint_counts(&mut self) {
        if let Some(hints) = &mut self.hints {
            (hints.counts, hints.in_bulk) = Default::default();
        }
    }

    /// What the drive reports of hints, against what was seen.
    pub(crate) fn check_hints(&mut self, drive: &Drive) {
        let (Some(hints), Some(outcomes)) = (&self.hints, drive.hint_outcomes()) else { return };
        for of in outcomes {
            let (seen, allows) =
                (hints.counts[of.latency as usize], hints.allows[of.latency as usize]);
            let pages =
                drive.map_rows().filter(|row| hints.word(row.lpn) == of.latency).count() as u64;
            let missed = if hints.unknown { of.counts.missed } else { seen.missed };
            // Of reads in bulk more is known of all words together.
            let reads = if hints.is_bulk { of.counts.reads } else { seen.reads };
            let seen = HintCounts { reads, missed };
            let claimed = (of.counts, of.budget.retries, of.pages);
            if claimed != (seen, allows, pages) {
                self.findings.add(Kind::Books, || {
                    format!(
                        "the drive reports {claimed:?} for {} data; {:?} was seen",
                        of.latency.name(),
                        (seen, allows, pages)
                    )
                });
            }
        }
        if hints.is_bulk {
            let claimed = outcomes.map(|of| of.counts.reads);
            let checked = hints.add_up(claimed, self.seen.host_read_pages);
            self.findings.note(Kind::Books, checked);
        }
    }
}

impl Hints {
    /// Reads by word, in bulk and one by one: together they are all that there were, and data of a
    /// word or a tighter one was read in blocks that go by that word or a tighter one.
    fn add_up(&self, claimed: [u64; AccessLatency::COUNT], all: u64) -> Result<(), String> {
        let alone = all.saturating_sub(self.in_bulk.iter().sum());
        let (mut so_tight, mut at_most) = (0, alone);
        for (word, (claimed, in_bulk)) in
            AccessLatency::ALL.iter().zip(claimed.iter().zip(self.in_bulk))
        {
            (so_tight, at_most) = (so_tight + claimed, at_most + in_bulk);
            if so_tight > at_most {
                return Err(format!(
                    "the drive reports {so_tight} reads of {} data or stricter; their blocks have \
                     {at_most} reads",
                    word.name()
                ));
            }
        }
        if so_tight == all {
            Ok(())
        } else {
            Err(format!("the drive reports {so_tight} page reads by hint; there were {all}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use vpass_core::base::units::Bytes;

    /// Ranges of random places, lengths and ranks, byte by byte: the last of the highest rank says
    /// what a byte has, and the tightest byte decides about its page.
    #[test]
    fn words_of_pages_are_those_of_their_bytes() {
        const PAGE: u64 = 8;
        const PAGES: u64 = 16;
        let words = [AccessLatency::Idle, AccessLatency::Typical, AccessLatency::Smallest];
        let mut dice = Dice::new(7);
        for _ in 0..200 {
            let mut range = |_| HintRange {
                offset: Bytes(dice.between(0, PAGE * PAGES + 20)),
                bytes: Bytes(dice.between(0, 40)),
                access_latency: Some(dice.pick(&words)),
                rank: dice.between(0, 2) as u32,
            };
            let ranges: Vec<HintRange> = (0..6).map(&mut range).collect();
            let of_byte = |byte: u64| {
                let holds = |range: &&HintRange| {
                    (range.offset.0..range.offset.0 + range.bytes.0).contains(&byte)
                };
                let said = ranges.iter().filter(holds).max_by_key(|range| range.rank);
                said.and_then(|range| range.access_latency).unwrap_or_default()
            };
            let of_page = |page: u64| (page * PAGE..(page + 1) * PAGE).map(of_byte).min().unwrap();
            let expected: Vec<_> = (0..PAGES).map(of_page).collect();
            assert_eq!(words_of_pages(&ranges, PAGE, PAGES as u32), expected, "{ranges:?}");
        }
    }

    /// A hundred thousand ranges took a minute when each page looked through all of them.
    #[test]
    fn many_ranges_take_no_time() {
        let range = |n: u64| HintRange {
            offset: Bytes(n * 24),
            bytes: Bytes(16),
            access_latency: Some(AccessLatency::Idle),
            rank: 0,
        };
        let ranges: Vec<HintRange> = (0..100_000).map(range).collect();
        let words = words_of_pages(&ranges, 8, 300_000);
        assert_eq!(words.iter().filter(|word| **word == AccessLatency::Idle).count(), 200_000);
    }
}
