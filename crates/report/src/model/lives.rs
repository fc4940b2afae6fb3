//! Model of the results that `vpass life --out` wrote into a folder.

use std::collections::BTreeMap;

use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_lab::compare::baselines;
use vpass_lab::failure::Failure;
use vpass_lab::life::record::Lives;
use vpass_lab::life::series;
use vpass_lab::life::summary;
use vpass_lab::mean_ci95::MeanCi95;

use super::{Cell, Kind, Life, Model, Row};
use crate::folder::Folder;
use crate::measure::READS_SHARE;

/// Number of causes of wear that charts show. Regrouping by hints is not among them.
pub const CAUSES: usize = 6;

/// Shares of the causes of wear, at several points of a drive's life.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wearing {
    /// Share of each cause in all programmed pages.
    pub shares: [f64; CAUSES],
    /// Years from the start of the life to each point, in ascending order.
    pub years: Vec<f64>,
    /// Mean number of P/E cycles of a block at each point.
    pub pec: Vec<f64>,
    /// Share of each cause in the wear between two points, for each point and the point before it.
    pub consumed: Vec<[f64; CAUSES]>,
}

/// Reads the results of `vpass life` from its folder.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    let lives: Option<Lives> = folder.read_as("life.json")?;
    let lives = lives.filter(|lives| !lives.techniques.is_empty());
    let lives = lives.ok_or_else(|| folder.wrong("life.json", "`techniques` is empty"))?;
    let refused = lives.refused.iter().map(|row| format!("{} was refused: {}", row.label, row.why));
    let notes = refused.chain(lives.techniques.iter().filter_map(unsure)).collect();
    let reclaims = lives.techniques.iter().map(|life| life.reclaim != NO_RECLAIM);
    let baselines = baselines(&reclaims.collect::<Vec<_>>());
    // The file `life.json` also holds the configuration of the drive.
    let call = folder.json("manifest.json")?.unwrap_or_default();
    let mut manifest = folder.json("life.json")?.unwrap_or_default();
    for key in ["command_line", "git_commit"] {
        manifest[key] = call[key].clone();
    }
    Ok(Model {
        kind: Kind::Lives,
        about: lives.about,
        verdict: lives.verdict,
        notes,
        rows: lives.techniques.iter().zip(baselines).map(row).collect(),
        others: vec![],
        winners: BTreeMap::from([("life".to_owned(), lives.longest.into_iter().collect())]),
        findings: BTreeMap::new(),
        manifest,
        sweep: None,
    })
}

/// Returns a sentence about a life of which the years are not sure; `None` for other lives.
fn unsure(life: &summary::Life) -> Option<String> {
    let why = match (life.out_of_work, life.has_settled) {
        (true, _) => "only bounds of the life are known, so it is not compared",
        (_, false) => "wear had not settled, so the years have no interval",
        _ => return None,
    };
    Some(format!("{}: {why}.", life.label))
}

fn row((life, baseline): (&summary::Life, bool)) -> Row {
    let cell = |value: MeanCi95| Cell { mean: value.mean, ci95: value.ci95, half95: value.ci95 };
    let single = |mean: f64| Cell { mean, ci95: None, half95: None };
    let cells = [
        ("write_amplification", life.write_amplification.map(cell)),
        ("read_wear", life.read_wear.map(cell)),
        ("read_wear_net", life.read_wear_net.map(cell)),
        ("uber", life.uber.map(cell)),
        ("pec_mean", Some(cell(life.pec_mean))),
        ("data_lost_pages", Some(single(life.data_lost_pages))),
        ("worst_dose_ratio", life.worst_dose_ratio.map(single)),
        (READS_SHARE, life.consumed.as_ref().map(|of| single(100.0 * of.reads.mean))),
    ];
    let known = cells.into_iter().filter_map(|(key, cell)| Some((key.to_owned(), cell?)));
    Row {
        label: life.label.clone(),
        reclaim: life.reclaim.clone(),
        counterfactual: life.counterfactual,
        baseline,
        // Pages count as lost even if only the acceleration of wear may have caused the loss. The
        // years of such a life are not reliable.
        lost_pages: life.data_lost_pages,
        life: Some(Life::simulated(life)),
        wearing: life.consumed.as_ref().map(|consumed| wearing(consumed, &life.series)),
        warnings: life.warnings.clone(),
        assumptions: vec![],
        runs: vec![],
        cells: known.collect(),
    }
}

fn wearing(consumed: &summary::Consumed, rows: &[series::Row]) -> Wearing {
    let causes = consumed.rows();
    let shares = std::array::from_fn(|cause| causes[cause].1.mean);
    let steps = || (1..rows.len()).filter(|n| rows[*n].pec_mean > rows[*n - 1].pec_mean);
    Wearing {
        shares,
        years: steps().map(|n| rows[n].years).collect(),
        pec: steps().map(|n| rows[n].pec_mean).collect(),
        consumed: steps().map(|n| between(rows, n)).collect(),
    }
}

/// Returns the share of each cause in the wear between a point and the point before it. Results
/// store shares in all wear up to a point. At each point, the wear by a cause is its share times
/// the P/E cycles up to there.
fn between(rows: &[series::Row], n: usize) -> [f64; CAUSES] {
    let worn = |row: &series::Row| {
        row.consumed().map(|share| share.unwrap_or(0.0) * (row.pec_mean - rows[0].pec_mean))
    };
    let (before, after) = (worn(&rows[n - 1]), worn(&rows[n]));
    let grown: [f64; CAUSES] = std::array::from_fn(|cause| (after[cause] - before[cause]).max(0.0));
    let all: f64 = grown.iter().sum();
    grown.map(|of| if all > 0.0 { of / all } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: MeanCi95 = MeanCi95 { mean: 0.0, ci95: None };

    /// Returns the wear of a life whose pages only the host and reads program. Each point has
    /// years, P/E cycles, and the share of reads so far.
    fn wearing(points: &[(f64, f64, Option<f64>)]) -> Wearing {
        let row = |(years, pec_mean, reads): &(f64, f64, Option<f64>)| series::Row {
            years: *years,
            used: 0.0,
            pec_mean: *pec_mean,
            consumed_host: reads.map(|share| 1.0 - share),
            consumed_gc: None,
            consumed_reclaim: *reads,
            consumed_refresh: None,
            consumed_levelling: None,
            consumed_parity: None,
            consumed_hints: None,
        };
        let consumed = summary::Consumed {
            host: NOTHING,
            gc: NOTHING,
            reads: MeanCi95 { mean: 0.5, ci95: None },
            age: NOTHING,
            wear_levelling: NOTHING,
            parity: NOTHING,
            hints: NOTHING,
        };
        super::wearing(&consumed, &points.iter().map(row).collect::<Vec<_>>())
    }

    #[test]
    fn shares_of_a_step_follow_from_the_shares_so_far() {
        // Of the first 100 cycles, 20 are caused by reads. Of the next 100 cycles, 80 are caused by
        // reads. Together, reads cause half of all 200 cycles.
        let wearing =
            wearing(&[(0.0, 500.0, None), (1.0, 600.0, Some(0.2)), (2.0, 700.0, Some(0.5))]);
        assert_eq!((wearing.years, wearing.pec), (vec![1.0, 2.0], vec![600.0, 700.0]));
        let reads: Vec<f64> = wearing.consumed.iter().map(|shares| shares[2]).collect();
        assert!((reads[0] - 0.2).abs() < 1e-12 && (reads[1] - 0.8).abs() < 1e-12, "{reads:?}");
        assert!((wearing.shares[2] - 0.5).abs() < 1e-12);
    }
}
