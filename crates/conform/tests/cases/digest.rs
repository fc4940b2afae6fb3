//! Digests of what a case leaves. They consist of words and numbers that this file names one by
//! one. So they do not depend on the types of the drive, nor on names in its sources.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::drive::Drive;
use vpass_drive::flash::block::BlockState;
use vpass_drive::watch::event::{Event, Fact};
use vpass_drive::watch::observer::{Origin, PhysRead, ReadResult};
use vpass_drive::watch::watcher::Watcher;

/// Number for a value that is absent.
const NONE: u64 = u64::MAX;

/// Digest of rows of words and numbers.
#[derive(Clone)]
pub(crate) struct Digest {
    pub(crate) value: u64,
    /// Rows as text, if they are kept.
    pub(crate) log: Option<String>,
}

impl Digest {
    pub(crate) fn new(is_logged: bool) -> Self {
        Self { value: 0xCBF2_9CE4_8422_2325, log: is_logged.then(String::new) }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, words: &[&str], numbers: &[u64]) {
        words.iter().for_each(|word| self.word(word));
        numbers.iter().for_each(|number| self.number(*number));
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{} {numbers:?}", words.join(" "));
        }
    }

    fn number(&mut self, number: u64) {
        self.value = (self.value.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.value ^= self.value >> 32;
    }

    fn word(&mut self, word: &str) {
        for part in word.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..part.len()].copy_from_slice(part);
            self.number(u64::from_le_bytes(bytes));
        }
        self.number(word.len() as u64);
    }
}

/// What a watcher heard of a case.
pub(crate) struct Heard {
    pub(crate) events: Digest,
    /// Times of the events.
    pub(crate) times: Digest,
}

/// Watcher that makes digests of events.
pub(crate) struct Ear(pub(crate) Arc<Mutex<Heard>>);

impl Watcher for Ear {
    fn events(&mut self, batch: &[Event]) {
        let mut heard = self.0.lock().expect("another thread panicked");
        batch.iter().for_each(|event| heard.event(event));
    }

    fn wants_reads(&self) -> bool {
        true
    }

    fn reads(&mut self, _: Ns, batch: &[PhysRead]) {
        let mut heard = self.0.lock().expect("another thread panicked");
        batch.iter().for_each(|read| heard.read(read));
    }
}

impl Heard {
    pub(crate) fn new(is_logged: bool) -> Self {
        let [events, times] = [(); 2].map(|()| Digest::new(is_logged));
        Self { events, times }
    }

    fn read(&mut self, read: &PhysRead) {
        let result = match read.result {
            ReadResult::Good => "good",
            ReadResult::Uncorrectable => "uncorrectable",
            ReadResult::InMemory => "in_memory",
        };
        let place = [read.lpn.number().into(), read.ppn.number().into()];
        let how = [read.fill.into(), read.retries.into()];
        self.events.row(&["read", read.cause.name(), result], &[place, how].concat());
    }

    fn event(&mut self, event: &Event) {
        let (words, numbers) = said(&event.fact);
        self.times.row(&["event"], &[event.at]);
        self.events.row(&words, &numbers);
    }
}

/// Returns the words and the numbers of a fact.
fn said(fact: &Fact) -> (Vec<&'static str>, Vec<u64>) {
    let n = |number: u32| u64::from(number);
    let (cause, numbers) = match *fact {
        Fact::MeasuredPhase | Fact::RebuildDone => (None, vec![]),
        Fact::ClockRestarted { passed } => (None, vec![passed]),
        Fact::Wrote { request, lpn, whole } => (None, vec![request, n(lpn.number()), whole.into()]),
        Fact::Trimmed { lpn }
        | Fact::Lost { lpn }
        | Fact::Rebuilt { lpn }
        | Fact::Superseded { lpn } => (None, vec![n(lpn.number())]),
        Fact::Programmed { ppn, lpn, origin, cause } => {
            let (origin, from) = match origin {
                Origin::Host => ("host", NONE),
                Origin::Copy(from) => ("copy", n(from.number())),
                Origin::Gathered => ("gathered", NONE),
                // The numbers of such computations are the drive's own.
                Origin::Xor(_) => ("xor", NONE),
            };
            let words = vec![fact.name(), cause.name(), origin];
            return (words, vec![n(ppn.number()), n(lpn.number()), from]);
        }
        Fact::Padded { ppn, cause } => (Some(cause), vec![n(ppn.number())]),
        Fact::Merged { block, wordline, mode, cause } => {
            (Some(cause), vec![n(block.number()), n(wordline.number()), mode.into()])
        }
        Fact::Recoded { block, wordline, mode } => {
            let wordline = wordline.map_or(NONE, |wordline| n(wordline.number()));
            (None, vec![n(block.number()), wordline, mode.into()])
        }
        Fact::Alarm { block } | Fact::JobEnded { block } => (None, vec![n(block.number())]),
        Fact::JobBegan { block, pages, cause } => {
            (Some(cause), vec![n(block.number()), pages.map_or(NONE, n)])
        }
        Fact::Erased { block, cause } => (Some(cause), vec![n(block.number())]),
        Fact::Failed { first, pages } => (None, vec![n(first.number()), n(pages)]),
        Fact::Unprotected { stripe }
        | Fact::AwaitsParity { stripe }
        | Fact::NeedsNoParity { stripe } => (None, vec![n(stripe)]),
        Fact::LivesIn { stage } => (None, vec![stage.into()]),
    };
    ([fact.name()].into_iter().chain(cause.map(Cause::name)).collect(), numbers)
}

/// Adds the map: where each page lies.
pub(crate) fn map(drive: &Drive, digest: &mut Digest) {
    for row in drive.all_map_rows() {
        let place = [row.lpn.number().into(), row.ppn.number().into(), row.buffered.into()];
        digest.row(&[], &place);
    }
}

/// Adds the blocks.
pub(crate) fn blocks(drive: &Drive, digest: &mut Digest) {
    for row in drive.block_states() {
        let state = match row.state {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
        };
        // Reads count in quarters of a unit.
        let reads = (row.reads * 4.0) as u64;
        digest.row(&[state], &[row.pec.into(), row.effective_milli, row.cycles.into(), reads]);
        digest.row(&["written"], &[row.mode.into(), row.valid.into(), row.written.into()]);
        digest.row(&["failed"], &[row.left_to_parity.into(), row.has_failed.into()]);
    }
}

/// Adds all counts of the measured phase.
pub(crate) fn counts(drive: &Drive, digest: &mut Digest) {
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
    row("began higher", &[c.began_higher]);
    row("other pages", &[c.padded_pages, c.recovered_pages, c.soft_errors]);
    let c = drive.refresh_counts();
    row("refresh jobs", &[c.invocations, c.deadline_misses, c.no_room]);
    row("refresh of open blocks", &[c.open_blocks, c.unused_pages]);
    row("refresh in place", &[c.merged_wordlines, c.corrupted_pages]);
    let c = drive.parity_counts();
    row("parity written", &[c.modified, c.whole, c.delayed, c.formed, c.dissolved]);
    row("parity lost", &[c.given_up, c.exposed, c.made_whole, drive.unprotected_stripes()]);
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
        row("rebuilt in background", &[books.rebuilt_in_background]);
        row("rebuilt for requests", &[books.rebuilt_for_reads, books.rebuilt_for_writes]);
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
