//! Signs that the rows of a trace file are not what they seem: sizes that are probably in bytes and
//! not in sectors, and a clock that starts again.
//!
//! ```text
//! times of 1.0, 2.0, 3.0, 1.0, 2.0 s: the clock starts again once, so two recordings follow each
//! other in the file
//! ```

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::Op;
use vpass_drive::phrase;

use crate::traces::rows::format::{Format, TraceRow};

/// Shortest step back of a clock that starts again, in ns. Rows of several processors are often out
/// of order, and rows in the order of completion by a latency.
const SHORTEST_BACK_NS: u64 = 100_000_000;
/// Size of the pages that hosts write. If all sizes are multiples of this number of sectors (2
/// MiB), they are probably bytes, because requests of that size are rare.
const PAGE_BYTES: u64 = 4096;
/// Fewest reads and writes by which sizes are judged.
const FEWEST_ROWS: u64 = 2;

/// Clock of a file that may hold several recordings.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::traces) struct Recordings {
    first: Option<u64>,
    latest: u64,
    /// Number of times that the clock has started again.
    restarts: u64,
}

impl Recordings {
    /// Takes the time of the next row. Returns whether the clock starts again: it goes back by more
    /// than half of the present recording.
    #[inline]
    pub(in crate::traces) fn restarts_at(&mut self, at_ns: u64) -> bool {
        let first = *self.first.get_or_insert(at_ns);
        let back = self.latest.saturating_sub(at_ns);
        let restarts = back >= SHORTEST_BACK_NS && back > (self.latest - first) / 2;
        if restarts {
            *self = Self { first: Some(at_ns), latest: at_ns, restarts: self.restarts + 1 };
        }
        self.latest = self.latest.max(at_ns);
        restarts
    }
}

/// Signs in the rows that were read so far.
#[derive(Clone, Debug, Default)]
pub struct Oddities {
    recordings: Recordings,
    /// Number of reads and writes, and number of those whose size is not a multiple of 2 MiB.
    sizes: u64,
    usual_sizes: u64,
}

impl Oddities {
    /// Takes the next row of the file.
    #[inline]
    pub fn add(&mut self, row: &TraceRow) {
        self.recordings.restarts_at(row.at_ns);
        if row.op != Op::Trim {
            self.sizes += 1;
            self.usual_sizes += u64::from(!row.bytes.is_multiple_of(512 * PAGE_BYTES));
        }
    }

    /// Returns a note if the sizes are probably in bytes, although the format has sectors.
    pub fn of_sizes(&self, file: &str, format: &Format) -> Option<Phrase> {
        let is_odd = self.sizes >= FEWEST_ROWS && self.usual_sizes == 0;
        (is_odd && format.has_sectors()).then(|| {
            let name = format.name;
            phrase![
                "{file}: all sizes are multiples of 4,096 sectors; if the file has bytes instead \
                 of the sectors of 512 bytes of the {name} format, vpass reads sizes and addresses \
                 512 times too large, and the file must be converted to sectors"
            ]
        })
    }

    /// Returns a note if the clock starts again in the file.
    pub fn of_clock(&self, file: &str) -> Option<Phrase> {
        let (restarts, all) = (self.recordings.restarts, self.recordings.restarts + 1);
        let times = if restarts == 1 { "once".into() } else { format!("{restarts} times") };
        (restarts > 0).then(|| {
            phrase![
                "{file}: the clock of the trace starts again {times}, so {all} recordings seem to \
                 follow each other in the file; ",
                Opt::JoinRecordings,
                " of a run plays each after the one before; without this option, requests get the \
                 latest time before them",
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::format_named;

    const MS: u64 = 1_000_000;

    fn of(rows: &[(u64, u64)]) -> Oddities {
        let mut oddities = Oddities::default();
        for (at_ns, bytes) in rows {
            let row = TraceRow {
                at_ns: *at_ns,
                device: 0,
                offset: 0,
                bytes: *bytes,
                op: Op::Read,
                hint: None,
            };
            oddities.add(&row);
        }
        oddities
    }

    fn restarts(ms: &[u64]) -> u64 {
        of(&ms.iter().map(|ms| (ms * MS, 4096)).collect::<Vec<_>>()).recordings.restarts
    }

    #[test]
    fn a_clock_starts_again_if_it_goes_back_by_more_than_half() {
        assert_eq!(restarts(&[1000, 2000, 3000, 1000, 2000, 3000, 1000]), 2);
        assert_eq!(restarts(&[5000, 6000, 5400, 5450, 7000, 20]), 2);
        // Rows that are only out of order, and a short step back at the start.
        assert_eq!(restarts(&[0, 1000, 900, 1100, 600, 2000]), 0);
        assert_eq!(restarts(&[0, 9, 0, 5, 3]), 0);
        assert_eq!(restarts(&[1000, 1030, 1005]), 0);
        let said = of(&[(1000 * MS, 1), (0, 1)]).of_clock("a").unwrap().to_string();
        assert!(
            said.starts_with("a: the clock of the trace starts again once, so 2 rec"),
            "{said}"
        );
    }

    #[test]
    fn sizes_of_whole_pages_in_sectors_are_doubted() {
        let said = |format: &str, sizes: &[u64]| {
            let rows: Vec<_> = sizes.iter().map(|sectors| (0, sectors * 512)).collect();
            of(&rows).of_sizes("a", format_named(format).unwrap()).is_some()
        };
        assert!(said("disksim", &[16_384, 4096]) && said("mqsim", &[8192, 8192]));
        assert!(!said("disksim", &[16_384, 4095]) && !said("disksim", &[4096]));
        assert!(!said("msr", &[16_384, 4096]), "its sizes are in bytes");
    }
}
