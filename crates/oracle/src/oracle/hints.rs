//! Checks that the drive obeys the host's hints. The hint of a page follows from the host's ranges,
//! byte by byte. The retries that a hint allows follow from the drive's timing.
//!
//! ```text
//! block                                          its hint              its pages
//! opened as usual                                of its first page     all have this hint
//! opened when only the reserve was free          tightest of all       have any hint
//! present from the start                         tightest of its data  have any hint
//! ```
//!
//! Under a technique that loses no data, no host read takes more retries than the hint of its block
//! allows. There are two exceptions: the longest age of data needs more retries, or retries are
//! random (`error.noise`).

use std::collections::BTreeMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{BlockId, Cause, Lpn, WordlineInBlock, transfer_ns, us};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::Drive;
use vpass_drive::hint_counts::HintCounts;
use vpass_drive::hints::HintRange;
use vpass_drive::watch::observer::{NO_LPN, Origin, PhysRead};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Number of free blocks that only moves may take, if all data has one hint.
const RESERVE: u32 = 2;

/// Returns the hint of each of `pages` pages, which is the tightest hint of its bytes. Ranges are
/// painted over each other in the order of their rank. So the time is n log n in ranges, and linear
/// in pages.
fn words_of_pages(ranges: &[HintRange], page_bytes: u64, pages: u32) -> Vec<AccessLatency> {
    let mut by_rank: Vec<&HintRange> = ranges.iter().filter(|range| range.bytes.0 > 0).collect();
    by_rank.sort_by_key(|range| range.rank);
    // First bytes of stretches with one hint.
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

/// Hints of the host's pages, and the hint of each block.
#[derive(Debug)]
pub(crate) struct Hints {
    /// Hint of each host page.
    of_page: Vec<AccessLatency>,
    page_bytes: u32,
    /// Hints that occur, the tightest first.
    words: Vec<AccessLatency>,
    /// Number of retries that each hint allows.
    allows: [u8; AccessLatency::COUNT],
    /// Hint of each block that holds data.
    goes_by: Vec<Option<AccessLatency>>,
    /// Whether each block holds data, and the number of blocks without data. They are known at
    /// every level of the oracle, while wear is followed at one level only.
    used: Vec<bool>,
    free: u32,
    /// Whether a page may wait for other pages while blocks become free.
    by_wordline: bool,
    counts: [HintCounts; AccessLatency::COUNT],
    /// Reads in bulk, by the hint of their blocks. They come without requests.
    in_bulk: [u64; AccessLatency::COUNT],
    is_bulk: bool,
    /// Whether reads had their own hints, which were not followed.
    unknown: bool,
    /// Limits, if techniques use more retries than a hint allows.
    raised: Option<LimitTable>,
    /// Share of a block's valid pages that must have a more relaxed hint than the block before it
    /// is moved in the background.
    regroup: Option<f64>,
    /// Longest age of data whose reads are checked against the hint of their blocks; `None` if
    /// reads are not checked.
    held: Option<u64>,
}

impl Hints {
    /// Returns `None` if the host gives no hints.
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
            by_wordline: config.timing.program_unit == vpass_drive::config::ProgramUnit::Wordline,
            counts: Default::default(),
            in_bulk: [0; AccessLatency::COUNT],
            is_bulk: false,
            unknown: false,
            raised: LimitTable::of(config),
            regroup: config.hints.regroup,
            held: None,
        })
    }

    /// Returns the hint of a page, which is the tightest hint of its bytes.
    fn word(&self, lpn: Lpn) -> AccessLatency {
        self.of_page.get(lpn.index()).copied().unwrap_or_default()
    }

    /// Records that a block holds data from now on.
    fn take(&mut self, block: BlockId) {
        let used = &mut self.used[block.index()];
        self.free -= u32::from(!std::mem::replace(used, true));
    }

    /// Checks the program of a page.
    fn program(&mut self, block: BlockId, lpn: Lpn, within: bool) -> Result<(), String> {
        self.take(block);
        let free = self.free;
        let (word, tightest) = (self.word(lpn), self.words[0]);
        let under_pressure = free <= RESERVE || self.by_wordline;
        let goes_by = &mut self.goes_by[block.index()];
        let Some(goes_by) = *goes_by else {
            // The block itself was free before.
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

/// Returns the number of retries that fit for each hint, for a page of the slowest kind.
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
    /// Checks reads against the budgets of their blocks, under a technique that loses no data. With
    /// random retries, a page within its budget may sometimes take more retries, so a single read
    /// proves nothing.
    pub fn expect_budgets(&mut self, config: &DriveConfig) {
        if let Some(hints) = self.hints.as_mut().filter(|_| !config.error.noise) {
            hints.held = Some(if config.keeps_time() { config.longest_age().0 } else { u64::MAX });
        }
    }

    /// Free blocks that cleaning leaves to moves.
    pub(crate) fn reserve(&self) -> u32 {
        reserve(self.hints.as_ref())
    }

    /// Counts the pages that requests will read.
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

    /// Records that reads come without requests.
    pub(crate) fn expect_bulk(&mut self) {
        if let Some(hints) = &mut self.hints {
            hints.is_bulk = true;
        }
    }

    /// Counts reads of a block in bulk.
    pub(crate) fn read_by_hint(&mut self, block: BlockId, reads: u64) {
        if let Some(hints) = &mut self.hints {
            hints.in_bulk[hints.goes_by[block.index()].unwrap_or_default() as usize] += reads;
        }
    }

    /// Checks that a programmed page lies with data of the same hint.
    pub(crate) fn program_by_hint(&mut self, at: At, lpn: Lpn, origin: Origin) {
        let Some(hints) = &mut self.hints else { return };
        let within =
            matches!(origin, Origin::Copy(from) if self.geometry.block_of(from) == at.block);
        let checked = hints.program(at.block, lpn, within);
        self.findings.note(Kind::Books, checked);
    }

    /// Records a block that holds data from the start. It has the tightest hint of this data.
    pub(crate) fn preload_by_hint(&mut self, block: BlockId, lpns: &[Lpn]) {
        let Some(hints) = &mut self.hints else { return };
        let words = lpns.iter().filter(|lpn| **lpn != NO_LPN).map(|lpn| hints.word(*lpn));
        hints.goes_by[block.index()] = words.min();
        if !lpns.is_empty() {
            hints.take(block);
        }
    }

    /// Records that a block is erased.
    pub(crate) fn erase_by_hint(&mut self, block: BlockId) {
        if let Some(hints) = &mut self.hints {
            hints.goes_by[block.index()] = None;
            hints.free += u32::from(std::mem::take(&mut hints.used[block.index()]));
        }
    }

    /// Checks a move that regroups the data of a block. Enough of its valid pages must have a more
    /// relaxed hint than the block. The drive may still hold data as valid that was reported lost, or
    /// that a partial write in the buffer replaces. Such a page counts if it is more relaxed.
    pub(crate) fn check_regrouping(&mut self, block: BlockId, in_part: bool) {
        let first = self.geometry.first_page(block);
        let stamps: Vec<_> = (0..self.geometry.pages_per_block)
            .filter_map(|page| self.carried(first + page))
            .collect();
        let Some((hints, least)) =
            self.hints.as_ref().and_then(|hints| Some((hints, hints.regroup?)))
        else {
            return self.findings.add(Kind::Books, || {
                format!("block {block} is regrouped by hints, but no hint requires that")
            });
        };
        let goes_by = hints.goes_by[block.index()].unwrap_or_default();
        let (mut relaxed, mut all) = (0, 0);
        for stamp in stamps {
            let is_relaxed = hints.word(stamp.lpn) > goes_by;
            let is_live = self.stamps.is_live(stamp);
            let may_be_valid =
                self.stamps.is_partly_written(stamp.lpn) || self.stamps.is_what_was_lost(stamp);
            if is_live || is_relaxed && may_be_valid {
                all += 1;
                relaxed += u32::from(is_relaxed);
            }
        }
        if in_part || f64::from(relaxed) < least * f64::from(all) || relaxed == 0 {
            self.findings.add(Kind::Books, || {
                format!(
                    "block {block} is regrouped by hints with {relaxed} of {all} valid pages more \
                     relaxed than the block; their share must be at least {least}, and all pages \
                     must move"
                )
            });
        }
    }

    /// Records that padding fills a page of a block.
    pub(crate) fn pad_by_hint(&mut self, block: BlockId) {
        if let Some(hints) = &mut self.hints {
            hints.take(block);
        }
    }

    /// Returns an error if the policy received a wrong hint for a block.
    pub(crate) fn wrong_budget(&self, block: BlockId, told: AccessLatency) -> Option<String> {
        let goes_by = self.hints.as_ref()?.goes_by[block.index()]?;
        (goes_by != told)
            .then(|| format!("access latency {}; it is {}", told.name(), goes_by.name()))
    }

    /// Checks the retries of a host read, and counts the read if it took more than the hint of its
    /// data allows.
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

    /// Starts the counts again.
    pub(crate) fn forget_hint_counts(&mut self) {
        if let Some(hints) = &mut self.hints {
            (hints.counts, hints.in_bulk) = Default::default();
        }
    }

    /// Compares the drive's report about hints with the oracle's counts.
    pub(crate) fn check_hints(&mut self, drive: &Drive) {
        let (Some(hints), Some(outcomes)) = (&self.hints, drive.hint_outcomes()) else { return };
        for of in outcomes {
            let (seen, allows) =
                (hints.counts[of.latency as usize], hints.allows[of.latency as usize]);
            let pages =
                drive.map_rows().filter(|row| hints.word(row.lpn) == of.latency).count() as u64;
            let missed = if hints.unknown { of.counts.missed } else { seen.missed };
            // For reads in bulk, only the sum over all hints is known.
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
    /// Checks the reads by hint, in bulk and one by one. Their sum must be the number of all reads.
    /// Reads of data with a hint, or a tighter hint, must be in blocks with this hint, or a tighter
    /// hint.
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
    use vpass_drive::base::units::Bytes;

    /// Compares ranges of random places, lengths and ranks, byte by byte. The last range of the
    /// highest rank decides about a byte, and the tightest byte decides about its page.
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

    /// Checks that a hundred thousand ranges take little time. A search of all ranges for each page
    /// took a minute.
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
