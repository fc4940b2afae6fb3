//! A search for bugs of the drive: random small drives under random requests, the oracle watching, on all cores.
//! A case is its seed, so that a failure is replayed by one line.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use vpass_oracle::swarm::run_case;

use crate::exit::{Exit, Failure};
use crate::progress::{Progress, is_interrupted};
use crate::{numbers, out, pool};

/// Cases handed to the cores at a time, each: enough to keep them busy, few enough to end on time.
const CASES_PER_CORE: u64 = 8;

/// Runs cases from `seed` on: for some minutes, or a number of them, or the one.
pub(crate) fn run(seed: u64, minutes: Option<f64>, count: Option<NonZeroU64>) -> Result<Exit, Failure> {
    if let Some(m) = minutes.filter(|m| !(*m > 0.0 && *m < 1e6)) {
        return Err(Failure::usage(format!("--minutes {m}: a number of minutes above 0 is expected")));
    }
    let end = minutes.map(|m| Instant::now() + Duration::from_secs_f64(m * 60.0));
    let wanted = count.map_or(if end.is_some() { u64::MAX } else { 1 }, NonZeroU64::get);
    let progress = Progress::new(count.map(NonZeroU64::get), "cases");
    let requests = AtomicU64::new(0);
    let pool = pool::threads(pool::cores())?;
    let batch = CASES_PER_CORE * pool.current_num_threads() as u64;
    let mut cases = 0;
    let mut failed = 0u64;
    while cases < wanted && end.is_none_or(|end| cases == 0 || Instant::now() < end) {
        let size = batch.min(wanted - cases);
        let one = |i: u64| {
            let case = seed.wrapping_add(cases + i);
            if is_interrupted() {
                return None;
            }
            let result = run_case(case);
            progress.advance(1);
            match result {
                Ok(summary) => requests.fetch_add(summary.requests, Ordering::Relaxed),
                Err(sentence) => return Some((case, sentence)),
            };
            None
        };
        let failures: Vec<(u64, String)> = pool.install(|| (0..size).into_par_iter().filter_map(one).collect());
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        for (case, sentence) in &failures {
            out::print(&format!("seed {case}: {sentence}\n  replay: vpass check --seed {case}\n"))?;
        }
        failed += failures.len() as u64;
        cases += size;
    }
    drop(progress);
    let drives = numbers::plural(cases, "random drive");
    if failed > 0 {
        return Err(Failure::failed(format!("{} of {drives} failed", numbers::count(failed))));
    }
    let requests = numbers::plural(requests.into_inner(), "request");
    out::print(&format!("{drives} from seed {seed} on, {requests}: the oracle found no error\n"))?;
    Ok(Exit::Done)
}
