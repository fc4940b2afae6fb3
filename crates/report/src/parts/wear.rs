//! Part 8 of the page: P/E cycles that the run added to each block. Each technique has a histogram.

use std::fmt::Write;

use serde::Deserialize;
use vpass_lab::failure::Failure;

use crate::model::{Model, Row, mean, number};
use crate::numbers::{count, sig, trimmed};
use crate::scale::{Linear, Scale, ends};
use crate::section::{Head, Section, absent, csv, figure, foot};
use crate::sentences::wear::{Added, most_worn};
use crate::svg::{escape, percent, plot};
use crate::table::Table;

const TITLE: &str = "Wear over blocks";
const HEIGHT: u32 = 54;
/// Largest number of bars in a histogram.
const BARS: f64 = 30.0;

/// Returns the page section about the wear of blocks.
///
/// # Errors
/// Returns an error for a file that cannot be read.
pub(crate) fn section(model: &Model) -> Result<Section, Failure> {
    let start = number(model.drive_configuration(), "/start/pec").unwrap_or(0.0);
    let mut all: Vec<(usize, &Row, Vec<f64>)> = vec![];
    for (i, row) in model.rows.iter().enumerate() {
        let added = added(row, start)?;
        if !added.is_empty() {
            all.push((i, row, added));
        }
    }
    if all.is_empty() {
        return Ok(absent("pe", TITLE, "This chart is absent: the folder has no blocks.csv."));
    }
    let bins = Bins::of(&all);
    let last = all.len() - 1;
    let charts: String =
        all.iter().enumerate().map(|(n, one)| chart(one, &bins, n == last)).collect();
    let of_each: Vec<Added> = all
        .iter()
        .map(|(_, row, added)| Added {
            label: &row.label,
            mean: mean(added).unwrap_or(0.0),
            most: ends(added.iter().copied()).map_or(0.0, |ends| ends.1),
        })
        .collect();
    let say = most_worn(start, &of_each);
    let head = Head { id: "pe", title: TITLE, say: &say };
    let body = format!("<div class=\"chart pe\">{charts}<div class=\"xlab\"></div></div>");
    let source = "The height is the square root of the number of blocks, so that even a single \
        block is visible. The line is the mean. x: P/E cycles added. Source: blocks.csv";
    let html = figure(&head, &body, &foot(source, &table(&all)));
    Ok(Section { html, data: vec![numbers(&all, &bins)] })
}

/// Returns the bars of all histograms as CSV text.
fn numbers(all: &[(usize, &Row, Vec<f64>)], bins: &Bins) -> (&'static str, serde_json::Value) {
    let mut rows = vec![];
    for (_, row, added) in all {
        for (k, (blocks, _)) in bins.shares(added).into_iter().enumerate() {
            let from = bins.low + k as f64 * bins.width;
            let numbers = [from, from + bins.width].map(|cycles| cycles.to_string());
            rows.push(vec![
                row.label.clone(),
                numbers[0].clone(),
                numbers[1].clone(),
                blocks.to_string(),
            ]);
        }
    }
    csv("pe", &["technique", "from_cycles", "below_cycles", "blocks"], &rows)
}

/// Row of `blocks.csv`.
#[derive(Deserialize)]
struct Block {
    effective_pec_cycles: f64,
}

/// Returns the number of P/E cycles that the runs added to each block, in ascending order.
fn added(row: &Row, start: f64) -> Result<Vec<f64>, Failure> {
    let mut all = vec![];
    for run in &row.runs {
        let blocks = run.folder.rows::<Block>("blocks.csv")?.unwrap_or_default();
        all.extend(blocks.iter().map(|block| block.effective_pec_cycles - start));
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
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
    fn of(all: &[(usize, &Row, Vec<f64>)]) -> Self {
        let values = all.iter().flat_map(|(.., added)| added.iter().copied());
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let low = low.min(0.0).floor();
        let width = ((high - low + 1.0) / BARS).ceil().max(1.0);
        let count = ((high - low + 1.0) / width).ceil() as usize;
        let mut bins = Self { low, width, count, most: 0.0 };
        let most = all.iter().flat_map(|(.., added)| bins.shares(added)).map(|(_, share)| share);
        bins.most = most.fold(0.0, f64::max);
        bins
    }

    /// Returns, for each bar, the number of its blocks and their share of all blocks.
    fn shares(&self, added: &[f64]) -> Vec<(usize, f64)> {
        let mut bars = vec![0; self.count];
        for cycles in added {
            let bar = ((cycles - self.low) / self.width) as usize;
            bars[bar.min(self.count - 1)] += 1;
        }
        bars.into_iter().map(|n| (n, n as f64 / added.len() as f64)).collect()
    }
}

fn chart((i, row, added): &(usize, &Row, Vec<f64>), bins: &Bins, has_axis: bool) -> String {
    let bars = bins.count as f64;
    let x = Linear::new(bins.low, bins.low + bars * bins.width, 6, |v| format!("+{}", trimmed(v)));
    let mut svg = String::from("<line class=\"ax\" x2=\"100%\" y1=\"100%\" y2=\"100%\"/>");
    for (k, (blocks, share)) in bins.shares(added).into_iter().enumerate() {
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
    let middle = mean(added).unwrap_or(0.0);
    let most = ends(added.iter().copied()).map_or(0.0, |ends| ends.1);
    let said = format!(
        "P/E cycles added under {}: mean {}, at most {}",
        row.label,
        sig(middle),
        sig(most)
    );
    let at = percent(x.place(middle));
    let _ = write!(
        svg,
        "<line x1=\"{at}\" x2=\"{at}\" y2=\"100%\" stroke=\"var(--ink)\"/><text class=\"lab\" \
         x=\"0\" y=\"-5\">{}</text><text class=\"end\" x=\"100%\" y=\"-5\">mean +{}, most \
         +{}</text>",
        escape(&row.label),
        sig(middle),
        trimmed(most)
    );
    for tick in x.ticks().iter().filter(|_| has_axis) {
        let _ = write!(
            svg,
            "<text class=\"mid\" x=\"{}\" y=\"100%\" dy=\"17\">{}</text>",
            percent(tick.at),
            escape(&tick.label)
        );
    }
    format!("<div class=\"s{i}\">{}</div>", plot(HEIGHT, &svg, &said, ""))
}

fn table(all: &[(usize, &Row, Vec<f64>)]) -> String {
    let mut table =
        Table::new(["technique", "mean", "median", "99th percentile", "most", "blocks"]);
    for (_, row, added) in all {
        let at = |share: f64| {
            let place = (share * added.len() as f64) as usize;
            sig(added[place.min(added.len() - 1)])
        };
        let middle = sig(mean(added).unwrap_or(0.0));
        table.row([
            row.label.clone(),
            middle,
            at(0.5),
            at(0.99),
            at(1.0),
            count(added.len() as f64),
        ]);
    }
    table.html("P/E cycles that the run added to a block", |_| String::new())
}
