//! A random host. It sends requests by a virtual clock and compares each read with the plain array.

use std::collections::BTreeMap;
use std::ops::Range;

use vpass_drive::base::request::Request;
use vpass_drive::base::splitmix;
use vpass_drive::base::units::{Lpn, Ns};
use vpass_live::{Action, Actor, Completion, Id, Refusal, SECTOR};

use super::cases::{is_lost, loses_memory};
use super::plain::{Plain, bytes_of, version_of};

/// Number of unchanged pages that are read at the end.
const OTHERS: u64 = 300;

/// One request in this number comes after a burst, which has this number of reads of a page.
const BURSTS: u64 = 300;
const BURST: u64 = 1000;

/// Request under way, with what its completion must show.
enum Under {
    Change(Range<u64>),
    Flush { has_stopped: bool },
    Read { sectors: Range<u64>, allowed: Vec<Vec<u64>>, is_lost: bool, may_be_lost: bool },
}

/// Random host of a live drive.
pub(crate) struct Host {
    pub(crate) actor: Actor,
    plain: Plain,
    under: BTreeMap<Id, Under>,
    seed: u64,
    drawn: u64,
    page: u64,
    now: Ns,
    /// Mean time between requests in ns, largest number of requests under way, and first sector and
    /// number of sectors of the place that most requests use.
    gap: Ns,
    depth: usize,
    hot: (u64, u64),
    /// Number of pieces into which each pause is cut.
    pieces: u64,
    /// Completions so far: the request, its time, and whether it failed.
    pub(crate) log: Vec<(Id, Ns, bool)>,
    /// Requests so far.
    pub(crate) requests: Vec<Request>,
    /// Flushes so far: the number of requests before each flush, and its time.
    pub(crate) flushes: Vec<(usize, Ns)>,
    pub(crate) reads: u64,
    pub(crate) errors: u64,
    pub(crate) stopped: bool,
}

impl Host {
    /// Creates a host that draws its requests from this seed.
    pub(crate) fn new(actor: Actor, seed: u64, pieces: u64) -> Self {
        let (capacity, page) = (actor.capacity(), u64::from(actor.drive().geometry().page_bytes));
        let mut host = Self {
            plain: Plain::new(capacity),
            under: BTreeMap::new(),
            seed,
            drawn: 0,
            page,
            now: 0,
            gap: 0,
            depth: 1,
            hot: (0, 1),
            pieces,
            log: vec![],
            requests: vec![],
            flushes: vec![],
            reads: 0,
            errors: 0,
            stopped: false,
            actor,
        };
        // Refresh then rewrites each page about 30 times.
        let long = host.actor.drive().config().refresh.period.0 / 50;
        host.gap = [1, 30_000, 2_000_000, long.max(1)][host.below(4) as usize];
        host.depth = [1, 4, 32][host.below(3) as usize];
        let pages = capacity / page;
        let width = [1, 3, 12, 50][host.below(4) as usize].min(pages);
        host.hot = (host.below(pages - width + 1) * page / SECTOR, width * page / SECTOR);
        host
    }

    /// Returns a random number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.drawn += 1;
        splitmix::number(self.seed, self.drawn) % end
    }

    /// Sends this number of requests, and waits for all of them.
    pub(crate) fn run(&mut self, requests: u64) {
        for _ in 0..requests {
            let pause = self.below(2 * self.gap);
            self.pass(self.now + pause);
            while self.under.len() >= self.depth {
                self.wait();
            }
            if self.stopped {
                break;
            }
            if self.below(BURSTS) == 0 {
                self.hammer();
            }
            self.send();
        }
        self.drain();
    }

    /// Reads all pages that were changed, and some of the others.
    pub(crate) fn read_all(&mut self) {
        let (sectors, pages) = (self.page / SECTOR, self.actor.capacity() / self.page);
        for page in 0..pages {
            let is_sampled = page.is_multiple_of(1 + pages / OTHERS);
            if !is_sampled && !self.plain.has_changed(page * sectors..(page + 1) * sectors) {
                continue;
            }
            self.read(page * sectors..(page + 1) * sectors);
            while !self.under.is_empty() && !self.stopped {
                self.wait();
            }
        }
    }

    fn drain(&mut self) {
        while !self.under.is_empty() {
            self.wait();
        }
    }

    /// Lets time pass up to `until`, in pieces.
    fn pass(&mut self, until: Ns) {
        let from = self.now;
        for piece in 1..=self.pieces {
            let part = u128::from(until - from) * u128::from(piece) / u128::from(self.pieces);
            self.now = from + part as Ns;
            let completed = self.actor.advance(self.now);
            for completion in completed {
                self.check(completion);
            }
        }
    }

    /// Lets time pass up to the drive's next event.
    fn wait(&mut self) {
        let next = self.actor.next_event().expect("a request is under way");
        self.pass(next.max(self.now));
    }

    /// Reads a page again and again.
    fn hammer(&mut self) {
        let (sectors, place) = (self.page / SECTOR, self.hot.0 + self.below(self.hot.1));
        let first = place / sectors * sectors;
        for _ in 0..BURST {
            self.read(first..first + sectors);
            while self.under.len() >= self.depth {
                self.wait();
            }
        }
    }

    fn send(&mut self) {
        let all = self.actor.capacity() / SECTOR;
        let of_page = self.page / SECTOR;
        let sectors = match self.below(10) {
            0..=4 => of_page,
            5..=7 => 1 + self.below(of_page),
            8 => of_page * (1 + self.below(5)),
            _ => 1 + self.below(3 * of_page),
        };
        let place =
            if self.below(4) < 3 { self.hot.0 + self.below(self.hot.1) } else { self.below(all) };
        let place = if sectors.is_multiple_of(of_page) { place / of_page * of_page } else { place };
        let sectors = place..(place + sectors).min(all);
        match self.below(21) {
            0..=11 => self.read(sectors),
            12..=18 => self.write(&sectors),
            19 => self.trim(&sectors),
            _ => {
                let has_stopped = self.actor.has_stopped();
                self.flushes.push((self.requests.len(), self.actor.now()));
                self.under.insert(self.actor.flush(), Under::Flush { has_stopped });
            }
        }
    }

    fn submit(&mut self, sectors: &Range<u64>, action: Action) -> Option<Id> {
        let request = action.request(self.actor.now(), sectors.start * SECTOR);
        match self.actor.submit(request.offset, action, None) {
            Ok(id) => {
                self.requests.push(request);
                Some(id)
            }
            Err(Refusal::Stopped(_)) => {
                self.stopped = true;
                None
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn write(&mut self, sectors: &Range<u64>) {
        let version = self.drawn;
        let bytes = sectors.clone().flat_map(|sector| bytes_of(sector, version)).collect();
        if let Some(id) = self.submit(sectors, Action::Write(bytes)) {
            self.plain.begin(id, sectors.clone(), version);
            self.under.insert(id, Under::Change(sectors.clone()));
        }
    }

    fn trim(&mut self, sectors: &Range<u64>) {
        let bytes = (sectors.end - sectors.start) * SECTOR;
        if let Some(id) = self.submit(sectors, Action::Trim(bytes as u32)) {
            // A drive trims only whole pages.
            let of_page = self.page / SECTOR;
            let first = sectors.start.div_ceil(of_page) * of_page;
            let whole = first..(sectors.end / of_page * of_page).max(first);
            self.plain.begin(id, whole.clone(), 0);
            self.under.insert(id, Under::Change(whole));
        }
    }

    fn read(&mut self, sectors: Range<u64>) {
        let allowed = sectors.clone().map(|sector| self.plain.allowed(sector)).collect();
        let is_lost = self.any_is_lost(&sectors);
        let bytes = (sectors.end - sectors.start) * SECTOR;
        if let Some(id) = self.submit(&sectors, Action::Read(bytes as u32)) {
            let may_be_lost = self.any_is_lost(&sectors);
            // A read that waits, or that a change overtakes, may find another state.
            let is_lost = is_lost && self.under.is_empty();
            let may_be_lost = may_be_lost || !self.under.is_empty();
            self.under.insert(id, Under::Read { sectors, allowed, is_lost, may_be_lost });
        }
    }

    fn any_is_lost(&mut self, sectors: &Range<u64>) -> bool {
        let of_page = self.page / SECTOR;
        (sectors.start / of_page..=(sectors.end - 1) / of_page)
            .any(|page| is_lost(&mut self.actor, Lpn::new(page as u32)))
    }

    /// Checks a completion.
    fn check(&mut self, completion: Completion) {
        let Completion { id, at, result } = completion;
        assert!(at <= self.now, "request {id} is answered at {}, due at {at}", self.now);
        self.log.push((id, at, result.is_err()));
        match self.under.remove(&id).expect("a request completes once") {
            Under::Change(sectors) => self.plain.end(id, sectors),
            Under::Flush { has_stopped } => {
                let is_last = self.under.keys().all(|other| *other > id);
                assert!(
                    result.is_err() || !has_stopped && (is_last || !loses_memory(self.seed)),
                    "seed {}: flush {id} overtakes an earlier request or the end of the drive",
                    self.seed
                );
            }
            Under::Read { sectors, allowed, is_lost, may_be_lost } => {
                self.reads += 1;
                let Ok(bytes) = result else {
                    self.errors += 1;
                    let has_stopped = self.actor.has_stopped();
                    assert!(
                        may_be_lost || has_stopped,
                        "seed {}, read {id} of {sectors:?}: EIO",
                        self.seed
                    );
                    return;
                };
                assert!(!is_lost, "seed {}, read {id} of {sectors:?}: lost data", self.seed);
                for ((sector, bytes), allowed) in
                    sectors.zip(bytes.chunks(SECTOR as usize)).zip(allowed)
                {
                    let found = version_of(sector, bytes);
                    assert!(
                        found.is_some_and(|version| allowed.contains(&version)),
                        "seed {}, read {id}: sector {sector} has version {found:?}, not {allowed:?}",
                        self.seed
                    );
                }
            }
        }
    }
}
