//! Plays a stored case on a drive. This file has all doors of the drive through which cases are
//! played; `digest.rs` has those through which results are read.

use std::sync::{Arc, Mutex};

use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::{Device, FluidRun, RunError, Tag, run_untimed, warm_up};
use vpass_drive::watch::watcher::Batches;

use crate::case::{Case, Gear};
use crate::digest::{self, Digest, Ear, Heard};
use crate::requests::Requests;

/// Parts of what a case leaves.
pub(crate) const PARTS: [&str; 5] = ["map", "blocks", "counts", "times", "events"];

/// Plays a case to its end. With `is_logged`, the digests also keep their rows as text.
///
/// # Errors
/// A drive that is refused, or that ends for another reason than its failures.
pub(crate) fn play(case: &Case, is_logged: bool) -> Result<[Digest; PARTS.len()], String> {
    let (config, techniques) = (case.config()?, case.techniques());
    let is_timed = case.gear == Gear::Timed;
    let mut drive = Drive::new(config, &techniques, is_timed).map_err(|e| e.to_string())?;
    let heard = Arc::new(Mutex::new(Heard::new(is_logged)));
    drive.observe(Box::new(Batches::new(Box::new(Ear(heard.clone())))));
    if case.computed {
        drive.precondition_computed(case.seed);
    } else {
        drive.precondition(case.seed);
    }
    let mut source = case.requests.clone();
    source.begin(case.requests.warm_up);
    warm_up(&mut drive, &mut source, &mut |_, _| true).map_err(|e| format!("{e:?}"))?;
    drive.restart_clock();
    drive.begin_measurement();
    source.begin(case.requests.count);
    drive.expect_failures(&case.failures()?);
    let [mut completed, mut map, mut blocks, mut counts] = [(); 4].map(|()| Digest::new(is_logged));
    let served = match case.gear {
        Gear::Timed => serve_timed(&mut drive, &mut source, &mut completed),
        Gear::Untimed => run_untimed(&mut drive, &mut source, &mut |_, _| true).map(drop),
        Gear::Fluid => serve_fluid(&mut drive, &mut source, case),
    };
    match served {
        Ok(()) => drive.report_unread_losses(),
        // Too much flash has failed. This is a result, too.
        Err(RunError::Stopped(_)) => counts.row(&["stopped"], &[]),
        Err(other) => return Err(format!("{other:?}")),
    }
    // The watcher hears its last events.
    drop(drive.end_observation());
    digest::map(&drive, &mut map);
    digest::blocks(&drive, &mut blocks);
    digest::counts(&drive, &mut counts);
    completed.row(&["end"], &[drive.now()]);
    let heard = Arc::into_inner(heard).expect("the watcher is gone");
    let Heard { events, times } = heard.into_inner().expect("it did not panic");
    completed.row(&["events"], &[times.value]);
    completed.log = completed.log.zip(times.log).map(|(own, of_events)| own + &of_events);
    Ok([map, blocks, counts, completed, events])
}

/// Serves all requests in time, as a host does that submits them one by one. Adds the time of each
/// completion.
fn serve_timed(
    drive: &mut Drive,
    source: &mut Requests,
    digest: &mut Digest,
) -> Result<(), RunError> {
    let mut requests = vec![];
    source.fill(&mut requests, usize::MAX).map_err(RunError::Source)?;
    let (is_open, depth) = match source.arrival() {
        Arrival::Closed { depth } => (false, depth),
        _ => (true, drive.config().drive.max_outstanding),
    };
    let mut completed = |Tag(request): Tag, at: Ns| digest.row(&["request"], &[request.into(), at]);
    let (mut device, mut next) = (Device::new(drive), 0);
    loop {
        let may_submit = device.outstanding() < depth;
        let until = match requests.get_mut(next).filter(|_| may_submit) {
            Some(request) if is_open && !device.has_reached(request.at) => request.at,
            Some(request) => {
                if !is_open {
                    request.at = device.now();
                }
                device.attend(drive).map_err(RunError::Stopped)?;
                device.submit(drive, Tag(next as u32), request, &mut completed);
                next += 1;
                continue;
            }
            None if device.outstanding() == 0 => break,
            None => Ns::MAX,
        };
        device.pass(drive, until, &mut completed).map_err(RunError::Stopped)?;
    }
    let slow = &device.metrics().read_during_reclaim;
    digest.row(&["during reclaim"], &[slow.count(), slow.total_ns() as u64]);
    Ok(())
}

/// Serves the writes of a case at their times, and its reads in bulk.
fn serve_fluid(drive: &mut Drive, source: &mut Requests, case: &Case) -> Result<(), RunError> {
    let mut run = FluidRun::begin(drive, source, case.seed);
    let until = case.requests.gap * case.requests.count;
    run.go_on(drive, source, until, &mut |_, _| true)?;
    run.end(drive);
    Ok(())
}
