//! Plots: figures with many points per run. For example, a plot shows response times, a cumulative
//! histogram, or the wear of every block.
use std::fmt::Write;

use serde_json::Value;
use vpass_drive::time::Replay;

use super::csv::field;
use super::recipe::{Plot, PlotKind};
use super::run::{REFUSED, Run};
use super::slow_reads;
use crate::failure::Failure;

/// Width of a bin of response times, in milliseconds. There are `BINS` bins. The last bin has no
/// upper end.
const BIN_MS: u64 = 50;
const BINS: usize = 20;
/// Key of an entry in the summary of a run. The entry has the bins of response times.
pub(super) const RESPONSES: &str = "responses_50_ms";

/// Counts the reads that waited for a reclaim job, by response time. Each bin is 50 ms wide.
pub(super) fn responses(engine: &Replay) -> [u64; BINS] {
    let mut bins = [0; BINS];
    for step in engine.metrics().read_during_reclaim.histogram().iter_recorded() {
        let bin = step.value_iterated_to() / (BIN_MS * 1_000_000);
        bins[(bin as usize).min(BINS - 1)] += step.count_at_value();
    }
    bins
}

/// Returns the points of a plot as CSV. `slot` is the kind of the compared techniques, such as
/// reclaim. A read is long if it takes more than `long_us`.
///
/// # Errors
/// Returns an error if a JSON pointer does not lead to a list of numbers. Also returns an error if
/// a plot needs the stages of reads, but the stages were not measured.
pub(super) fn csv(
    plot: &Plot,
    slot: &str,
    runs: &[Run],
    long_us: Option<f64>,
) -> Result<String, Failure> {
    let columns = match plot.kind {
        PlotKind::Responses => "from_ms,to_ms,reads",
        PlotKind::Cumulative => "up_to_share,count,cumulative_share",
        PlotKind::Blocks => "block,pec_cycles,effective_pec_cycles",
        PlotKind::Weeks => slow_reads::COLUMNS,
        PlotKind::Stages => {
            "seed,case,reads,share,faster,wait_us,sense_us,channel_wait_us,transfer_us,retry_us"
        }
    };
    let mut csv = format!("# {}\nvariant,workload,{slot},{columns}\n", plot.title);
    let shown = |run: &&Run| {
        plot.shows(&run.group, &run.workload)
            && (plot.reclaim.is_empty() || plot.reclaim.iter().any(|r| r == run.technique))
    };
    for run in runs.iter().filter(shown) {
        let name = format!("{},{},{}", field(&run.variant), field(&run.workload), run.technique);
        if run.fell_behind && plot.kind == PlotKind::Responses {
            let _ = writeln!(csv, "{name},,,{REFUSED}");
            continue;
        }
        let rows = match plot.kind {
            PlotKind::Responses => response_rows(&list(plot, run, &format!("/{RESPONSES}"))?),
            PlotKind::Cumulative => cumulative_rows(&list(plot, run, &plot.metric)?),
            PlotKind::Blocks => block_rows(run),
            PlotKind::Stages => stage_rows(plot, run)?,
            PlotKind::Weeks => slow_reads::rows(run, long_us.unwrap_or_default())?,
        };
        for row in rows {
            let _ = writeln!(csv, "{name},{row}");
        }
    }
    Ok(csv)
}

fn list(plot: &Plot, run: &Run, pointer: &str) -> Result<Vec<u64>, Failure> {
    let list = run.summary.pointer(pointer).and_then(Value::as_array);
    let list = list.ok_or_else(|| {
        Failure::usage(format!(
            "plot {}: {pointer} does not point to a list of numbers in a summary",
            plot.name
        ))
    })?;
    Ok(list.iter().map(|n| n.as_u64().unwrap_or(0)).collect())
}

fn response_rows(bins: &[u64]) -> Vec<String> {
    let end = |bin: usize| {
        if bin + 1 == BINS { String::new() } else { ((bin as u64 + 1) * BIN_MS).to_string() }
    };
    bins.iter()
        .enumerate()
        .map(|(bin, count)| format!("{},{},{count}", bin as u64 * BIN_MS, end(bin)))
        .collect()
}

fn cumulative_rows(bins: &[u64]) -> Vec<String> {
    let all = bins.iter().sum::<u64>().max(1) as f64;
    let mut sum = 0;
    let mut row = |(bin, count): (usize, &u64)| {
        sum += count;
        format!("{},{count},{}", (bin + 1) as f64 / bins.len() as f64, sum as f64 / all)
    };
    bins.iter().enumerate().map(&mut row).collect()
}

fn block_rows(run: &Run) -> Vec<String> {
    let row = |(block, (pec, effective_milli)): (usize, &(u32, u64))| {
        format!("{block},{pec},{}", *effective_milli as f64 / 1e3)
    };
    run.blocks.iter().enumerate().map(row).collect()
}

/// Returns rows with the stages of reads. First, there is a row for each page kind. Then, there is
/// a row for each combination of valid and invalid lower pages in the wordline of the read page.
fn stage_rows(plot: &Plot, run: &Run) -> Result<Vec<String>, Failure> {
    let cases = |by: &str| {
        let cases = run.summary.pointer(&format!("/page_reads/{by}")).and_then(Value::as_object);
        cases.ok_or_else(|| {
            Failure::usage(format!(
                "plot {}: the periods of group {} need `stages = true`",
                plot.name, run.group
            ))
        })
    };
    let row = |(case, of_case): (&String, &Value)| {
        let keys = [
            "reads",
            "share",
            "faster",
            "wait_us",
            "sense_us",
            "channel_wait_us",
            "transfer_us",
            "retry_us",
        ];
        let cells: Vec<String> = keys.iter().map(|key| of_case[*key].to_string()).collect();
        format!("{},{},{}", run.plan.seed, field(case), cells.join(","))
    };
    Ok(cases("by_kind")?.iter().chain(cases("by_validity")?).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_added_up() {
        assert_eq!(
            cumulative_rows(&[1, 0, 3, 0]),
            ["0.25,1,0.25", "0.5,0,0.25", "0.75,3,1", "1,0,1"]
        );
        assert_eq!(cumulative_rows(&[0, 0])[1], "1,0,0");
    }

    #[test]
    fn the_last_bin_of_response_times_has_no_end() {
        let rows = response_rows(&[7; BINS]);
        assert_eq!(
            (rows[0].as_str(), rows[6].as_str(), rows[19].as_str()),
            ("0,50,7", "300,350,7", "950,,7")
        );
    }
}
