//! Read latencies (p99.9) and rewritten pages of a run, in time windows of equal length.

use serde::Deserialize;
use vpass_lab::failure::Failure;

use crate::model::{Row, Run};

/// Number of time windows into which a run is divided.
pub const WINDOWS: usize = 80;

/// Read latencies and rewrites of a technique over simulated time, with the range over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Length of the runs in simulated seconds, as the mean over the seeds.
    pub seconds: f64,
    /// Median over the seeds of the p99.9 read latency in each window, in microseconds. The latency
    /// is absent without reads or without the file `latency.csv`.
    pub p99_9_us: Vec<Option<f64>>,
    /// Smallest and largest p99.9 read latency of any seed, in each window.
    pub range_us: Vec<Option<(f64, f64)>>,
    /// Mean number of pages per second that were rewritten because of reads, in each window.
    pub rewrites: Vec<f64>,
}

impl Course {
    /// Reads the values of a technique over time; `None` if its results have no simulated time.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read.
    pub fn of(row: &Row) -> Result<Option<Self>, Failure> {
        let mut seeds = vec![];
        for run in &row.runs {
            seeds.extend(of_run(run)?);
        }
        if seeds.is_empty() {
            return Ok(None);
        }
        let n = seeds.len() as f64;
        let mut course = Self {
            seconds: seeds.iter().map(|seed| seed.seconds).sum::<f64>() / n,
            p99_9_us: vec![],
            range_us: vec![],
            rewrites: vec![],
        };
        for w in 0..WINDOWS {
            let mut tails: Vec<f64> = seeds.iter().filter_map(|seed| seed.p99_9_us[w]).collect();
            tails.sort_by(f64::total_cmp);
            course.p99_9_us.push(tails.get(tails.len() / 2).copied());
            course.range_us.push(tails.first().copied().zip(tails.last().copied()));
            course.rewrites.push(seeds.iter().map(|seed| seed.rewrites[w]).sum::<f64>() / n);
        }
        Ok(Some(course))
    }
}

/// Row of `series.csv`. In the untimed gear, rows have no time.
#[derive(Deserialize)]
struct Moment {
    simulated_s: Option<f64>,
    programs_reclaim_pages: f64,
}

/// Row of `latency.csv`.
#[derive(Deserialize)]
struct Window {
    from_s: f64,
    to_s: f64,
    op: String,
    p99_9_us: Option<f64>,
}

/// Read latencies and rewrites of one run over simulated time.
struct OfRun {
    seconds: f64,
    p99_9_us: Vec<Option<f64>>,
    rewrites: Vec<f64>,
}

fn of_run(run: &Run) -> Result<Option<OfRun>, Failure> {
    let Some(seconds) = run.summary.simulation.simulated_s.filter(|s| *s > 0.0) else {
        return Ok(None);
    };
    let Some(series) = run.folder.rows::<Moment>("series.csv")? else { return Ok(None) };
    let known =
        series.iter().filter_map(|row| Some((row.simulated_s?, row.programs_reclaim_pages)));
    let points: Vec<(f64, f64)> = std::iter::once((0.0, 0.0)).chain(known).collect();
    // In the untimed gear, rows have no time.
    if points.len() == 1 {
        return Ok(None);
    }
    Ok(Some(OfRun { seconds, p99_9_us: tails(run, seconds)?, rewrites: rates(&points, seconds) }))
}

/// Returns by how much a curve rises per second, in each window. `seconds` is the length of the
/// run. The curve is straight between its points. After the last point, it stays level.
fn rates(points: &[(f64, f64)], seconds: f64) -> Vec<f64> {
    let value = |at: f64| {
        let next = points.partition_point(|(s, _)| *s < at).clamp(1, points.len());
        let (s0, v0) = points[next - 1];
        let (s1, v1) = *points.get(next).unwrap_or(&(s0, v0));
        if s1 > s0 { v0 + (v1 - v0) * (at - s0) / (s1 - s0) } else { v0 }
    };
    let length = seconds / WINDOWS as f64;
    let edge = |w: usize| value(w as f64 * length);
    (0..WINDOWS).map(|w| (edge(w + 1) - edge(w)) / length).collect()
}

/// Returns the p99.9 read latency of each window. The windows in `latency.csv` have another length.
/// Therefore each window takes the value of the stored window that contains its middle.
fn tails(run: &Run, seconds: f64) -> Result<Vec<Option<f64>>, Failure> {
    let nothing = vec![None; WINDOWS];
    let Some(all) = run.folder.rows::<Window>("latency.csv")? else { return Ok(nothing) };
    let reads: Vec<Window> = all.into_iter().filter(|window| window.op == "read").collect();
    let at = |w: usize| {
        let middle = (w as f64 + 0.5) / WINDOWS as f64 * seconds;
        let window = reads.iter().find(|of| of.from_s <= middle && middle < of.to_s)?;
        window.p99_9_us.filter(|us| us.is_finite() && *us > 0.0)
    };
    Ok((0..WINDOWS).map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    fn run(files: &[(&str, &str)]) -> Run {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        let mut summary = crate::testing::summary();
        summary.simulation.simulated_s = Some(80.0);
        Run { summary, folder: Folder::of_files("run", files) }
    }

    #[test]
    fn rates_are_slopes_and_end_at_the_last_point() {
        // The curve rises by 10 pages per second for 40 s, and then stays level.
        let rates = rates(&[(0.0, 0.0), (40.0, 400.0)], 80.0);
        assert!(rates[..40].iter().all(|r| (r - 10.0).abs() < 1e-9), "{rates:?}");
        assert!(rates[40..].iter().all(|r| r.abs() < 1e-9), "{rates:?}");
    }

    #[test]
    fn windows_take_the_stored_window_at_their_middle() {
        let series = "requests,simulated_s,programs_reclaim_pages\n1,80,80\n";
        let latency =
            "from_s,to_s,op,count,p99_9_us\n0,40,read,5,100\n0,40,write,5,7\n40,80,read,0,\n";
        let seed = run(&[("series.csv", series), ("latency.csv", latency)]);
        let of_seed = of_run(&seed).unwrap().unwrap();
        assert_eq!(of_seed.p99_9_us[..40], [Some(100.0); 40]);
        assert_eq!(of_seed.p99_9_us[40..], [None; 40]);
        assert!((of_seed.rewrites[79] - 1.0).abs() < 1e-9);
        assert!(of_run(&run(&[])).unwrap().is_none());
        let wrong = of_run(&run(&[("series.csv", "a\n1\n")])).err().unwrap();
        assert!(wrong.to_string().contains("missing field `programs_reclaim_pages`"), "{wrong}");
    }
}
