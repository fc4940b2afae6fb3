//! Groups whose drives are read for long at a low rate: so many reads of each page in so many days,
//! and a window in time behind them.

use serde::Deserialize;
use vpass_core::config::DriveConfig;
use vpass_workload::synthetic::WorkloadConfig;

/// What a drive is asked for, beginning with data that has just been written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Span {
    /// How long it goes on.
    pub(super) days: f64,
    /// Host reads of a page in all that time, in the mean over the host's pages; a variant may have
    /// its own. Writes come beside them, by the workload's `read_share`.
    pub(super) reads_per_page: f64,
    /// In the timed gear: what counts, and the span is then served before it at once.
    #[serde(default)]
    pub(super) window: Option<Window>,
}

/// Requests that are timed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Window {
    /// Read requests, in the mean.
    pub(super) reads: u64,
    /// Share of the dies' time that the host's reads and writes take.
    pub(super) load: f64,
}

/// A day, in seconds.
const DAY_S: f64 = 86_400.0;
/// A week, in days.
const WEEK: f64 = 7.0;

impl Span {
    /// Whole weeks, one at least.
    pub(super) fn weeks(&self) -> u32 {
        (self.days / WEEK).floor().max(1.0) as u32
    }

    /// The workload over the whole span, on a drive whose host has so many pages.
    pub(super) fn requests(
        &self,
        own_reads: Option<f64>,
        workload: &WorkloadConfig,
        drive: &DriveConfig,
    ) -> WorkloadConfig {
        let page = drive.geometry.page_size.0;
        let pages = (drive.drive.capacity.map_or(0, |c| c.0) / page) as f64;
        let of_request = workload.block_size.map_or(1, |size| size.0.div_ceil(page)) as f64;
        let reads = own_reads.unwrap_or(self.reads_per_page) * pages / of_request;
        let requests = reads / workload.read_share.max(0.01);
        WorkloadConfig {
            requests: (requests.round() as u64).max(1),
            rate: Some(requests / (self.days * DAY_S)),
            queue_depth: None,
            ..workload.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_page_and_days_make_a_rate() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { capacity = "400KiB" }
        "#;
        let drive = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let workload: WorkloadConfig =
            toml::from_str("block_size = '8KiB'\nread_share = 0.5").unwrap();
        let span: Span = toml::from_str("days = 20\nreads_per_page = 40").unwrap();
        // 100 pages, 4,000 reads of them, two by each of 2,000 requests, beside which as many
        // write.
        let asked = span.requests(None, &workload, &drive);
        assert_eq!((asked.requests, asked.queue_depth, span.weeks()), (4000, None, 2));
        assert!((asked.rate.unwrap() - 4000.0 / 1_728_000.0).abs() < 1e-12);
        assert_eq!(span.requests(Some(80.0), &workload, &drive).requests, 8000);
    }
}
