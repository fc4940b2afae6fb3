//! Latencies that page reads would have on an idle drive. The latencies are computed from the
//! number of retries of each read, so the latencies are known in every gear. Each read is assumed
//! to be of the slowest page kind, as in the latency budgets of hints.
use std::fmt::Write;

use serde_json::{Value, json};
use vpass_drive::base::units::{Cause, Ns, transfer_ns};
use vpass_drive::config::DriveConfig;
use vpass_drive::hints::Budgets;

use super::run::Run;
use crate::failure::Failure;
use crate::results::Retries;
use crate::run::Outcome;
use crate::series::Part;

/// Key of an entry in the summary of a run. The entry has the latencies that reads would have on an
/// idle drive.
pub(super) const READS: &str = "reads";

/// Read latencies, by the number of retries.
struct Takes {
    /// Latency of a read for each number of retries, beginning with 0 retries.
    by_retries: Vec<Ns>,
    /// Additional latency of a read that skipped the first decoding level and began at a higher
    /// level. `None` if this latency differs between the levels.
    began_higher: Option<Ns>,
    long: Ns,
}

impl Takes {
    /// Computes the latencies for a drive. Returns `None` if the drive makes no retries.
    fn of(drive: &DriveConfig, long_us: f64) -> Result<Option<Self>, Failure> {
        let Some(budgets) = Budgets::of(drive).map_err(Failure::usage)? else { return Ok(None) };
        let by_retries: Vec<Ns> =
            (0..drive.ecc.levels() as u8).map(|retries| budgets.latency(retries)).collect();
        let each: Vec<Ns> = by_retries.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let first = by_retries[0] - transfer_ns(drive.geometry.page_size.0, drive.timing.host_mb_s);
        let alike = each.iter().all(|retry| *retry == each[0]);
        Ok(Some(Self {
            began_higher: alike.then(|| each[0].saturating_sub(first)),
            by_retries,
            long: (long_us * 1e3) as Ns,
        }))
    }

    /// Returns the smallest number of retries with which a read is long. The latency of a long read
    /// exceeds `long`.
    ///
    /// # Errors
    /// Returns an error if the smallest number of retries depends on the decoding level at which a
    /// read began.
    fn long_from(&self, some_began_higher: bool) -> Result<usize, Failure> {
        let from = |more: Ns| {
            self.by_retries
                .iter()
                .position(|takes| takes + more > self.long)
                .unwrap_or(self.by_retries.len())
        };
        let least = from(0);
        if !some_began_higher || self.began_higher.map(from) == Some(least) {
            Ok(least)
        } else {
            Err(no_number())
        }
    }

    /// Returns the mean latency in microseconds; `None` without reads.
    ///
    /// # Errors
    /// Returns an error if the mean depends on the decoding levels at which reads began.
    fn mean_us(&self, retries: &Retries) -> Result<Option<f64>, Failure> {
        let reads: u64 = retries.histogram.iter().sum();
        let sum: f64 = retries
            .histogram
            .iter()
            .zip(&self.by_retries)
            .map(|(reads, takes)| *reads as f64 * *takes as f64)
            .sum();
        let each =
            if retries.began_higher > 0 { self.began_higher.ok_or_else(no_number)? } else { 0 };
        let all = sum + retries.began_higher as f64 * each as f64;
        Ok((reads > 0).then(|| all / reads as f64 / 1e3))
    }
}

fn no_number() -> Failure {
    Failure::usage(
        "long_us: with ecc.start_from_last, all retries must take the same time, and the number of \
         retries that makes a read long must not depend on the level at which the read begins",
    )
}

/// Returns the read latencies of a run. `weeks` has the data of each week of the run. A read is
/// long if it takes more than `long_us`. If the drive makes no retries, returns null.
///
/// # Errors
/// Returns an error if the latencies of the drive cannot be computed.
pub(super) fn of(
    drive: &DriveConfig,
    outcome: &Outcome,
    weeks: &[Part],
    long_us: f64,
) -> Result<Value, Failure> {
    let (Some(takes), Some(retries)) = (Takes::of(drive, long_us)?, &outcome.summary.retries)
    else {
        return Ok(Value::Null);
    };
    let from = takes.long_from(retries.began_higher > 0)?;
    let share = |part: Option<&Part>| part.map(|part| long_share(part, from));
    Ok(json!({
        "data_pages": drive.drive.capacity.map_or(0, |c| c.0) / drive.geometry.page_size.0,
        "mean_us": takes.mean_us(retries)?,
        "long": retries.histogram.iter().skip(from).sum::<u64>(),
        "long_share_first_week": share(weeks.first()),
        "long_share_last_week": share(weeks.last()),
    }))
}

/// Returns the number of reads with at least `from` retries.
fn long_reads(part: &Part, from: usize) -> f64 {
    from.checked_sub(1).map_or(part.read_pages, |others| part.retried.iter().skip(others).sum())
}

fn long_share(part: &Part, from: usize) -> f64 {
    if part.read_pages > 0.0 { long_reads(part, from) / part.read_pages } else { 0.0 }
}

/// Columns of the rows that [`rows`] returns.
pub(super) const COLUMNS: &str = "seed,sample,week,read_pages,programs_reclaim_pages,\
    programs_gc_pages,reads_with_retry,long_reads,long_share";

/// Returns a row for each week of a run.
///
/// # Errors
/// Returns an error if [`of`] fails.
pub(super) fn rows(run: &Run, long_us: f64) -> Result<Vec<String>, Failure> {
    let higher =
        run.summary.pointer("/retries/began_higher").and_then(Value::as_u64).unwrap_or(0) > 0;
    let from = Takes::of(&run.plan.drive.config, long_us)?
        .map(|takes| takes.long_from(higher))
        .transpose()?;
    let row = |(week, part): (usize, &Part)| {
        let mut row = format!(
            "{},{},{},{}",
            run.plan.seed,
            run.plan.sample.residue,
            week + 1,
            part.read_pages
        );
        for cause in [Cause::Reclaim, Cause::Gc] {
            let _ = write!(row, ",{}", part.programs[cause as usize]);
        }
        let _ = write!(row, ",{}", part.retried.iter().sum::<f64>());
        let of_long =
            from.map(|from| format!(",{},{}", long_reads(part, from), long_share(part, from)));
        row + &of_long.unwrap_or_else(|| ",,".into())
    };
    Ok(run.weeks.iter().enumerate().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes latencies for a drive whose sensing takes 60 us and decoding 10 us. Each retry adds
    /// 110 us for sensing, and its number in `retry_decode_us` for decoding.
    fn takes(retry_decode_us: &str) -> Takes {
        let text = format!(
            r#"
            drive = {{ spare = 0.5 }}
            disturb = {{ model = "count", table = [{{ pec = 0, limit = [100.0] }}] }}
            error = {{ model = "powerlaw", e = 0.001, b = 0.0 }}
            [geometry]
            channels = 1
            dies_per_channel = 1
            planes_per_die = 1
            blocks_per_plane = 40
            wordlines_per_block = 4
            cell = "slc"
            page_size = "4KiB"
            [timing]
            sense_us = 60
            program_us = 500
            erase_us = 3000
            channel_mb_s = 0
            ecc_us = 10
            [ecc]
            cap = [0.002, 0.0025, 0.003]
            retry_sense_us = [110, 110]
            retry_decode_us = {retry_decode_us}
            start_from_last = true
            "#
        );
        let drive = toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap();
        Takes::of(&drive, 300.0).unwrap().unwrap()
    }

    #[test]
    fn latencies_follow_from_retries_and_from_where_reads_began() {
        let takes = takes("[40, 40]");
        assert_eq!(
            (takes.by_retries.clone(), takes.began_higher),
            (vec![70_000, 220_000, 370_000], Some(80_000))
        );
        assert_eq!(
            (takes.long_from(false).unwrap(), takes.long_from(true).unwrap()),
            (2, 2),
            "220 and 80 are 300, which is not longer"
        );
        let retries = |began_higher| Retries {
            histogram: vec![6, 3, 1],
            mean: None,
            reads_with_retry: 4,
            began_higher,
            budget_raised: 0,
        };
        assert_eq!(
            takes.mean_us(&retries(0)).unwrap(),
            Some((6.0 * 70.0 + 3.0 * 220.0 + 370.0) / 10.0)
        );
        assert_eq!(
            takes.mean_us(&retries(2)).unwrap(),
            Some((6.0 * 70.0 + 3.0 * 220.0 + 370.0 + 2.0 * 80.0) / 10.0)
        );
    }

    #[test]
    fn where_retries_differ_there_is_no_number_for_reads_that_began_with_one() {
        let takes = takes("[40, 41]");
        assert!(
            takes.long_from(false).is_ok_and(|from| from == 2) && takes.long_from(true).is_err()
        );
        let retries = Retries {
            histogram: vec![1, 0, 0],
            mean: None,
            reads_with_retry: 0,
            began_higher: 1,
            budget_raised: 0,
        };
        assert!(takes.mean_us(&retries).is_err());
    }
}
