//! Groups whose drives are read for many days at a low rate. The recipe gives the number of days
//! and the number of reads per page. A window with timed requests may follow.
use serde::Deserialize;
use vpass_drive::config::DriveConfig;
use vpass_workload::synthetic::WorkloadConfig;

/// Span of a run: some days in which the drive is read at a low rate. The run starts with freshly
/// written data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Span {
    /// Length of the span in days.
    pub(super) days: f64,
    /// Mean number of host reads of a page in the whole span. A variant can have another number.
    /// The host also writes, according to `read_share` of the workload.
    pub(super) reads_per_page: f64,
    /// Counted window with timed requests after the span. If there is a window, only the requests
    /// in the window are timed.
    pub(super) window: Option<Window>,
}

/// Counted window with timed requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Window {
    /// Mean number of read requests.
    pub(super) reads: u64,
    /// Share of time for which the host's reads and writes keep the dies busy.
    pub(super) load: f64,
}

/// Number of seconds in a day.
const DAY_S: f64 = 86_400.0;
/// Number of days in a week.
const WEEK: f64 = 7.0;

impl Span {
    /// Returns the number of whole weeks in the span, at least 1.
    pub(super) fn weeks(&self) -> u32 {
        (self.days / WEEK).floor().max(1.0) as u32
    }

    /// Returns the requests of a workload for the whole span.
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
            drive = { capacity = "400KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            [geometry]
            channels = 1
            dies_per_channel = 1
            planes_per_die = 1
            blocks_per_plane = 40
            wordlines_per_block = 4
            cell = "slc"
            page_size = "4KiB"
        "#;
        let drive = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let workload: WorkloadConfig =
            toml::from_str("block_size = '8KiB'\nread_share = 0.5").unwrap();
        let span: Span = toml::from_str("days = 20\nreads_per_page = 40").unwrap();
        // 100 pages with 40 reads each have 4,000 page reads. A request reads two pages, so there
        // are 2,000 read requests. The workload has as many write requests.
        let asked = span.requests(None, &workload, &drive);
        assert_eq!((asked.requests, asked.queue_depth, span.weeks()), (4000, None, 2));
        assert!((asked.rate.unwrap() - 4000.0 / 1_728_000.0).abs() < 1e-12);
        assert_eq!(span.requests(Some(80.0), &workload, &drive).requests, 8000);
    }
}
