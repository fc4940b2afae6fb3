//! Digests of what a case leaves. They consist of words and numbers that this file names one by
//! one. So they depend neither on the types of the drive nor on names in its sources.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::drive::Drive;
use vpass_drive::flash::block::BlockState;
use vpass_drive::watch::observer::{Event, Observer, Origin, PhysRead, ReadResult};

/// Number for a value that is absent.
const NONE: u64 = u64::MAX;

/// Largest number of events of a case. A drive that has more of them never ends.
const MOST_EVENTS: u64 = 5_000_000;

/// Digest of rows of words and numbers (FNV-1a, 64 bits).
pub(super) struct Digest {
    value: u64,
    /// Rows as text, if they are kept.
    log: Option<String>,
}

impl Digest {
    pub(super) fn new(is_logged: bool) -> Self {
        Self { value: 0xCBF2_9CE4_8422_2325, log: is_logged.then(String::new) }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, words: &[&str], numbers: &[u64]) {
        for word in words {
            word.bytes().chain([b' ']).for_each(|byte| self.mix(byte.into()));
        }
        numbers.iter().chain([&NONE]).for_each(|number| self.mix(*number));
        if let Some(log) = &mut self.log {
            let numbers: Vec<String> = numbers
                .iter()
                .map(|n| if *n == NONE { "-".into() } else { n.to_string() })
                .collect();
            let _ = writeln!(log, "{} {}", words.join(" "), numbers.join(" "));
        }
    }

    fn mix(&mut self, number: u64) {
        self.value = (self.value ^ number).wrapping_mul(0x0100_0000_01B3);
        self.value ^= self.value >> 32;
    }

    /// Adds the rows of another digest at the end.
    pub(super) fn join(&mut self, other: Self) {
        self.mix(other.value);
        self.log = self.log.take().zip(other.log).map(|(own, others)| own + &others);
    }

    /// Returns the digest in 32 bits.
    pub(super) fn word(&self) -> u32 {
        (self.value ^ self.value >> 32) as u32
    }

    /// Returns the rows.
    pub(super) fn log(&self) -> &str {
        self.log.as_deref().unwrap_or_default()
    }
}

/// Observer that makes digests of events.
pub(super) struct Ear {
    pub(super) events: Digest,
    /// Times of the jobs and erases.
    pub(super) times: Digest,
    /// Kinds of events, as words.
    pub(super) kinds: BTreeSet<Vec<&'static str>>,
    count: u64,
    now: Ns,
}

impl Ear {
    pub(super) fn new(is_logged: bool) -> Self {
        let [events, times] = [(); 2].map(|()| Digest::new(is_logged));
        Self { events, times, kinds: BTreeSet::new(), count: 0, now: 0 }
    }

    fn read(&mut self, read: &PhysRead) {
        let result = match read.result {
            ReadResult::Good => "good",
            ReadResult::Uncorrectable => "uncorrectable",
            ReadResult::InMemory => "in memory",
        };
        let place = [read.lpn.number().into(), read.ppn.number().into()];
        let words = vec!["read", read.cause.name(), result];
        self.hear(words, &[place, [read.fill.into(), read.retries.into()]].concat());
    }

    fn hear(&mut self, words: Vec<&'static str>, numbers: &[u64]) {
        self.count += 1;
        assert!(self.count <= MOST_EVENTS, "a case has more than {MOST_EVENTS} events");
        self.events.row(&words, numbers);
        if !self.kinds.contains(&words) {
            self.kinds.insert(words);
        }
    }
}

impl Observer for Ear {
    fn take(&mut self, event: Event<'_>) {
        let n = |number: u32| u64::from(number);
        match event {
            Event::Now { at } => return self.now = at,
            Event::Reads { batch } => return batch.iter().for_each(|read| self.read(read)),
            Event::JobBegan { .. } | Event::Erased { .. } => self.times.row(&["at"], &[self.now]),
            _ => {}
        }
        let (words, numbers): (&[&'static str], Vec<u64>) = match event {
            Event::ReadInBulk { block, reads, .. } => (&["bulk"], vec![n(block.number()), reads]),
            Event::ReadInBulkWithRetries(bulk) => {
                let sum = |of: &mut dyn Iterator<Item = u64>| of.sum::<u64>();
                let reads = sum(&mut bulk.reads.iter().map(|reads| n(*reads)));
                let retries = sum(&mut bulk.retries.iter().map(|retries| u64::from(*retries)));
                (&["bulk retries"], vec![n(bulk.block.number()), reads, retries])
            }
            Event::Wrote { request, lpn, whole } => {
                (&["wrote"], vec![request, n(lpn.number()), whole.into()])
            }
            Event::Trimmed { lpn } => (&["trimmed"], vec![n(lpn.number())]),
            Event::Lost { lpn } => (&["lost"], vec![n(lpn.number())]),
            Event::Rebuilt { lpn, .. } => (&["rebuilt"], vec![n(lpn.number())]),
            Event::Superseded { lpn } => (&["superseded"], vec![n(lpn.number())]),
            Event::Unprotected { stripe } => (&["unprotected"], vec![n(stripe)]),
            Event::Delayed { stripe, covered, exposed, .. } => {
                (&["delayed"], vec![n(stripe), covered, exposed])
            }
            Event::AwaitsParity { stripe } => (&["awaits parity"], vec![n(stripe)]),
            Event::NeedsNoParity { stripe } => (&["needs no parity"], vec![n(stripe)]),
            Event::LivesIn { stage } => (&["stage"], vec![stage.into()]),
            Event::Failed { pages } => (&["failed"], vec![pages.pages().count() as u64]),
            Event::RebuildDone => (&["rebuild done"], vec![]),
            Event::Padded { ppn, cause, .. } => (&["padded", cause.name()], vec![n(ppn.number())]),
            Event::Programmed { ppn, lpn, origin, cause, .. } => {
                let (origin, from) = match origin {
                    Origin::Host => ("new", NONE),
                    Origin::Copy(from) => ("copy", n(from.number())),
                    Origin::Gathered => ("gathered", NONE),
                    // The numbers of computations are the drive's own.
                    Origin::Xor(_) => ("xor", NONE),
                };
                let words = &["programmed", cause.name(), origin];
                return self.hear(words.to_vec(), &[n(ppn.number()), n(lpn.number()), from]);
            }
            Event::Merged { block, wordline, mode, cause } => {
                let place = vec![n(block.number()), n(wordline.number()), mode.into()];
                return self.hear(vec!["merged", cause.name()], &place);
            }
            Event::Recoded { block, wordline, mode } => {
                let wordline = wordline.map_or(NONE, |wordline| n(wordline.number()));
                (&["recoded"], vec![n(block.number()), wordline, mode.into()])
            }
            Event::JobBegan { block, pages, cause } => {
                let pages = pages.map_or(NONE, |pages| pages.iter().count() as u64);
                return self.hear(vec!["job", cause.name()], &[n(block.number()), pages]);
            }
            Event::JobEnded { block } => (&["job ended"], vec![n(block.number())]),
            Event::Erased { block, cause } => {
                return self.hear(vec!["erased", cause.name()], &[n(block.number())]);
            }
            Event::ClockRestarted { passed } => (&["clock restarted"], vec![passed]),
            Event::MeasuredPhase => (&["measured phase"], vec![]),
            // All others repeat what these tell, or are the drive's own.
            _ => return,
        };
        self.hear(words.to_vec(), &numbers);
    }
}

/// Adds the place of each page, and the state of each block.
pub(super) fn map(drive: &Drive, digest: &mut Digest) {
    for row in drive.all_map_rows() {
        let place = [row.lpn.number().into(), row.ppn.number().into(), row.buffered.into()];
        digest.row(&["page"], &place);
    }
    for (number, row) in drive.block_states().enumerate() {
        let state = match row.state {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
        };
        // Reads count in quarters of a unit.
        let reads = (row.reads * 4.0) as u64;
        let wear = [row.pec.into(), row.effective_milli, row.cycles.into(), reads];
        let data = [row.mode.into(), row.valid.into(), row.written.into()];
        let failed = [row.left_to_parity.into(), row.has_failed.into()];
        digest.row(&["block", state], &[&[number as u64], &wear[..], &data, &failed].concat());
    }
}

/// Adds all counts of the measured phase.
pub(super) fn counts(drive: &Drive, digest: &mut Digest) {
    let mut row = |name: &str, numbers: &[u64]| digest.row(&[name], numbers);
    let c = drive.host_counts();
    row("host requests", &[c.read_requests, c.write_requests, c.trim_requests]);
    row("host bytes", &[c.read_bytes, c.write_bytes]);
    row("host pages", &[c.read_pages, c.write_pages, c.trim_pages, c.unmapped_read_pages]);
    row("host parts", &[c.small_writes, c.partial_page_writes, c.fill_reads]);
    let c = drive.flash_counts();
    for cause in Cause::ALL {
        let of = cause as usize;
        row(cause.name(), &[c.reads[of], c.programs[of], c.erases[of], c.reprograms[of]]);
    }
    row("retried", &c.retried);
    row("flash", &[c.began_higher, c.padded_pages, c.recovered_pages, c.soft_errors]);
    let c = drive.refresh_counts();
    row("refresh jobs", &[c.invocations, c.deadline_misses, c.no_room, c.open_blocks]);
    row("refresh pages", &[c.unused_pages, c.merged_wordlines, c.corrupted_pages]);
    let c = drive.parity_counts();
    row("parity written", &[c.modified, c.whole, c.delayed, c.formed, c.dissolved, c.made_whole]);
    row("parity lost", &[c.given_up, c.exposed, drive.unprotected_stripes()]);
    row("parity used", &[c.rebuilt, c.recoveries]);
    let c = drive.reclaim_counts();
    row("reclaim jobs", &[c.alarms, c.invocations, c.deadline_misses, c.stall_ns]);
    row("reclaim pages", &[c.pages_copied, c.gc_erases, c.reprograms]);
    row("reclaim pool", &[c.pool_openings, c.pool_misses]);
    row("low density", &[c.low_density_refused, c.low_density_erases_by_gc]);
    row("low density used", &c.low_density_used.0);
    drive.technique_counts().iter().for_each(|(name, count)| row(name, &[*count]));
    for of in drive.hint_outcomes().into_iter().flatten() {
        let pages = [of.pages, of.pages_kept_tighter, of.counts.reads, of.counts.missed];
        row(of.latency.name(), &pages);
    }
    if let Some(books) = drive.failure_books() {
        let taken = books.taken;
        row("failed", &[books.happened.len() as u64, taken.pages, taken.twice_failed]);
        row("failed without parity", &[taken.unprotected, taken.not_worn, taken.waiting]);
        let rebuilt = [books.rebuilt_for_reads, books.rebuilt_for_writes];
        row("rebuilt", &[&[books.rebuilt_in_background], &rebuilt[..]].concat());
        let (request, at) = books.rebuild_done.unwrap_or((NONE, NONE));
        row("rebuild done", &[request, at]);
    }
    for range in drive.blamed_ranges() {
        let thousandths = (range.copies * 1e3).round() as u64;
        row("blamed", &[range.first.number().into(), range.pages.into(), thousandths]);
    }
    row("lost", &[drive.lost_pages(), drive.lost_by_age(), drive.uncorrectable_reads()]);
    row("oldest age", &[drive.oldest_age()]);
}
