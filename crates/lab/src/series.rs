//! Counts of a drive at many moments during a run, as rows of the file `series.csv`. From one row
//! to the next, the drive serves a fixed number of requests.

use std::fmt::Write;

use vpass_drive::base::metrics::MOST_RETRIES;
use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::config::ErrorLaw;
use vpass_drive::drive::Drive;

use crate::batch;

/// Largest number of rows before the final row. When this number is reached, every second row is
/// removed. From then on, twice as many requests lie between two rows.
const MOST_ROWS: usize = 512;

/// Counts of a drive at many moments during a run. All counts are 0 at the beginning of the counted
/// part.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Number of requests between two rows.
    every: u64,
    rows: Vec<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    requests: u64,
    /// Simulated time in the timed gear; `None` in the untimed gear.
    seconds: Option<f64>,
    /// Counts, in the order of the columns that [`columns`] returns.
    counts: [u64; COUNTS],
    /// Total time, in nanoseconds, that host reads have waited for reclaim.
    reclaim_wait: u64,
    tired: Option<Tired>,
}

/// Counts of retries in host reads, and of losses. Present only if data has an error rate.
#[derive(Clone, Copy, Debug)]
struct Tired {
    /// Numbers of page reads that needed 1 retry, 2 retries, and so on. Only the first `levels`
    /// entries are used.
    retried: [u64; MOST_RETRIES],
    levels: u8,
    /// Expected number of codewords that the host could not read. `None` if the size of a codeword
    /// is unknown.
    lost_codewords: Option<f64>,
    lost_by_age: u64,
}

impl Tired {
    fn of(drive: &Drive) -> Option<Self> {
        let most = drive.max_retries().filter(|_| drive.config().error.model != ErrorLaw::None)?;
        let mut retried = [0; MOST_RETRIES];
        retried.copy_from_slice(&drive.flash_counts().retried[1..]);
        Some(Self {
            retried,
            levels: most,
            lost_codewords: drive.lost_codewords(),
            lost_by_age: drive.lost_by_age(),
        })
    }

    fn retried(&self) -> &[u64] {
        &self.retried[..usize::from(self.levels)]
    }

    /// Returns two numbers: the number of retries, and the number of page reads with at least one
    /// retry.
    fn sums(&self) -> (u64, u64) {
        let retried = self.retried();
        ((1..).zip(retried).map(|(retries, reads)| retries * reads).sum(), retried.iter().sum())
    }
}

const COUNTS: usize = 2 + 2 * Cause::COUNT + 5;
/// Positions of counts in a row: pages that the host read, pages that the host wrote, pages
/// programmed for each cause, and blocks erased for each cause.
const READ_PAGES: usize = 0;
const WRITE_PAGES: usize = 1;
const PROGRAMS: usize = 2;
const ERASES: usize = PROGRAMS + Cause::COUNT;

/// Counts of a part of a run. The counts are interpolated between rows, so they may have fractions.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// Number of pages that the host read.
    pub read_pages: f64,
    /// Number of pages that the host wrote.
    pub write_pages: f64,
    /// Numbers of pages programmed for each cause, in the order of [`Cause::ALL`].
    pub programs: [f64; Cause::COUNT],
    /// Numbers of blocks erased for each cause, in the order of [`Cause::ALL`].
    pub erases: [f64; Cause::COUNT],
    /// Total time, in microseconds, that host reads waited for reclaim.
    pub reclaim_wait_us: f64,
    /// Expected number of codewords that the host could not read; 0 if the number is unknown.
    pub lost_codewords: f64,
    /// Numbers of host page reads that needed 1 retry, 2 retries, and so on. Empty if the drive
    /// makes no retries.
    pub retried: Vec<f64>,
}

/// Names of additional columns in `series.csv`. The file has these columns if data has an error
/// rate.
const TIRED: &str = ",host_retries,host_reads_with_retry,expected_lost_codewords,lost_by_age_pages";

/// Returns the names of all counts. Each name contains the unit of the count.
fn columns() -> [String; COUNTS] {
    let named = |name: &str| name.to_owned();
    let by_cause =
        |what: &str, unit: &str| Cause::ALL.map(|cause| format!("{what}_{}_{unit}", cause.name()));
    let host = ["host_read_pages", "host_write_pages"].map(named).into_iter();
    let last = [
        "reclaim_alarms",
        "reclaim_jobs",
        "reclaim_copied_pages",
        "uncorrectable_reads",
        "lost_pages",
    ]
    .map(named);
    let mut all =
        host.chain(by_cause("programs", "pages")).chain(by_cause("erases", "blocks")).chain(last);
    std::array::from_fn(|_| all.next().expect("a name for each count"))
}

impl Series {
    /// Adds a row if enough requests were served since the previous row. `now` is the simulated
    /// time.
    pub fn look(&mut self, drive: &Drive, now: Option<Ns>) {
        let requests = requests(drive);
        if self.rows.last().is_none_or(|last| requests >= last.requests + self.every) {
            self.add(requests, drive, now);
            if self.rows.len() == MOST_ROWS {
                self.thin_out();
            }
        }
    }

    /// Adds the last row. If no request was served since the previous row, the last row replaces
    /// it.
    pub fn end(&mut self, drive: &Drive, now: Option<Ns>) {
        let requests = requests(drive);
        self.rows.pop_if(|last| last.requests == requests);
        self.add(requests, drive, now);
    }

    fn add(&mut self, requests: u64, drive: &Drive, now: Option<Ns>) {
        let (host, flash, reclaim) =
            (drive.host_counts(), drive.flash_counts(), drive.reclaim_counts());
        let of_reclaim = [reclaim.alarms, reclaim.invocations, reclaim.pages_copied];
        let all = [host.read_pages, host.write_pages]
            .into_iter()
            .chain(flash.programs)
            .chain(flash.erases)
            .chain(of_reclaim);
        let mut counts = [0; COUNTS];
        for (count, value) in
            counts.iter_mut().zip(all.chain([drive.uncorrectable_reads(), drive.lost_pages()]))
        {
            *count = value;
        }
        let seconds = now.map(|ns| ns as f64 / 1e9);
        self.rows.push(Sample {
            requests,
            seconds,
            counts,
            reclaim_wait: reclaim.stall_ns,
            tired: Tired::of(drive),
        });
    }

    fn thin_out(&mut self) {
        let mut odd = true;
        self.rows.retain(|_| {
            odd = !odd;
            odd
        });
        self.every =
            self.rows.last().map_or(0, |last| last.requests) / self.rows.len().max(1) as u64;
    }

    /// Divides the run into `parts` equal parts, and returns the counts of each part. The parts
    /// have equal durations if rows have a simulated time, and equal numbers of requests otherwise.
    pub fn parts(&self, parts: u32) -> Vec<Part> {
        let at = |row: &Sample| row.seconds.unwrap_or(row.requests as f64);
        let end = self.rows.last().map_or(0.0, at);
        let up_to =
            |n: u32, count: OfRow| self.up_to(end * f64::from(n) / f64::from(parts), at, count);
        let part =
            |n: u32| Part::made(self.levels(), &|count| up_to(n + 1, count) - up_to(n, count));
        (0..parts).map(part).collect()
    }

    /// Returns a count from the beginning of the run to `end`. Between two rows, counts are
    /// interpolated. Before the first row, counts are interpolated between 0 and the first row.
    fn up_to(&self, end: f64, at: impl Fn(&Sample) -> f64, count: OfRow) -> f64 {
        let after =
            self.rows.partition_point(|row| at(row) < end).min(self.rows.len().saturating_sub(1));
        let (before, behind) = (after.checked_sub(1).map(|n| &self.rows[n]), self.rows.get(after));
        let [from, to] = [before, behind].map(|row| row.map_or(0.0, &at));
        let share = if to > from { ((end - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        let [before, behind] = [before, behind].map(|row| row.map_or(0.0, count));
        before + share * (behind - before)
    }

    /// Returns the number of retry levels.
    fn levels(&self) -> usize {
        self.rows.last().and_then(|row| row.tired).map_or(0, |tired| usize::from(tired.levels))
    }

    /// Divides the run into `N` batches with nearly equal numbers of requests, and returns the
    /// counts of each batch. Returns `None` if there are too few rows.
    pub fn batches<const N: usize>(&self) -> Option<Vec<Part>> {
        // The first row is left out if it was added before the first request.
        let rows =
            &self.rows[usize::from(self.rows.first().is_some_and(|row| row.requests == 0))..];
        let ends = batch::ends::<N>(&rows.iter().map(|row| row.requests).collect::<Vec<_>>())?;
        let mut before = None;
        let part = |end: usize| {
            let from = before.replace(&rows[end]);
            Part::made(self.levels(), &|count| count(&rows[end]) - from.map_or(0.0, count))
        };
        Some(ends.map(part).into())
    }

    /// Returns, for each count, whether `series.csv` has a column with this count. A count of
    /// regrouping by hints has a column only if the count is above 0 in at least one row.
    fn shown(&self) -> [bool; COUNTS] {
        let of_hints =
            [PROGRAMS, PROGRAMS + Cause::COUNT].map(|first| first + Cause::Hint as usize);
        std::array::from_fn(|at| {
            !of_hints.contains(&at) || self.rows.iter().any(|row| row.counts[at] > 0)
        })
    }

    /// Formats the header and all rows as CSV.
    pub fn csv(&self) -> String {
        let shown = self.shown();
        let mut csv = String::from("requests,simulated_s");
        for (name, _) in columns().iter().zip(shown).filter(|(_, shown)| *shown) {
            csv.push(',');
            csv.push_str(name);
        }
        if self.rows.iter().any(|row| row.tired.is_some()) {
            csv.push_str(TIRED);
        }
        csv.push('\n');
        for row in &self.rows {
            let _ = write!(csv, "{},", row.requests);
            if let Some(seconds) = row.seconds {
                let _ = write!(csv, "{seconds}");
            }
            for (count, _) in row.counts.iter().zip(shown).filter(|(_, shown)| *shown) {
                let _ = write!(csv, ",{count}");
            }
            if let Some(tired) = row.tired {
                let (retries, reads_with_retry) = tired.sums();
                let _ = write!(csv, ",{retries},{reads_with_retry},");
                if let Some(lost) = tired.lost_codewords {
                    let _ = write!(csv, "{lost:e}");
                }
                let _ = write!(csv, ",{}", tired.lost_by_age);
            }
            csv.push('\n');
        }
        csv
    }
}

/// Function that reads a number from a row.
type OfRow<'a> = &'a dyn Fn(&Sample) -> f64;

impl Part {
    /// Builds the counts of a part of a run. `of` computes a single count of this part; the
    /// argument of `of` is a function that reads this count from a row. `levels` is the number of
    /// retry levels.
    fn made(levels: usize, of: &dyn Fn(OfRow) -> f64) -> Self {
        let count = |at: usize| of(&move |row| row.counts[at] as f64);
        let tired = |what: &dyn Fn(&Tired) -> f64| of(&|row| row.tired.as_ref().map_or(0.0, what));
        Self {
            read_pages: count(READ_PAGES),
            write_pages: count(WRITE_PAGES),
            programs: std::array::from_fn(|cause| count(PROGRAMS + cause)),
            erases: std::array::from_fn(|cause| count(ERASES + cause)),
            reclaim_wait_us: of(&|row| row.reclaim_wait as f64 / 1e3),
            lost_codewords: tired(&|tired| tired.lost_codewords.unwrap_or(0.0)),
            retried: (0..levels).map(|n| tired(&|tired| tired.retried[n] as f64)).collect(),
        }
    }

    /// Returns the number of retries.
    pub fn retries(&self) -> f64 {
        (1..).zip(&self.retried).map(|(retries, reads)| f64::from(retries) * reads).sum()
    }
}

/// Returns the number of requests that the host has sent to the drive.
fn requests(drive: &Drive) -> u64 {
    let host = drive.host_counts();
    host.read_requests + host.write_requests + host.trim_requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
    use vpass_drive::config::DriveConfig;
    use vpass_drive::drive::Techniques;
    use vpass_drive::time::run_untimed;
    use vpass_techniques::{card, resolve, usual};

    /// Source of requests that all read the first page.
    struct Reads(usize);

    impl RequestSource for Reads {
        fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
            let now = self.0.min(max);
            self.0 -= now;
            out.extend(std::iter::repeat_n(
                Request { at: 0, offset: 0, bytes: 4096, op: Op::Read, origin: 0, hint: None },
                now,
            ));
            Ok(())
        }

        fn arrival(&self) -> Arrival {
            Arrival::Closed { depth: 1 }
        }
    }

    #[test]
    fn a_long_run_has_no_more_rows_than_a_short_one_and_their_steps_are_even() {
        let config =
            resolve(toml::from_str::<DriveConfig>(crate::presets::drive("tiny").unwrap()).unwrap())
                .unwrap();
        let mut drive =
            Drive::new(config, &Techniques { reclaim: card("none"), ..usual() }, false).unwrap();
        let mut series = Series::default();
        // A sample is taken every 10 requests. When there are 512 rows, 256 of them remain, and
        // later rows come every 20 requests. When there are 512 rows again, the distance becomes 40
        // requests.
        for _ in 0..2000 {
            run_untimed(&mut drive, &mut Reads(10), &mut |_, _| true).unwrap();
            series.look(&drive, None);
        }
        series.end(&drive, None);
        let at: Vec<u64> = series.rows.iter().map(|row| row.requests).collect();
        assert_eq!((at.len(), &at[..3]), (500, &[40, 80, 120][..]));
        assert_eq!(at[498..], [19_960, 20_000]);
        let csv = series.csv();
        assert!(csv.starts_with("requests,simulated_s,host_read_pages,"));
        let widths: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(widths.iter().all(|w| *w == COUNTS), "{widths:?}");
        // All parts have equal numbers of requests, whatever the number of rows in them.
        let parts = series.parts(3);
        assert!(
            parts.iter().all(|part| (part.read_pages - 20_000.0 / 3.0).abs() < 1e-6),
            "{parts:?}"
        );
        assert_eq!(Series::default().parts(2).len(), 2);
        let batches = series.batches::<10>().unwrap();
        assert!(
            batches.len() == 10
                && batches.iter().all(|batch| (batch.read_pages - 2000.0).abs() <= 40.0),
            "{batches:?}"
        );
        assert!(Series::default().batches::<10>().is_none());
    }
}
