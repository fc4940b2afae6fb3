//! Results of each stage of a drive's life, for parity techniques with stages. A stage lasts until
//! the next stage begins, or until the end of the run.

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::{FlashCounts, HostCounts, Latency};
use vpass_drive::base::units::Cause;
use vpass_drive::base::window::Window;
use vpass_drive::drive::{Beginning, Drive, Lifetime};
use vpass_drive::time::Replay;

use super::{ByCause, Quantiles};

/// Results of a stage of the drive's life. Only the part of the stage within the measured phase
/// counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// Number of the stage: 1, 2 or 3.
    pub stage: u8,
    /// Time at which the stage begins, in seconds. Null outside the timed gear.
    pub from_s: Option<f64>,
    /// Time at which the stage ends, in seconds. Null outside the timed gear.
    pub to_s: Option<f64>,
    /// Number of read requests in the stage.
    pub read_requests: u64,
    /// Number of write requests in the stage.
    pub write_requests: u64,
    /// Number of pages that the host wrote in the stage.
    pub write_pages: u64,
    /// Number of flash pages read in the stage, for each cause.
    pub reads: ByCause,
    /// Number of flash pages programmed in the stage, for each cause.
    pub programs: ByCause,
    /// Number of stripes with parity at the end of the stage.
    pub protected_stripes: u64,
    /// Time that stripes waited for parity after a page move. The time is in seconds, summed over
    /// all stripes. Null outside the timed gear.
    pub waiting_s: Option<f64>,
    /// Latencies of the requests that ended in the stage.
    pub latency_us: Response,
}

/// Latencies of the requests of a stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Response {
    /// Latencies of host reads.
    pub read: Quantiles,
    /// Latencies of host writes.
    pub write: Quantiles,
}

/// Returns the results of all stages, in order.
pub(super) fn stages(drive: &Drive, lifetime: &Lifetime, engine: Option<&Replay>) -> Vec<Stage> {
    let Some(waiting) = drive.forming_window() else { return vec![] };
    let began = lifetime.beginnings();
    let now = |stage, at, host, flash| Beginning {
        stage,
        at,
        host,
        flash,
        protected_stripes: drive.stripes_with_parity(),
        waiting,
    };
    let end = now(lifetime.stage(), drive.now(), *drive.host_counts(), *drive.flash_counts());
    let start = Beginning {
        waiting: Window::default(),
        ..now(lifetime.first(), 0, HostCounts::default(), FlashCounts::default())
    };
    let marks: Vec<&Beginning> = [&start].into_iter().chain(began).chain([&end]).collect();
    let latencies = latencies(engine, began.len());
    let of = |(n, marks): (usize, &[&Beginning])| {
        between(marks[0], marks[1], drive.is_timed(), &latencies[n])
    };
    marks.windows(2).enumerate().map(of).collect()
}

/// Returns the latencies of host reads and host writes for each stage. `further` is the number of
/// stages that follow the first stage.
fn latencies(engine: Option<&Replay>, further: usize) -> Vec<(Latency, Latency)> {
    let Some(metrics) = engine.map(Replay::metrics) else {
        return vec![<(Latency, Latency)>::default(); further + 1];
    };
    let nothing = <(Latency, Latency)>::default();
    let ends: Vec<(&Latency, &Latency)> =
        [&nothing].into_iter().chain(&metrics.stages).map(|(read, write)| (read, write)).collect();
    let ends = [&ends[..], &[(&metrics.read, &metrics.write)]].concat();
    ends.windows(2).map(|ends| (ends[1].0.since(ends[0].0), ends[1].1.since(ends[0].1))).collect()
}

fn between(
    from: &Beginning,
    to: &Beginning,
    timed: bool,
    (read, write): &(Latency, Latency),
) -> Stage {
    let seconds = |ns: u128| timed.then(|| ns as f64 / 1e9);
    let less = |of: fn(&FlashCounts) -> &[u64; Cause::COUNT]| {
        ByCause(std::array::from_fn(|cause| of(&to.flash)[cause] - of(&from.flash)[cause]))
    };
    Stage {
        stage: from.stage.number(),
        from_s: seconds(from.at.into()),
        to_s: seconds(to.at.into()),
        read_requests: to.host.read_requests - from.host.read_requests,
        write_requests: to.host.write_requests - from.host.write_requests,
        write_pages: to.host.write_pages - from.host.write_pages,
        reads: less(|flash| &flash.reads),
        programs: less(|flash| &flash.programs),
        protected_stripes: to.protected_stripes,
        waiting_s: seconds(to.waiting.stripe_ns - from.waiting.stripe_ns),
        latency_us: Response { read: Quantiles::of(read), write: Quantiles::of(write) },
    }
}
