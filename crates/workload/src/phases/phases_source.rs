//! Makes a stream of requests for one drive from the phases of a workload. Pages are kept as runs
//! of consecutive pages, so that a range of pages needs little memory.

use rand_core::SeedableRng;
use vpass_drive::base::request::{Op, Request, SourceError};
use vpass_drive::base::units::Lpn;
use vpass_drive::config::ConfigError;

use super::phases_config::{Order, PhaseConfig, PhasesConfig};
use crate::finite::{Draw, Finite};
use crate::synthetic::random::{Random, Streams, below};

/// Source of the requests of a workload with phases.
pub type PhasesSource = Finite<DrawnPhases>;

/// Generator of the requests of a workload with phases.
pub struct DrawnPhases {
    phases: Vec<Phase>,
    page_bytes: u32,
    /// Random stream for addresses.
    address: Random,
    /// Current phase, number of requests that remain of this phase, and position in the phase's
    /// list of pages.
    phase: usize,
    phase_left: u64,
    cursor: Cursor,
}

struct Phase {
    op: Op,
    requests: u64,
    order: Order,
    pages: Runs,
}

/// Ordered list of pages, stored as runs of consecutive pages.
pub(super) struct Runs {
    runs: Vec<Run>,
    pub(super) count: u64,
}

struct Run {
    first: Lpn,
    pages: u32,
    /// Total number of pages in all runs before this run.
    before: u64,
}

/// Position of the next page in an ordered list of pages.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    run: usize,
    page: u32,
}

impl Runs {
    pub(super) fn of(phase: &PhaseConfig) -> Self {
        let single = phase.pages.iter().map(|page| [*page, *page]);
        let mut all = Self { runs: vec![], count: 0 };
        for [first, last] in single.chain(phase.ranges.iter().copied()) {
            let pages = last - first + 1;
            match all.runs.last_mut() {
                Some(run) if run.first + run.pages == first => run.pages += pages,
                _ => all.runs.push(Run { first, pages, before: all.count }),
            }
            all.count += u64::from(pages);
        }
        all
    }

    /// Returns page number `n` of the list, counted from 0.
    pub(super) fn at(&self, n: u64) -> Lpn {
        let run = &self.runs[self.runs.partition_point(|run| run.before <= n) - 1];
        run.first + (n - run.before) as u32
    }

    /// Returns the page at the cursor, and moves the cursor to the next page.
    pub(super) fn next(&self, cursor: &mut Cursor) -> Lpn {
        let run = &self.runs[cursor.run];
        let page = run.first + cursor.page;
        cursor.page += 1;
        if cursor.page == run.pages {
            *cursor = Cursor {
                run: if cursor.run + 1 == self.runs.len() { 0 } else { cursor.run + 1 },
                page: 0,
            };
        }
        page
    }
}

impl PhasesSource {
    /// Makes the source for a drive that has `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if a page lies beyond the end of the drive.
    pub fn new(
        config: &PhasesConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        config.check(capacity / u64::from(page_bytes))?;
        let streams = Streams::after(Random::seed_from_u64(seed));
        let phase = |p: &PhaseConfig| Phase {
            op: p.op.into(),
            requests: p.requests,
            order: p.order,
            pages: Runs::of(p),
        };
        let phases: Vec<Phase> = config.phase.iter().map(phase).collect();
        let draw = DrawnPhases {
            page_bytes,
            address: streams.address,
            phase: 0,
            phase_left: phases[0].requests,
            cursor: Cursor::default(),
            phases,
        };
        Ok(Self::of(draw, config.requests(), config.arrival()).at_rate(
            config.rate,
            config.arrivals,
            streams.arrival,
        ))
    }
}

impl DrawnPhases {
    /// Begins the phase with the given number.
    fn begin(&mut self, phase: usize) {
        self.phase = phase;
        self.phase_left = self.phases[phase].requests;
        self.cursor = Cursor::default();
    }

    /// Appends `count` requests of the current phase to `out`.
    fn request(&mut self, count: u64, out: &mut Vec<Request>) {
        let phase = &self.phases[self.phase];
        let (page_bytes, op) = (self.page_bytes, phase.op);
        let request = |page: Lpn| Request::new(0, page.offset(page_bytes), page_bytes, op);
        match phase.order {
            Order::RoundRobin => {
                out.extend((0..count).map(|_| request(phase.pages.next(&mut self.cursor))));
            }
            Order::Random => out.extend(
                (0..count)
                    .map(|_| request(phase.pages.at(below(&mut self.address, phase.pages.count)))),
            ),
        }
    }
}

impl Draw for DrawnPhases {
    fn draw(&mut self, out: &mut Vec<Request>, count: usize) -> Result<(), SourceError> {
        let mut wanted = count as u64;
        while wanted > 0 {
            let count = wanted.min(self.phase_left);
            self.request(count, out);
            (wanted, self.phase_left) = (wanted - count, self.phase_left - count);
            if self.phase_left == 0 {
                self.begin((self.phase + 1) % self.phases.len());
            }
        }
        Ok(())
    }

    /// Starts the next pass with the first phase.
    fn begin_pass(&mut self) {
        self.begin(0);
    }

    fn memory(&self) -> u64 {
        self.phases.iter().map(|phase| size_of_val(phase.pages.runs.as_slice()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::{Arrival, RequestSource};

    use super::super::{PhaseOp, PhasesFile};
    use super::*;
    use crate::pass::PassSource;

    const PAGE: u32 = 4096;

    /// Makes the source of a workload table for a drive of 100 pages.
    fn source(table: &str) -> Result<PhasesSource, String> {
        let file = PhasesFile::parse(&format!("[workload]\n{table}")).map_err(|e| e.to_string())?;
        PhasesSource::new(&file.workload, 100 * u64::from(PAGE), PAGE, 1).map_err(|e| e.to_string())
    }

    /// Returns the page and the direction of every request of a source. Requests are drawn in
    /// batches of `at_once`.
    fn all(source: &mut PhasesSource, at_once: usize) -> Vec<(u64, Op)> {
        let mut out = vec![];
        loop {
            let before = out.len();
            source.fill(&mut out, at_once).unwrap();
            if out.len() == before {
                assert!(out.iter().all(|r| r.bytes == PAGE));
                return out.iter().map(|r| (r.offset / u64::from(PAGE), r.op)).collect();
            }
        }
    }

    #[test]
    fn phases_follow_each_other_and_start_again() {
        let table = "requests = 9\nphase = [{ pages = [5, 3], requests = 3 }, \
            { ranges = [[7, 8]], op = 'write', requests = 2 }]";
        let (r, w) = (Op::Read, Op::Write);
        let wanted = [(5, r), (3, r), (5, r), (7, w), (8, w), (5, r), (3, r), (5, r), (7, w)];
        for at_once in [1, 2, 100] {
            let mut source = source(table).unwrap();
            assert_eq!(source.len_hint(), Some(9));
            assert_eq!(all(&mut source, at_once), wanted);
            source.next_pass().unwrap();
            assert_eq!(all(&mut source, at_once), wanted, "a pass starts with the first phase");
        }
    }

    #[test]
    fn a_pass_is_one_round_by_default() {
        let mut source = source(
            "phase = [{ pages = [1], requests = 2, op = 'trim' }, { pages = [2], requests = 1 }]",
        )
        .unwrap();
        assert_eq!(source.arrival(), Arrival::Closed { depth: 64 });
        assert_eq!(all(&mut source, 10), [(1, Op::Trim), (1, Op::Trim), (2, Op::Read)]);
    }

    #[test]
    fn random_order_takes_every_page_and_is_the_same_again() {
        let table = "phase = [{ pages = [90, 1, 90], ranges = [[10, 14]], order = 'random', \
            requests = 8000 }]";
        let pages = all(&mut source(table).unwrap(), 64);
        assert_eq!(pages, all(&mut source(table).unwrap(), 1000));
        let of = |page| pages.iter().filter(|(p, _)| *p == page).count();
        // Each page is expected 1,000 times, and the page named twice 2,000 times. The standard
        // errors are 30 and 39.
        assert!((1800..2200).contains(&of(90)), "{}", of(90));
        assert!([1, 10, 11, 12, 13, 14].iter().all(|p| (850..1150).contains(&of(*p))));
    }

    #[test]
    fn a_rate_stamps_arrivals() {
        let mut source =
            source("rate = 1000.0\narrivals = 'constant'\nphase = [{ pages = [1], requests = 3 }]")
                .unwrap();
        let mut out = vec![];
        source.fill(&mut out, 2).unwrap();
        source.fill(&mut out, 2).unwrap();
        assert_eq!(source.arrival(), Arrival::Open);
        assert_eq!(out.iter().map(|r| r.at).collect::<Vec<_>>(), [0, 1_000_000, 2_000_000]);
    }

    #[test]
    fn unknown_keys_are_refused() {
        for (table, key) in [
            ("phase = [{ page = [1], requests = 1 }]", "unknown field `page`"),
            ("read_share = 0.5\nphase = [{ pages = [1], requests = 1 }]", "field `read_share`"),
        ] {
            let sentence = source(table).map(|_| ()).unwrap_err();
            assert!(sentence.contains(key), "{sentence}");
        }
    }

    #[test]
    fn phases_survive_being_written() {
        let file = PhasesFile {
            description: "two phases".into(),
            workload: PhasesConfig {
                requests: Some(7),
                phase: vec![
                    PhaseConfig::reads([4, 2].map(Lpn::new).to_vec(), 3),
                    PhaseConfig {
                        op: PhaseOp::Write,
                        order: Order::Random,
                        pages: vec![],
                        ranges: vec![[1, 9].map(Lpn::new)],
                        requests: 1,
                    },
                ],
                ..PhasesConfig::default()
            },
            hints: toml::from_str(
                "range = [{ offset = 0, bytes = '1GiB', access_latency = 'idle' }]",
            )
            .unwrap(),
        };
        assert_eq!(PhasesFile::parse(&toml::to_string(&file).unwrap()).unwrap(), file);
    }
}
