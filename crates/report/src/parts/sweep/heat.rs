//! Heat maps that show a measure over two swept keys. Each technique has a map, and all maps use
//! the same colours.

use crate::measure::Measure;
use crate::model::{Model, Row, Sweep};
use crate::numbers::short;
use crate::scale::{Scale, ends, is_wide};
use crate::svg::{caption, escape, percent, plot, x_texts, y_texts};

use super::axis::Axis;

/// Height of a cell of the heat map in pixels.
const CELL: u32 = 30;
/// Largest number of columns with which a cell is wide enough to show its value as text.
const WITH_TEXT: usize = 8;
/// Number of colours in a heat map.
const COLOURS: f64 = 10.0;
/// Index of the first colour that is so dark that text on it needs the colour of the paper.
const DEEP: usize = 5;

/// Axes, measure and colours that all heat maps share.
struct Grid<'a> {
    sweep: &'a Sweep,
    x: &'a Axis,
    y: &'a Axis,
    measure: &'a Measure,
    /// Scale of the colours.
    ramp: Scale,
}

/// Returns the heat maps of all techniques as markup.
pub(super) fn maps(
    model: &Model,
    sweep: &Sweep,
    (x, y): (&Axis, &Axis),
    measure: &Measure,
) -> String {
    let kept = sweep.rows().filter(|row| row.kept_data());
    let (low, high) = ends(kept.filter_map(|row| measure.value(row))).unwrap_or((0.0, 1.0));
    let ramp = if is_wide(low, high) {
        Scale::log(low, high, 10.0, short)
    } else {
        Scale::linear(low, high, 1, short)
    };
    let grid = Grid { sweep, x, y, measure, ramp };
    let map = |(i, row): (usize, &Row)| {
        let said =
            format!("{} under {}; the numbers are in the table below", measure.label, row.label);
        let map = plot(CELL * y.len() as u32, &grid.map(row), &said);
        format!("<div class=\"s{i}\">{map}<div class=\"xlab\"></div></div>")
    };
    let all: String = model.rows.iter().enumerate().map(map).collect();
    format!(
        "<p class=\"unit\">x: {}; y: {}</p><div class=\"chart cells\">{all}</div>",
        escape(&x.key),
        escape(&y.key)
    )
}

impl Grid<'_> {
    /// Returns the cells of one technique, the values of the keys beside the axes, and the name of
    /// the technique.
    fn map(&self, row: &Row) -> String {
        let (x, y) = (self.x, self.y);
        let mut svg = String::new();
        for (n, down) in y.values.iter().rev().enumerate() {
            for (m, across) in x.values.iter().enumerate() {
                svg += &self.cell(row, (m, across.as_str()), (n, down.as_str()));
            }
        }
        svg += &x_texts(Scale::named(&x.values).ticks());
        svg += &y_texts(Scale::named(&y.values).ticks());
        svg + &caption(&row.label, "")
    }

    /// Returns the cell of a technique at one point. Both axes give the index and the value of
    /// their key.
    fn cell(&self, row: &Row, (m, across): (usize, &str), (n, down): (usize, &str)) -> String {
        let values = [across, down];
        let point = self.sweep.points.iter().find(|point| point.values == values);
        let wins = point.is_some_and(|point| {
            point.winners_of(self.measure.key).iter().any(|best| best.label == row.label)
        });
        let at = point.and_then(|point| point.row(&row.label));
        let kept = at.is_none_or(Row::kept_data);
        let text = at.map_or_else(|| "–".to_owned(), |row| self.measure.text(row));
        let (fill, short, class) = match at.and_then(|row| self.measure.value(row)) {
            _ if !kept => ("var(--hx)".to_owned(), "lost", "deep"),
            None => ("var(--grid)".to_owned(), "–", "pale"),
            Some(value) => {
                let share = self.ramp.place(value);
                let colour = (share * COLOURS).clamp(0.0, COLOURS - 1.0) as usize;
                let class = if colour < DEEP { "pale" } else { "deep" };
                (format!("var(--h{colour})"), text.as_str(), class)
            }
        };
        let frame = if wins { " stroke=\"var(--ink)\" stroke-width=\"2\"" } else { "" };
        let loss = if kept { "" } else { ", loses data" };
        let (width, height) = (1.0 / self.x.len() as f64, 1.0 / self.y.len() as f64);
        let across_at = |share: f64| percent((m as f64 + share) * width);
        let down_at = |share: f64| percent((n as f64 + share) * height);
        let name = format!("{} = {across}, {} = {down}", self.x.key, self.y.key);
        let shown = if self.x.len() <= WITH_TEXT { escape(short) } else { String::new() };
        format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{frame}><title>{}: \
             {}{loss}</title></rect><text class=\"mid {class}\" x=\"{}\" y=\"{}\" dy=\"4\">{shown}\
             </text>",
            across_at(0.01),
            down_at(0.03),
            percent(0.98 * width),
            percent(0.94 * height),
            escape(&name),
            escape(&text),
            across_at(0.5),
            down_at(0.5)
        )
    }
}
