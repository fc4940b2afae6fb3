//! Heat maps that show a measure over two swept keys. Each technique has a map, and all maps use
//! the same colours.

use std::fmt::Write;

use crate::model::{Model, Row, Sweep};
use crate::scale::ends;
use crate::svg::{escape, percent, plot};

use super::axis::Axis;
use super::measure::Measure;

/// Height of a cell of the heat map in pixels.
const CELL: u32 = 30;
/// Largest number of columns with which a cell is wide enough to show its value as text.
const WITH_TEXT: usize = 8;
/// Number of colours in a heat map.
const COLOURS: f64 = 10.0;
/// Index of the first colour that is so dark that text on it needs the colour of the paper.
const DEEP: usize = 5;
/// Factor between the smallest and the largest value from which colours follow the logarithm.
const WIDE: f64 = 50.0;

/// Returns the heat maps of all techniques as markup.
pub(super) fn maps(
    model: &Model,
    sweep: &Sweep,
    (x, y): (&Axis, &Axis),
    measure: &Measure,
) -> String {
    let ramp = Ramp::of(sweep, measure);
    let map = |(i, row): (usize, &Row)| {
        let mut body = String::new();
        for (b, down) in y.values().iter().rev().enumerate() {
            for (a, across) in x.values().iter().enumerate() {
                let point = sweep
                    .points
                    .iter()
                    .find(|point| point.values[0] == *across && point.values[1] == *down);
                let at = point.and_then(|point| point.row(&row.label));
                let wins = point.is_some_and(|point| {
                    point.winners_of(&measure.key).iter().any(|best| best.label == row.label)
                });
                let place = (a as f64 / x.len() as f64, b as f64 / y.len() as f64);
                let size = (1.0 / x.len() as f64, 1.0 / y.len() as f64);
                let name = format!("{} = {across}, {} = {down}", x.key, y.key);
                let cell = Cell { place, size, wins, name, has_text: x.len() <= WITH_TEXT };
                body.push_str(&cell.svg(at, measure, &ramp));
            }
        }
        body += &texts(x, y, &row.label);
        let said =
            format!("{} under {}; the numbers are in the table below", measure.label, row.label);
        let height = CELL * y.len() as u32;
        format!(
            "<div class=\"s{i}\">{}<div class=\"xlab\"></div></div>",
            plot(height, &body, &said, "")
        )
    };
    let all: String = model.rows.iter().enumerate().map(map).collect();
    format!(
        "<p class=\"unit\">x: {}; y: {}</p><div class=\"chart cells\">{all}</div>",
        escape(&x.key),
        escape(&y.key)
    )
}

/// Returns the values of the keys beside the axes, and the name of the technique.
fn texts(x: &Axis, y: &Axis, label: &str) -> String {
    let mut svg = String::new();
    for (n, value) in y.values().iter().rev().enumerate() {
        let at = percent((n as f64 + 0.5) / y.len() as f64);
        let _ = write!(
            svg,
            "<text class=\"end\" x=\"-8\" y=\"{at}\" dy=\"4\">{}</text>",
            escape(value)
        );
    }
    for (n, value) in x.values().iter().enumerate() {
        let class = if n % 2 == 1 && x.len() > WITH_TEXT { "mid opt" } else { "mid" };
        let at = percent((n as f64 + 0.5) / x.len() as f64);
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{at}\" y=\"100%\" dy=\"18\">{}</text>",
            escape(value)
        );
    }
    let _ = write!(svg, "<text class=\"lab\" x=\"0\" y=\"-8\">{}</text>", escape(label));
    svg
}

/// Cell of a heat map.
struct Cell {
    place: (f64, f64),
    size: (f64, f64),
    /// Whether the technique is the best one at this point.
    wins: bool,
    name: String,
    has_text: bool,
}

impl Cell {
    fn svg(&self, at: Option<&Row>, measure: &Measure, ramp: &Ramp) -> String {
        let value = at.and_then(|row| measure.value(row));
        let kept = at.is_none_or(Row::kept_data);
        let text = at.map_or_else(|| "–".to_owned(), |row| measure.text(row));
        let (fill, short, class) = match (value, kept) {
            (_, false) => ("var(--hx)".to_owned(), "lost", "deep"),
            (None, true) => ("var(--grid)".to_owned(), "–", "pale"),
            (Some(value), true) => {
                let colour = ramp.colour(value);
                let class = if colour < DEEP { "pale" } else { "deep" };
                (format!("var(--h{colour})"), text.as_str(), class)
            }
        };
        let frame = if self.wins { " stroke=\"var(--ink)\" stroke-width=\"2\"" } else { "" };
        let loss = if kept { "" } else { ", loses data" };
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{frame}><title>{}: \
             {}{loss}</title></rect>",
            percent(self.place.0 + 0.01 * self.size.0),
            percent(self.place.1 + 0.03 * self.size.1),
            percent(0.98 * self.size.0),
            percent(0.94 * self.size.1),
            escape(&self.name),
            escape(&text)
        );
        if self.has_text {
            let _ = write!(
                svg,
                "<text class=\"mid {class}\" x=\"{}\" y=\"{}\" dy=\"4\">{}</text>",
                percent(self.place.0 + 0.5 * self.size.0),
                percent(self.place.1 + 0.5 * self.size.1),
                escape(short)
            );
        }
        svg
    }
}

/// Colour scale for the values of a measure. All techniques use the same scale.
struct Ramp {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Ramp {
    fn of(sweep: &Sweep, measure: &Measure) -> Self {
        let rows = sweep.points.iter().filter_map(|point| point.model.as_ref());
        let values = rows
            .flat_map(Model::all)
            .filter(|row| row.kept_data())
            .filter_map(|row| measure.value(row));
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        Self { low, high, is_logarithmic: low > 0.0 && high >= WIDE * low }
    }

    fn colour(&self, value: f64) -> usize {
        let share = if self.high <= self.low {
            0.0
        } else if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        (share * COLOURS).clamp(0.0, COLOURS - 1.0) as usize
    }
}
