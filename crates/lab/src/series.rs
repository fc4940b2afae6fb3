//! How a run went, row by row: the drive's counts at evenly spaced numbers of requests, as `series.csv` holds them.

use std::fmt::Write;

use vpass_core::base::units::{Cause, Ns};
use vpass_core::config::ErrorLaw;
use vpass_core::drive::Drive;

/// Rows kept at most, the last one apart; when there are as many, every second one goes and the rest of the run is looked at half as often.
const MOST_ROWS: usize = 512;

/// The counts so far, all of them since the beginning of what is measured.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Requests between two rows.
    every: u64,
    rows: Vec<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    requests: u64,
    /// Of the timed gear; none in the untimed.
    seconds: Option<f64>,
    /// In the order of [`columns`].
    counts: [u64; COUNTS],
    tired: Option<Tired>,
}

/// What the host's reads took of tired data, where data has an error rate.
#[derive(Clone, Copy, Debug)]
struct Tired {
    retries: u64,
    reads_with_retry: u64,
    /// Expected; none where no codeword is known.
    lost_codewords: Option<f64>,
}

impl Tired {
    fn of(drive: &Drive) -> Option<Self> {
        let most = drive.max_retries().filter(|_| drive.config().error.model != ErrorLaw::None)?;
        let retried = &drive.flash_counts().retried[..=usize::from(most)];
        Some(Self {
            retries: (0..).zip(retried).map(|(retries, reads)| retries * reads).sum(),
            reads_with_retry: retried.iter().skip(1).sum(),
            lost_codewords: drive.lost_codewords(),
        })
    }
}

const COUNTS: usize = 2 + 2 * Cause::COUNT + 5;

/// What follows where data has an error rate.
const TIRED: &str = ",host_retries,host_reads_with_retry,expected_lost_codewords";

/// The header: names with units.
fn columns() -> String {
    let by_cause = |what: &str, unit: &str| Cause::ALL.map(|cause| format!("{what}_{}_{unit}", cause.name())).join(",");
    format!(
        "requests,simulated_s,host_read_pages,host_write_pages,{},{},reclaim_alarms,reclaim_jobs,reclaim_copied_pages,uncorrectable_reads,\
         lost_pages",
        by_cause("programs", "pages"),
        by_cause("erases", "blocks")
    )
}

impl Series {
    /// Looks at the drive, at this simulated time, where a row is due.
    pub fn look(&mut self, drive: &Drive, now: Option<Ns>) {
        let requests = requests(drive);
        if self.rows.last().is_none_or(|last| requests >= last.requests + self.every) {
            self.add(requests, drive, now);
            if self.rows.len() == MOST_ROWS {
                self.thin_out();
            }
        }
    }

    /// The last row, in the place of one after as many requests.
    pub fn end(&mut self, drive: &Drive, now: Option<Ns>) {
        let requests = requests(drive);
        self.rows.pop_if(|last| last.requests == requests);
        self.add(requests, drive, now);
    }

    fn add(&mut self, requests: u64, drive: &Drive, now: Option<Ns>) {
        let (host, flash, reclaim) = (drive.host_counts(), drive.flash_counts(), drive.reclaim_counts());
        let of_reclaim = [reclaim.alarms, reclaim.invocations, reclaim.pages_copied];
        let all = [host.read_pages, host.write_pages].into_iter().chain(flash.programs).chain(flash.erases).chain(of_reclaim);
        let mut counts = [0; COUNTS];
        for (count, value) in counts.iter_mut().zip(all.chain([drive.uncorrectable_reads(), drive.lost_pages()])) {
            *count = value;
        }
        self.rows.push(Sample { requests, seconds: now.map(|ns| ns as f64 / 1e9), counts, tired: Tired::of(drive) });
    }

    fn thin_out(&mut self) {
        let mut odd = true;
        self.rows.retain(|_| {
            odd = !odd;
            odd
        });
        self.every = self.rows.last().map_or(0, |last| last.requests) / self.rows.len().max(1) as u64;
    }

    /// All rows under their header.
    pub fn csv(&self) -> String {
        let mut csv = columns();
        if self.rows.iter().any(|row| row.tired.is_some()) {
            csv.push_str(TIRED);
        }
        csv.push('\n');
        for row in &self.rows {
            let _ = write!(csv, "{},", row.requests);
            if let Some(seconds) = row.seconds {
                let _ = write!(csv, "{seconds}");
            }
            for count in row.counts {
                let _ = write!(csv, ",{count}");
            }
            if let Some(Tired { retries, reads_with_retry, lost_codewords }) = row.tired {
                let _ = write!(csv, ",{retries},{reads_with_retry},");
                if let Some(lost) = lost_codewords {
                    let _ = write!(csv, "{lost:e}");
                }
            }
            csv.push('\n');
        }
        csv
    }
}

/// Requests that the drive was sent.
fn requests(drive: &Drive) -> u64 {
    let host = drive.host_counts();
    host.read_requests + host.write_requests + host.trim_requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_core::base::request::{Arrival, Op, Request, RequestSource, SourceError};
    use vpass_core::config::DriveConfig;
    use vpass_core::drive::Techniques;
    use vpass_core::time::run_untimed;

    /// So many reads of the first page.
    struct Reads(usize);

    impl RequestSource for Reads {
        fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
            let now = self.0.min(max);
            self.0 -= now;
            out.extend(std::iter::repeat_n(Request { at: 0, offset: 0, bytes: 4096, op: Op::Read, origin: 0, hint: None }, now));
            Ok(())
        }

        fn arrival(&self) -> Arrival {
            Arrival::Closed { depth: 1 }
        }
    }

    #[test]
    fn a_long_run_has_no_more_rows_than_a_short_one_and_their_steps_are_even() {
        let config = toml::from_str::<DriveConfig>(crate::presets::drive("tiny").unwrap()).unwrap().resolve().unwrap();
        let mut drive = Drive::new(config, &Techniques { reclaim: "none".into(), ..Techniques::default() }, false).unwrap();
        let mut series = Series::default();
        // A look each 10 requests: 512 rows, then 256 of each 20, then of each 40.
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
        assert!(widths.iter().all(|w| *w == 2 + COUNTS), "{widths:?}");
    }
}
