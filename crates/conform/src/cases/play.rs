//! Plays a stored case on a drive. This file and `digest.rs` hold all that cases need of the drive.

use std::collections::BTreeSet;

use vpass_drive::base::failure::Failure;
use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Device, FluidRun, FluidSource, RunError, Tag, run_untimed, warm_up};

use super::digest::{self, Digest, Ear};
use super::{Case, Gear, Step};

/// Parts of what a case leaves.
pub(super) const PARTS: [&str; 4] = ["map", "counts", "completions", "events"];
/// Parts of a run in the fluid gear with rates of their own.
const WINDOWS: u64 = 4;

/// What a case leaves.
pub(super) struct Played {
    /// Digests in the order of [`PARTS`].
    pub(super) parts: [Digest; PARTS.len()],
    /// Kinds of events that happened.
    pub(super) kinds: BTreeSet<Vec<&'static str>>,
}

/// Plays a case to its end. With `is_logged`, the digests also keep their rows as text.
///
/// # Errors
/// A drive that is refused, or that ends for another reason than its failures.
pub(super) fn play(case: &Case, is_logged: bool) -> Result<Played, String> {
    let is_timed = case.gear == Gear::Timed;
    let mut drive =
        Drive::new(case.config()?, &case.techniques(), is_timed).map_err(|e| e.to_string())?;
    drive.observe(Box::new(Ear::new(is_logged)));
    if case.computed {
        drive.precondition_computed(case.seed);
    } else {
        drive.precondition(case.seed);
    }
    let [before, steps] = case.steps(drive.geometry().page_bytes.into());
    if !before.is_empty() {
        warm_up(&mut drive, &mut Queue::of(before, 0), &mut |_, _| true)
            .map_err(|e| format!("{e:?}"))?;
        if drive.keeps_time() {
            drive.restart_clock();
        }
    }
    drive.begin_measurement();
    let failures: Result<Vec<Failure>, _> = case.failures.iter().map(|text| text.parse()).collect();
    drive.expect_failures(&failures?);
    let [mut map, mut counts, mut completed] = [(); 3].map(|()| Digest::new(is_logged));
    let served = match case.gear {
        Gear::Timed => serve_timed(&mut drive, steps, case.depth, &mut completed),
        Gear::Untimed => {
            run_untimed(&mut drive, &mut Queue::of(steps, case.depth), &mut |_, _| true).map(drop)
        }
        Gear::Fluid => serve_fluid(&mut drive, steps, case.seed),
    };
    match served {
        Ok(()) => drive.report_unread_losses(),
        // Too much flash has failed. This is a result, too.
        Err(RunError::Stopped(_)) => counts.row(&["stopped"], &[]),
        Err(other) => return Err(format!("{other:?}")),
    }
    completed.row(&["end"], &[drive.now()]);
    let Ear { events, times, kinds, .. } = *drive.end_observation_of().expect("the ear");
    digest::map(&drive, &mut map);
    digest::counts(&drive, &mut counts);
    completed.join(times);
    Ok(Played { parts: [map, counts, completed, events], kinds })
}

/// Requests in the order of service.
struct Queue {
    left: std::vec::IntoIter<Request>,
    depth: u32,
}

impl Queue {
    fn of(steps: Vec<Step>, depth: u32) -> Self {
        let request = |step| match step {
            Step::Request(request) => Some(request),
            Step::Flush => None,
        };
        let requests: Vec<Request> = steps.into_iter().filter_map(request).collect();
        Self { left: requests.into_iter(), depth }
    }
}

impl RequestSource for Queue {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        out.extend(self.left.by_ref().take(max));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        match self.depth {
            0 => Arrival::Open,
            depth => Arrival::Closed { depth },
        }
    }
}

/// Serves all requests in time, as a host does that submits them one by one. Adds each completion
/// with its time. A flush waits for all requests before it, and the requests after it wait for it.
fn serve_timed(
    drive: &mut Drive,
    steps: Vec<Step>,
    depth: u32,
    digest: &mut Digest,
) -> Result<(), RunError> {
    let limit = if depth == 0 { drive.config().drive.max_outstanding } else { depth };
    let mut completed = |Tag(request): Tag, at: Ns| digest.row(&["request"], &[request.into(), at]);
    let mut device = Device::new(drive);
    for (number, step) in steps.into_iter().enumerate() {
        let mut request = match step {
            Step::Flush => {
                while device.outstanding() > 0 {
                    device.pass(drive, Ns::MAX, &mut completed).map_err(RunError::Stopped)?;
                }
                device.begin_flush(drive);
                while !device.is_flushed() {
                    device.pass(drive, Ns::MAX, &mut completed).map_err(RunError::Stopped)?;
                }
                completed(Tag(number as u32), device.now());
                continue;
            }
            Step::Request(request) => request,
        };
        while device.outstanding() >= limit {
            device.pass(drive, Ns::MAX, &mut completed).map_err(RunError::Stopped)?;
        }
        while depth == 0 && !device.has_reached(request.at) {
            device.pass(drive, request.at, &mut completed).map_err(RunError::Stopped)?;
        }
        if depth > 0 {
            request.at = device.now();
        }
        device.attend(drive).map_err(RunError::Stopped)?;
        device.submit(drive, Tag(number as u32), &request, &mut completed);
    }
    while device.outstanding() > 0 {
        device.pass(drive, Ns::MAX, &mut completed).map_err(RunError::Stopped)?;
    }
    let during = &device.metrics().read_during_reclaim;
    digest.row(&["during reclaim"], &[during.count(), during.total_ns() as u64]);
    Ok(())
}

/// Requests for the fluid gear. The reads of each of [`WINDOWS`] parts of the run become rates.
struct Fluid {
    writes: Queue,
    /// Number of reads of each page, for each window.
    reads: Vec<Vec<f32>>,
    /// Time of a window, in ns.
    window: Ns,
    bytes_per_page: f64,
}

impl FluidSource for Fluid {
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns) {
        let number = from / self.window;
        let per_s = (1e9 / self.window as f64) as f32;
        let reads = self.reads.get(number as usize).map_or(&[][..], Vec::as_slice);
        let rates = ReadRates {
            pages: PageRates::Each(reads.iter().map(|reads| reads * per_s).collect()),
            requests_per_page: 1.0,
            bytes_per_page: self.bytes_per_page,
        };
        let is_over = number >= WINDOWS;
        (rates, if is_over { Ns::MAX } else { (number + 1) * self.window })
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        &mut self.writes
    }
}

/// Serves the writes of a case at their times, and its reads in bulk.
fn serve_fluid(drive: &mut Drive, steps: Vec<Step>, seed: u64) -> Result<(), RunError> {
    let page = u64::from(drive.geometry().page_bytes);
    let all = Queue::of(steps, 0).left;
    let end = all.as_slice().last().map_or(0, |last| last.at);
    let window = end / WINDOWS + 1;
    let mut reads = vec![vec![0.0; drive.geometry().host_pages as usize]; WINDOWS as usize];
    let (read, others): (Vec<_>, Vec<_>) = all.partition(|request| request.op == Op::Read);
    for Request { at, offset, bytes, .. } in read {
        let last = (offset + u64::from(bytes) - 1) / page;
        for lpn in offset / page..=last {
            reads[(at / window) as usize][lpn as usize] += 1.0;
        }
    }
    let writes = Queue { left: others.into_iter(), depth: 0 };
    let mut source = Fluid { writes, reads, window, bytes_per_page: page as f64 };
    let mut run = FluidRun::begin(drive, &mut source, seed);
    run.go_on(drive, &mut source, end, &mut |_, _| true)?;
    run.end(drive);
    Ok(())
}
