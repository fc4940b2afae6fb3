//! Source of read rates and writes that come from a table of windows. The table is repeated pass
//! after pass.

use std::sync::Arc;

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::time::FluidSource;

use super::table::Windows;

/// Source that repeats a table of windows without end. For each window, the source gives one read
/// rate per page. Each write is a single request.
pub struct FluidWindows {
    table: Arc<Windows>,
    /// Number of completed passes. `window` is the index of the current window.
    passes: u64,
    window: usize,
    writes: Writes,
}

struct Writes {
    table: Arc<Windows>,
    passes: u64,
    next: usize,
}

impl FluidWindows {
    /// Makes a source that begins with the first window of the first pass.
    pub fn new(table: Arc<Windows>) -> Self {
        Self {
            passes: 0,
            window: 0,
            writes: Writes { table: table.clone(), passes: 0, next: 0 },
            table,
        }
    }

    /// Returns the length of the current window in seconds.
    fn seconds(&self) -> f64 {
        let begins = self.table.width * self.window as u64;
        (self.ends() - self.passes * self.table.pass - begins) as f64 / 1e9
    }

    /// Returns the end of the current window. The last window of a pass lasts until the next pass
    /// begins.
    fn ends(&self) -> Ns {
        let is_last = self.window + 1 == self.table.ends.len();
        let within =
            if is_last { self.table.pass } else { self.table.width * (self.window as u64 + 1) };
        self.passes * self.table.pass + within
    }

    fn go_on(&mut self) {
        self.window += 1;
        if self.window == self.table.ends.len() {
            (self.window, self.passes) = (0, self.passes + 1);
        }
    }
}

impl FluidSource for FluidWindows {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        let mut rates = vec![0.0; self.table.pages as usize];
        let seconds = self.seconds();
        for (lpn, count) in self.table.window(self.window) {
            rates[lpn.index()] = (f64::from(*count) / seconds) as f32;
        }
        let Windows { requests_per_page, bytes_per_page, .. } = *self.table;
        (
            ReadRates { pages: PageRates::Each(rates), requests_per_page, bytes_per_page },
            self.ends(),
        )
    }

    fn changes(&mut self, _from: Ns, pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        let table = self.table.clone();
        let mut before = table.window(self.window).iter().map(|(lpn, _)| *lpn).peekable();
        self.go_on();
        let seconds = self.seconds();
        for (lpn, count) in table.window(self.window) {
            while let Some(ended) = before.next_if(|before| before < lpn) {
                pages.push((ended, 0.0));
            }
            before.next_if_eq(lpn);
            pages.push((*lpn, (f64::from(*count) / seconds) as f32));
        }
        pages.extend(before.map(|ended| (ended, 0.0)));
        Some(self.ends())
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        &mut self.writes
    }
}

impl RequestSource for Writes {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..if self.table.writes.is_empty() { 0 } else { max } {
            let write = self.table.writes[self.next];
            out.push(Request { at: write.at + self.passes * self.table.pass, ..write });
            self.next += 1;
            if self.next == self.table.writes.len() {
                (self.next, self.passes) = (0, self.passes + 1);
            }
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::Op;

    use super::*;
    use crate::pass::PassSource;

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
                out.push(Request {
                    at: (self.0 * 14 + second - 1) * 1_000_000_000,
                    offset: page * 100,
                    bytes,
                    op: *op,
                    origin: 0,
                    hint: None,
                });
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

    #[test]
    fn reads_of_each_window_are_those_of_the_stream() {
        const S: Ns = 1_000_000_000;
        let table = Windows::of(&mut Stream(0, 0), 100, 10, 5 * S).unwrap();
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
}
