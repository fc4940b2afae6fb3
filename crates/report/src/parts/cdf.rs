//! Part 6 of the page: latency of host reads at each percentile, up to 99.999 %.

use hdrhistogram::Histogram;
use serde_json::json;
use vpass_lab::failure::Failure;

use crate::chart::{CROSS, Chart};
use crate::latency::{at_nines, histogram};
use crate::model::{Model, Row};
use crate::numbers::{count, us};
use crate::scale::{Scale, ends};
use crate::section::{Figure, Section, scrubbed, untimed};
use crate::sentences::verdict::findings;
use crate::table::Table;

const TITLE: &str = "Read latency, up to the highest percentiles";
const HEIGHT: u32 = 300;
/// Ends of the percentile axis, as numbers of nines. The ends stand for 50 % and 99.999 %.
const ENDS: (f64, f64) = (0.3, 5.0);
/// Percentiles that have a tick. Each entry has the share of requests above the percentile, and the
/// text of the tick.
const TICKS: [(f64, &str); 6] =
    [(0.5, "50"), (0.1, "90"), (1e-2, "99"), (1e-3, "99.9"), (1e-4, "99.99"), (1e-5, "99.999")];
/// Number of points that a curve has for each nine.
const STEPS: u32 = 20;
/// Percentile that the page shows first, as a number of nines.
const FIRST: f64 = 3.0;
/// Smallest number of slower reads that a percentile must have for a point of the curve.
const FEWEST: f64 = 1.0;

/// Read latencies of one technique: all runs together, and the range over single runs.
struct Curve {
    /// Histogram of the read latencies in all runs, in nanoseconds.
    all: Histogram<u64>,
    /// Latencies in microseconds at the percentiles of the axis. Percentiles beyond the slowest
    /// read have no latency.
    us: Vec<Option<f64>>,
    /// Percentile with its smallest and its largest latency of any run, up to the slowest read.
    ranges: Vec<(f64, f64, f64)>,
}

/// Returns the page section about latencies.
///
/// # Errors
/// Returns an error for a latency log that cannot be read.
pub(crate) fn section(model: &Model) -> Result<Section, Failure> {
    let steps = ((ENDS.1 - ENDS.0) * f64::from(STEPS)).round() as u32;
    let nines: Vec<f64> = (0..=steps).map(|k| ENDS.0 + f64::from(k) / f64::from(STEPS)).collect();
    let curves: Vec<Option<Curve>> =
        model.rows.iter().map(|row| Curve::of(row, &nines)).collect::<Result<_, _>>()?;
    if curves.iter().all(Option::is_none) {
        let file = "read.hlog, so the host read nothing";
        return Ok(untimed("cdf", TITLE, &model.about.gear, "latencies", file));
    }
    let ticks = TICKS.map(|(above, label): (f64, &str)| (-above.log10(), label.to_owned()));
    let x = Scale::with_ticks(ENDS, ticks);
    let places: Vec<f64> = nines.iter().map(|n| x.place(*n)).collect();
    let known = || curves.iter().flatten();
    let y = Scale::log_around(known().flat_map(|c| c.us.iter().copied().flatten()), us);
    let mut drawn = Chart::new(HEIGHT, &x, &y);
    for (i, (row, curve)) in model.rows.iter().zip(&curves).enumerate() {
        let Some(curve) = curve else { continue };
        drawn.band(i, &curve.ranges);
        let points = nines.iter().copied().zip(curve.us.iter().copied());
        drawn.line(i, &row.label, &points.collect::<Vec<_>>());
    }
    drawn.markup(CROSS);
    let svg = drawn.svg(
        true,
        "Read latency by percentile, on a logarithmic axis; the numbers are in the table below",
    );
    let first = ((FIRST - ENDS.0) * f64::from(STEPS)).round() as usize;
    let chart = scrubbed("cdf", &svg, (first, steps as usize), "Percentile");
    let latencies: Vec<_> = curves.iter().map(|of| of.as_ref().map(|of| &of.us)).collect();
    let data = json!({"f": places, "x": nines, "y": latencies});
    let figure = Figure {
        id: "cdf",
        title: TITLE,
        say: findings(model, &["read_p99_9_us"]),
        body: chart,
        source: "x: percentile; each step adds a nine, such as 99 and 99.9. y: latency, \
            logarithmic. Source: read.hlog",
        table: table(model, &curves),
    };
    Ok(figure.section(vec![("cdf", data)]))
}

impl Curve {
    fn of(row: &Row, nines: &[f64]) -> Result<Option<Self>, Failure> {
        let mut runs = vec![];
        for run in &row.runs {
            runs.extend(histogram(&run.folder, "read.hlog")?);
        }
        let Some(mut all) = runs.first().cloned() else { return Ok(None) };
        all.auto(true);
        for other in &runs[1..] {
            all.add(other).map_err(|e| Failure::failed(format!("read.hlog: {e}")))?;
        }
        let is_known = |n: &f64| all.len() as f64 * 10f64.powf(-n) >= FEWEST;
        let us = |n: &f64| is_known(n).then(|| (at_nines(&all, *n) * 1e3).round() / 1e3);
        let range = |n: &f64| {
            let (low, high) = ends(runs.iter().map(|run| at_nines(run, *n)))?;
            is_known(n).then_some((*n, low, high))
        };
        let (us, ranges) = (nines.iter().map(us).collect(), nines.iter().filter_map(range));
        let ranges = ranges.collect();
        Ok(Some(Self { all, us, ranges }))
    }
}

/// Percentiles in the table, as numbers of nines with their names.
const PERCENTILES: [(f64, &str); 5] = [
    (std::f64::consts::LOG10_2, "p50"),
    (1.0, "p90"),
    (2.0, "p99"),
    (3.0, "p99.9"),
    (4.0, "p99.99"),
];

fn table(model: &Model, curves: &[Option<Curve>]) -> String {
    let names = PERCENTILES.map(|(_, name)| name);
    let mut table = Table::new(["technique"].into_iter().chain(names).chain(["slowest", "reads"]));
    for (row, curve) in model.rows.iter().zip(curves) {
        let Some(curve) = curve else { continue };
        let at = PERCENTILES.map(|(nines, _)| us(at_nines(&curve.all, nines)));
        table.row(
            std::iter::once(row.label.clone())
                .chain(at)
                .chain([us(curve.all.max() as f64 / 1e3), count(curve.all.len() as f64)]),
        );
    }
    table.html("Latency of host reads (of all seeds together, if there are several)")
}
