//! Part 8 of the page: P/E cycles that the run added to each block. Each technique has a histogram.

use std::fmt::Write;

use serde::Deserialize;
use vpass_lab::failure::Failure;

use crate::model::{Model, Row, mean, number};
use crate::numbers::{count, sig, trimmed};
use crate::scale::{Scale, ends};
use crate::section::{Entry, Figure, Section, absent, bold, code, csv};
use crate::svg::{AXIS, caption, percent, plot, x_texts};
use crate::table::Table;

const TITLE: &str = "Wear over blocks";
const HEIGHT: u32 = 54;
/// Largest number of bars in a histogram.
const BARS: f64 = 30.0;

/// P/E cycles that the runs of a technique added to each block.
struct Added<'a> {
    technique: usize,
    label: &'a str,
    /// Cycles added to each block, in ascending order. There is at least one block.
    cycles: Vec<f64>,
    mean: f64,
    most: f64,
}

/// Returns the page section about the wear of blocks.
///
/// # Errors
/// Returns an error for a file that cannot be read.
pub(crate) fn section(model: &Model) -> Result<Section, Failure> {
    let start = number(model.drive_configuration(), "/start/pec").unwrap_or(0.0);
    let all = model.rows.iter().enumerate().map(|(i, row)| Added::of(i, row, start));
    let all: Vec<Added> = all.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let Some(worst) = all.iter().max_by(|a, b| a.most.total_cmp(&b.most)) else {
        return Ok(absent("pe", TITLE, "This chart is absent: the folder has no blocks.csv."));
    };
    let bins = Bins::of(&all);
    let chart = |(n, one): (usize, &Added)| chart(one, &bins, n + 1 == all.len());
    let charts: String = all.iter().enumerate().map(chart).collect();
    let figure = Figure {
        id: "pe",
        title: TITLE,
        say: format!(
            "P/E cycles that the run added to a block; before the run, a block had {}. Under {}, \
             the run added {} cycles to the most worn block, and {} to the mean block.",
            count(start),
            code(worst.label),
            bold(&sig(worst.most)),
            sig(worst.mean)
        ),
        body: format!("<div class=\"chart pe\">{charts}<div class=\"xlab\"></div></div>"),
        source: "The height is the square root of the number of blocks, so that even a single \
            block is visible. The line is the mean. x: P/E cycles added. Source: blocks.csv",
        table: table(&all),
    };
    Ok(figure.section(vec![numbers(&all, &bins)]))
}

/// Returns the bars of all histograms as CSV text.
fn numbers(all: &[Added], bins: &Bins) -> Entry {
    let rows = all.iter().flat_map(|of| {
        bins.shares(of).into_iter().enumerate().map(|(k, (blocks, _))| {
            let from = bins.low + k as f64 * bins.width;
            let [from, below] = [from, from + bins.width].map(|cycles| cycles.to_string());
            vec![of.label.to_owned(), from, below, blocks.to_string()]
        })
    });
    let heading = ["technique", "from_cycles", "below_cycles", "blocks"];
    csv("pe", &heading, &rows.collect::<Vec<_>>())
}

/// Row of `blocks.csv`.
#[derive(Deserialize)]
struct Block {
    effective_pec_cycles: f64,
}

impl<'a> Added<'a> {
    /// Reads the cycles of a technique; `None` without blocks. `start` is the number of P/E cycles
    /// of a block before the run.
    fn of(technique: usize, row: &'a Row, start: f64) -> Result<Option<Self>, Failure> {
        let mut cycles = vec![];
        for run in &row.runs {
            let blocks = run.folder.rows::<Block>("blocks.csv")?.unwrap_or_default();
            cycles.extend(blocks.iter().map(|block| block.effective_pec_cycles - start));
        }
        cycles.sort_by(f64::total_cmp);
        let known = mean(&cycles).zip(cycles.last().copied());
        let added = |(mean, most)| Self { technique, label: &row.label, cycles, mean, most };
        Ok(known.map(added))
    }
}

/// Bars of the histograms. All techniques have the same bars, and all histograms have the same
/// height.
struct Bins {
    low: f64,
    width: f64,
    count: usize,
    /// Largest share of blocks that one bar has in any histogram.
    most: f64,
}

impl Bins {
    fn of(all: &[Added]) -> Self {
        let values = all.iter().flat_map(|of| of.cycles.iter().copied());
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let low = low.min(0.0).floor();
        let width = ((high - low + 1.0) / BARS).ceil().max(1.0);
        let count = ((high - low + 1.0) / width).ceil() as usize;
        let mut bins = Self { low, width, count, most: 0.0 };
        let most = all.iter().flat_map(|of| bins.shares(of)).map(|(_, share)| share);
        bins.most = most.fold(0.0, f64::max);
        bins
    }

    /// Returns, for each bar, the number of its blocks and their share of all blocks.
    fn shares(&self, added: &Added) -> Vec<(usize, f64)> {
        let mut bars = vec![0; self.count];
        for cycles in &added.cycles {
            let bar = ((cycles - self.low) / self.width) as usize;
            bars[bar.min(self.count - 1)] += 1;
        }
        bars.into_iter().map(|n| (n, n as f64 / added.cycles.len() as f64)).collect()
    }
}

fn chart(of: &Added, bins: &Bins, has_axis: bool) -> String {
    let (bars, i) = (bins.count as f64, of.technique);
    let high = bins.low + bars * bins.width;
    let x = Scale::linear(bins.low, high, 6, |v| format!("+{}", trimmed(v)));
    let mut svg = AXIS.to_owned();
    for (k, (blocks, share)) in bins.shares(of).into_iter().enumerate() {
        if blocks == 0 {
            continue;
        }
        let height = (share / bins.most).sqrt();
        let from = bins.low + k as f64 * bins.width;
        let to = from + bins.width - 1.0;
        let cycles = if to > from { format!("{from} to {to}") } else { from.to_string() };
        let _ = write!(
            svg,
            "<rect x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\" fill=\"var(--t{i})\"><title>\
             {cycles} cycles: {} blocks</title></rect>",
            percent((k as f64 + 0.06) / bars),
            percent(0.88 / bars),
            percent(1.0 - height),
            percent(height),
            count(blocks as f64)
        );
    }
    let (at, mean, most) = (percent(x.place(of.mean)), sig(of.mean), trimmed(of.most));
    let _ = write!(svg, "<line x1=\"{at}\" x2=\"{at}\" y2=\"100%\" stroke=\"var(--ink)\"/>");
    svg += &caption(of.label, &format!("mean +{mean}, most +{most}"));
    if has_axis {
        svg += &x_texts(x.ticks());
    }
    let said = format!("P/E cycles added under {}: mean {mean}, at most {most}", of.label);
    format!("<div class=\"s{i}\">{}</div>", plot(HEIGHT, &svg, &said))
}

fn table(all: &[Added]) -> String {
    let mut table =
        Table::new(["technique", "mean", "median", "99th percentile", "most", "blocks"]);
    for Added { label, cycles, mean, .. } in all {
        let at = |share: f64| {
            sig(cycles[((share * cycles.len() as f64) as usize).min(cycles.len() - 1)])
        };
        let blocks = count(cycles.len() as f64);
        table.row([(*label).to_owned(), sig(*mean), at(0.5), at(0.99), at(1.0), blocks]);
    }
    table.html("P/E cycles that the run added to a block")
}
