//! Groups whose data ages. In such a group, some refresh periods pass before the counted requests
//! begin. During these periods, the host only updates pages.
use serde::Deserialize;
use vpass_drive::config::DriveConfig;
use vpass_workload::synthetic::WorkloadConfig;

/// Settings of two parts of a run. First some refresh periods pass, and then requests are counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Periods {
    /// Number of refresh periods that pass before the counted requests.
    pub(super) before: f64,
    /// Share of the pages with data that the host updates in each period.
    pub(super) updates: f64,
    /// Expected number of page reads by the host in the whole counted part. A group with `reads`
    /// cannot have `counted`.
    pub(super) reads: Option<u64>,
    /// Number of counted periods in which the host only updates pages. A group with `counted`
    /// cannot have `reads`.
    pub(super) counted: Option<f64>,
    /// Share of reads in the counted requests. By default, the host continues to update pages at
    /// the same rate as in the earlier periods.
    pub(super) read_share: Option<f64>,
    /// Constant queue depth. A group with `queue_depth` cannot have a `load`.
    pub(super) queue_depth: Option<u32>,
    /// Whether to measure the stages of the host's page reads. Figures with a pointer to
    /// `/page_reads` need these stages.
    #[serde(default)]
    pub(super) stages: bool,
}

/// Times, in seconds, for which one operation keeps a die busy.
#[derive(Clone, Copy, Debug)]
struct DieTimes {
    /// Time of a page read: sensing plus transfer. The sensing time is the mean over the page kinds
    /// at full density.
    read: f64,
    program: f64,
}

impl DieTimes {
    fn of(drive: &DriveConfig) -> Self {
        let sense = drive.timing.sense_per_kind_us(drive.geometry.cell);
        let transfer = drive.geometry.page_size.0 as f64 / drive.timing.channel_mb_s;
        Self {
            read: (sense.iter().sum::<f64>() / sense.len() as f64 + transfer) / 1e6,
            program: drive.program_us_per_page() / 1e6,
        }
    }
}

impl Periods {
    /// Returns two workloads: the updates that come first, and the counted requests. Each request
    /// is for a single page in the filled part of the drive.
    pub(super) fn requests(
        &self,
        load: Option<f64>,
        workload: &WorkloadConfig,
        drive: &DriveConfig,
    ) -> (WorkloadConfig, WorkloadConfig) {
        let host_pages =
            (drive.drive.capacity.map_or(0, |c| c.0) / drive.geometry.page_size.0) as f64;
        let updates = self.updates * (host_pages * drive.start.fill).floor();
        let update_rate = updates / (drive.refresh.period.0 as f64 / 1e9);
        let of_pages = WorkloadConfig {
            block_size: Some(drive.geometry.page_size),
            footprint: drive.start.fill,
            // Writes have their own distribution, so the addresses of updates are independent of
            // the addresses of reads.
            write_distribution: Some(workload.write_distribution.unwrap_or(workload.distribution)),
            queue_depth: None,
            ..workload.clone()
        };
        let before = WorkloadConfig {
            requests: (self.before * updates).round().max(1.0) as u64,
            read_share: 0.0,
            rate: Some(update_rate),
            ..of_pages.clone()
        };
        let (die, dies) = (
            DieTimes::of(drive),
            f64::from(drive.geometry.channels * drive.geometry.dies_per_channel),
        );
        let Some(reads) = self.reads else {
            let requests = (self.counted.unwrap_or(0.0) * updates).round().max(1.0) as u64;
            return (before.clone(), WorkloadConfig { requests, ..before });
        };
        let busy = load.unwrap_or(0.0) * dies;
        let (read_share, rate) = match self.read_share {
            None => {
                let read_rate = busy / die.read;
                (read_rate / (read_rate + update_rate), read_rate + update_rate)
            }
            Some(share) => (share, busy / (share * die.read + (1.0 - share) * die.program)),
        };
        let requests = (reads as f64 / read_share).ceil() as u64;
        let (rate, queue_depth) =
            if self.queue_depth.is_some() { (None, self.queue_depth) } else { (Some(rate), None) };
        (before, WorkloadConfig { requests, read_share, rate, queue_depth, ..of_pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_take_a_period_and_reads_their_share_of_the_dies() {
        let drive = crate::load::drive(
            "tiny",
            &crate::load::overrides(&["start.fill=0.5".into()]).unwrap(),
        )
        .unwrap()
        .config;
        let periods = |more: &str| -> Periods {
            toml::from_str(&format!("before = 4\nupdates = 0.25\nreads = 1000\n{more}")).unwrap()
        };
        let uniform = WorkloadConfig::default();
        let (before, counted) = periods("").requests(Some(0.3), &uniform, &drive);
        // The drive has 1 GiB, and 32,768 of its pages hold data. A refresh period is 30 days.
        assert_eq!((before.requests, before.read_share), (32_768, 0.0));
        let month = 30.0 * 86_400.0;
        assert!((before.rate.unwrap() * month - 8192.0).abs() < 1e-6);
        // The drive has four dies. A page read senses for 20 us, and transfers 16 KiB at 1000 MB/s
        // in 16.384 us.
        let reads = counted.rate.unwrap() * counted.read_share;
        assert!((reads * 36.384e-6 / 4.0 - 0.3).abs() < 1e-9, "{reads}");
        assert!(
            (counted.rate.unwrap() * (1.0 - counted.read_share) * month / 8192.0 - 1.0).abs()
                < 1e-3
        );
        assert_eq!(
            (counted.requests, counted.footprint, counted.write_distribution),
            (1001, 0.5, Some(uniform.distribution))
        );
        let (_, mixed) = periods("read_share = 0.5").requests(Some(0.3), &uniform, &drive);
        assert!((mixed.rate.unwrap() * (18.192e-6 + 50e-6) / 4.0 - 0.3).abs() < 1e-9);
        let (_, closed) =
            periods("read_share = 1\nqueue_depth = 8").requests(None, &uniform, &drive);
        assert_eq!((closed.rate, closed.queue_depth, closed.requests), (None, Some(8), 1000));
        let updates: Periods = toml::from_str("before = 4\nupdates = 0.25\ncounted = 2").unwrap();
        let (before, counted) = updates.requests(None, &uniform, &drive);
        assert_eq!(
            (counted.requests, counted.read_share, counted.rate),
            (16_384, 0.0, before.rate)
        );
    }
}
