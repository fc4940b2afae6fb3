//! Source of read rates that come from a table of windows, and of single writes. The table is
//! repeated pass after pass.

use std::sync::Arc;

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::time::FluidSource;

use super::table::Windows;
use crate::pass::PassSource;

/// Source that repeats a table of windows without end. For each window, the source gives one read
/// rate per page. Each write is a single request.
pub struct FluidWindows {
    table: Arc<Windows>,
    /// Number of completed passes. `window` is the index of the current window.
    passes: u64,
    window: usize,
    writes: Box<dyn RequestSource + Send>,
}

/// Writes of a table, which repeat without end.
struct Repeated {
    table: Arc<Windows>,
    /// Number of completed passes over a group of writes. `next` is the next write of the current
    /// group.
    rounds: u64,
    next: usize,
}

/// Writes of a generator, which draws new requests in each pass.
struct Drawn<S> {
    source: S,
    taken: Vec<Request>,
}

impl FluidWindows {
    /// Makes a source that repeats the reads and the writes of a table.
    pub fn new(table: Arc<Windows>) -> Self {
        let writes = Box::new(Repeated { table: table.clone(), rounds: 0, next: 0 });
        Self { table, passes: 0, window: 0, writes }
    }

    /// Makes a source with the read rates of a table, and with the writes of a generator. The
    /// table counts passes of the same generator.
    pub fn drawn(table: Arc<Windows>, source: impl PassSource + 'static) -> Self {
        if !table.has_writes {
            return Self::new(table);
        }
        Self { table, passes: 0, window: 0, writes: Box::new(Drawn { source, taken: vec![] }) }
    }

    /// Returns the end of the current window, in ns since the pass began. The last window of a pass
    /// lasts until the next pass begins.
    fn end_in_pass(&self) -> Ns {
        let is_last = self.window + 1 == self.table.ends.len();
        if is_last { self.table.pass } else { self.table.width * (self.window as u64 + 1) }
    }

    /// Returns the time until which the current rates hold. A single window never ends.
    fn ends(&self) -> Ns {
        if self.table.ends.len() == 1 {
            return Ns::MAX;
        }
        self.passes * self.table.pass + self.end_in_pass()
    }

    fn go_on(&mut self) {
        self.window += 1;
        if self.window == self.table.ends.len() {
            (self.window, self.passes) = (0, self.passes + 1);
        }
    }

    /// Returns the pages that are read in the current window, each with its reads per second.
    fn read(&self) -> impl Iterator<Item = (Lpn, f32)> + use<'_> {
        let ns = self.end_in_pass() - self.table.width * self.window as u64;
        let seconds = ns as f64 / 1e9 * f64::from(self.table.shares);
        let rate = move |count: u32| (f64::from(count) / seconds) as f32;
        self.table.window(self.window).iter().map(move |(lpn, count)| (*lpn, rate(*count)))
    }
}

impl FluidSource for FluidWindows {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        let mut rates = vec![0.0; self.table.pages as usize];
        for (lpn, rate) in self.read() {
            if let Some(of_page) = rates.get_mut(lpn.index()) {
                *of_page = rate;
            }
        }
        let Windows { requests_per_page, bytes_per_page, .. } = *self.table;
        (
            ReadRates { pages: PageRates::Each(rates), requests_per_page, bytes_per_page },
            self.ends(),
        )
    }

    fn changes(&mut self, _from: Ns, pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        let table = self.table.clone();
        let before = table.window(self.window).iter().map(|(lpn, _)| *lpn);
        self.go_on();
        changed(before, self.read(), pages);
        Some(self.ends())
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        &mut *self.writes
    }
}

/// Appends the rates that change: those of the pages that are read now, and 0 for pages that were
/// read before. Both lists are in the order of pages.
pub(crate) fn changed(
    before: impl Iterator<Item = Lpn>,
    now: impl Iterator<Item = (Lpn, f32)>,
    pages: &mut Vec<(Lpn, f32)>,
) {
    let mut before = before.peekable();
    for (lpn, rate) in now {
        while let Some(ended) = before.next_if(|before| *before < lpn) {
            pages.push((ended, 0.0));
        }
        before.next_if_eq(&lpn);
        pages.push((lpn, rate));
    }
    pages.extend(before.map(|ended| (ended, 0.0)));
}

impl RequestSource for Repeated {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let groups = &self.table.writes;
        let end = out.len() + if self.table.has_writes { max } else { 0 };
        while out.len() < end {
            let turn = self.rounds / u64::from(self.table.repeats);
            let group = &groups[(turn % groups.len() as u64) as usize];
            let before = self.rounds * self.table.span;
            let rest = group[self.next..].iter().take(end - out.len());
            self.next += rest.len();
            out.extend(rest.map(|write| Request { at: write.at + before, ..*write }));
            if self.next == group.len() {
                (self.next, self.rounds) = (0, self.rounds + 1);
            }
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

impl<S: PassSource> RequestSource for Drawn<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        while out.len() == before && max > 0 {
            self.taken.clear();
            self.source.fill(&mut self.taken, max)?;
            // The fluid gear ignores flushes.
            self.source.take_flushes();
            if self.taken.is_empty() {
                self.source.next_pass()?;
            }
            out.extend(self.taken.iter().filter(|request| request.op != Op::Read));
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::units::Bytes;

    use super::*;
    use crate::synthetic::{Sample, SyntheticSource, WorkloadConfig};
    use crate::windows::{Counted, Counting, StrataBy};

    /// Stream with five requests. Page 7 is read at 1, 2 and 9 s, and pages 7 and 8 at 12 s. Page 1
    /// is written at 3 s. A pass takes 14 s.
    struct Stream(u64, usize);

    impl RequestSource for Stream {
        fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
            let rows = [
                (1, 7, Op::Read),
                (2, 7, Op::Read),
                (3, 1, Op::Write),
                (9, 7, Op::Read),
                (12, 7, Op::Read),
            ];
            for (second, page, op) in rows.iter().skip(self.1).take(max) {
                let bytes = if *second == 12 { 200 } else { 100 };
                out.push(Request::new(
                    (self.0 * 14 + second - 1) * 1_000_000_000,
                    page * 100,
                    bytes,
                    *op,
                ));
                self.1 += 1;
            }
            Ok(())
        }

        fn arrival(&self) -> Arrival {
            Arrival::Open
        }
    }

    impl PassSource for Stream {
        fn next_pass(&mut self) -> Result<(), SourceError> {
            (self.0, self.1) = (self.0 + 1, 0);
            Ok(())
        }

        fn memory(&self) -> u64 {
            0
        }
    }

    /// Counts one pass of a drive of 10 pages.
    fn ten_pages(width: Ns, short_bytes: u64) -> Counting {
        let passes = Counted::One { width, short_bytes };
        Counting { page_bytes: 100, pages: 10, passes }
    }

    fn taken(source: &mut FluidWindows, count: usize) -> Vec<Request> {
        let mut writes = vec![];
        while writes.len() < count {
            let before = writes.len();
            source.writes().fill(&mut writes, count - before).unwrap();
            assert!(writes.len() > before);
        }
        writes
    }

    #[test]
    fn reads_of_each_window_are_those_of_the_stream() {
        const S: Ns = 1_000_000_000;
        let table = Windows::of(&mut Stream(0, 0), ten_pages(5 * S, 0)).unwrap();
        assert_eq!((table.pass(), table.requests()), (14 * S, 5));
        let mut source = FluidWindows::new(Arc::new(table));
        let (rates, until) = source.rates(0);
        assert_eq!((rates.pages.per_ns(Lpn::new(7)), until), (f64::from(0.4f32) / 1e9, 5 * S));
        assert!(
            (rates.requests_per_page - 0.8).abs() < 1e-12
                && (rates.bytes_per_page - 100.0).abs() < 1e-12
        );
        let mut changes = |until: Ns| {
            let mut pages = vec![];
            let next = source.changes(until, &mut pages);
            (next, pages.into_iter().map(|(lpn, rate)| (lpn.number(), rate)).collect::<Vec<_>>())
        };
        assert_eq!(changes(5 * S), (Some(10 * S), vec![(7, 0.2)]));
        // The last window of a pass lasts until the end of the pass.
        assert_eq!(changes(10 * S), (Some(14 * S), vec![(7, 0.25), (8, 0.25)]));
        assert_eq!(changes(14 * S), (Some(19 * S), vec![(7, 0.4), (8, 0.0)]));
        let mut writes = vec![];
        source.writes().fill(&mut writes, 3).unwrap();
        assert_eq!(writes.iter().map(|write| write.at / S).collect::<Vec<_>>(), [2, 16, 30]);
    }

    #[test]
    fn a_pass_with_few_writes_is_one_window() {
        const S: Ns = 1_000_000_000;
        // The pass writes 100 bytes.
        let windows = |bytes| Windows::of(&mut Stream(0, 0), ten_pages(5 * S, bytes)).unwrap();
        assert_eq!((windows(99).ends.len(), windows(100).ends.len()), (3, 1));
        let (rates, until) = FluidWindows::new(Arc::new(windows(100))).rates(0);
        // Page 7 is read four times in 14 s, and page 8 once.
        let rate = |page| rates.pages.per_ns(Lpn::new(page)) * 14e9;
        assert!((rate(7) - 4.0).abs() < 1e-6 && (rate(8) - 1.0).abs() < 1e-6);
        assert_eq!(until, Ns::MAX);
    }

    /// Source of requests to 8 pages of 512 bytes, 100 per second. A pass has `requests` requests.
    fn generator(requests: u64, read_share: f64) -> SyntheticSource {
        let config = WorkloadConfig {
            requests,
            rate: Some(100.0),
            read_share,
            block_size: Some(Bytes(512)),
            ..WorkloadConfig::default()
        };
        SyntheticSource::new(&config, 8 * 512, 512, 1).unwrap()
    }

    fn eight_pages(for_samples: bool) -> Counting {
        Counting { page_bytes: 512, pages: 8, passes: Counted::Many { for_samples } }
    }

    #[test]
    fn a_generator_draws_its_writes_anew_in_each_pass() {
        let table = Windows::of(&mut generator(400, 0.75), eight_pages(false)).unwrap();
        assert!(table.writes[0].is_empty() && table.requests() == 400);
        // A pass has about 100 writes. Without new draws, pages of later passes would repeat.
        let writes = taken(&mut FluidWindows::drawn(Arc::new(table), generator(400, 0.75)), 1000);
        let in_pass = |n: Ns| -> Vec<u64> {
            let begins = n * 4_000_000_000..(n + 1) * 4_000_000_000;
            writes.iter().filter(|w| begins.contains(&w.at)).map(|w| w.offset).collect()
        };
        assert!(in_pass(1).len() > 50 && in_pass(1) != in_pass(2) && in_pass(2) != in_pass(3));
        assert!(writes.iter().all(|write| write.op == Op::Write));
    }

    #[test]
    fn a_generator_that_only_reads_has_no_writes() {
        let reads = || generator(9, 1.0);
        let table = Arc::new(Windows::of(&mut reads(), eight_pages(false)).unwrap());
        let mut writes = vec![];
        FluidWindows::drawn(table, reads()).writes().fill(&mut writes, 9).unwrap();
        assert!(writes.is_empty());
    }

    #[test]
    fn reads_of_a_generator_have_the_mean_rates_of_many_passes() {
        let table = Windows::of(&mut generator(40, 0.75), eight_pages(false)).unwrap();
        // 8 pages are touched 30 times on average: 240 touches take 6 passes of 40 requests, which
        // take 2.4 s.
        assert_eq!((table.shares, table.requests()), (6, 40));
        let reads: u32 = table.reads.iter().map(|(_, count)| count).sum();
        let (rates, _) = FluidWindows::new(Arc::new(table)).rates(0);
        assert!((rates.pages.sum(8) - f64::from(reads) / 2.4).abs() < 0.02 * rates.pages.sum(8));
    }

    #[test]
    fn samples_have_all_reads_and_writes_of_the_drive() {
        const S: Ns = 1_000_000_000;
        let table = Windows::of(&mut Stream(0, 0), ten_pages(5 * S, 0)).unwrap();
        // Most written first, then most read: page 1, then 7 and 8, then 0. Strata of 3 pages are
        // {1, 7, 8}, {0, 2, 3}, {4, 5, 6} and {9}, numbered by their lowest addresses: 1, 0, 2, 3.
        let sample = |residue| {
            let sampled = table.sampled(Sample { of: 3, residue }, StrataBy::Counts);
            FluidWindows::new(Arc::new(sampled))
        };
        // In windows of 5, 5 and 4 s, the stratum has 2, 1 and 2 reads of 3 pages.
        let (rates, _) = sample(0).rates(0);
        let rate = rates.pages.per_ns(Lpn::new(1)) * 1e9;
        assert!((rate - 2.0 / 3.0 / 5.0).abs() < 1e-6, "{rate}");
        let mut changes = vec![];
        sample(1).changes(0, &mut changes);
        assert_eq!(changes, [(Lpn::new(1), (1.0 / 3.0 / 5.0) as f32)]);
        // Page 1 is written once in each pass of 14 s, in 32 of 96 passes in each sample.
        let mut times: Vec<Ns> = (0..3)
            .flat_map(|residue| {
                let writes = taken(&mut sample(residue), 64);
                let passes: Vec<Ns> = writes.iter().map(|write| write.at / S / 14).collect();
                assert!(passes[..32].windows(2).all(|two| two[1] == two[0] + 1), "{passes:?}");
                assert!(writes.iter().all(|w| (w.offset, w.bytes) == (100, 100)));
                writes.into_iter().map(|write| write.at / S)
            })
            .collect();
        times.sort_unstable();
        assert_eq!(times, (0..192).map(|pass| 2 + 14 * pass).collect::<Vec<_>>());
    }
}
