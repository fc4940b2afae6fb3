//! Chart with two axes. Its marks are lines, bands, areas, bars and dots. Their coordinates
//! are values of the axes.

use std::fmt::Write;

use crate::scale::Scale;
use crate::svg::{dashes, escape, grid, path, percent, plot, spread};

/// Smallest distance between two names at the right edge, in pixels.
const GAP: f64 = 15.0;

/// Values at a position of the x axis, from the lower to the upper one.
pub type Range = (f64, f64, f64);

/// Chart to which marks are added one after the other.
pub struct Chart<'a> {
    height: u32,
    x: &'a Scale,
    y: &'a Scale,
    /// Curves in units of 1/1000 of the chart.
    curves: String,
    /// Marks with sizes in pixels, on top of the curves.
    marks: String,
    /// Names at the right ends of curves: technique, height from 0 to 1, and name.
    names: Vec<(usize, f64, &'a str)>,
}

impl<'a> Chart<'a> {
    /// Makes an empty chart whose height is given in pixels.
    pub fn new(height: u32, x: &'a Scale, y: &'a Scale) -> Self {
        let (curves, marks) = (String::new(), String::new());
        Self { height, x, y, curves, marks, names: vec![] }
    }

    /// Draws the line of technique `i`, with its name at the end. A line without a name is thin. A
    /// point without a value is a gap.
    pub fn line(&mut self, i: usize, name: &'a str, points: &[(f64, Option<f64>)]) {
        let places = points.iter().map(|(x, y)| Some((self.x.place(*x), self.y.place((*y)?))));
        let (d, dashes) = (path(places), dashes(i));
        let class = if name.is_empty() { "thin " } else { "" };
        let _ = write!(
            self.curves,
            "<path class=\"ln {class}s{i}\" stroke=\"var(--t{i})\"{dashes} d=\"{d}\"/>"
        );
        let last = points.iter().rev().find_map(|(_, y)| *y);
        let last = last.filter(|_| !name.is_empty()).map(|y| (i, self.y.place(y), name));
        self.names.extend(last);
    }

    /// Draws the band of technique `i` between the ends of ranges. Without any width, nothing is
    /// drawn.
    pub fn band(&mut self, i: usize, ranges: &[Range]) {
        self.area(&format!(" class=\"area s{i}\" fill=\"var(--t{i})\""), "", ranges);
    }

    /// Draws an area between the ends of ranges. `looks` has the attributes of the area. Without
    /// any width, nothing is drawn.
    pub fn area(&mut self, looks: &str, title: &str, ranges: &[Range]) {
        if ranges.iter().all(|(_, low, high)| low.to_bits() == high.to_bits()) {
            return;
        }
        let place = |x: f64, y: f64| Some((self.x.place(x), self.y.place(y).clamp(0.0, 1.0)));
        let up = ranges.iter().map(|(x, _, high)| place(*x, *high));
        let back = ranges.iter().rev().map(|(x, low, _)| place(*x, *low));
        let d = path(up.chain(back)) + "Z";
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{title}</title>") };
        let _ = write!(self.curves, "<path{looks} d=\"{d}\">{title}</path>");
    }

    /// Draws a bar of technique `i` between the ends of a range.
    pub fn bar(&mut self, i: usize, (x, low, high): Range) {
        let at = percent(self.x.place(x));
        let [low, high] = [low, high].map(|value| percent(1.0 - self.y.place(value)));
        let _ = write!(
            self.marks,
            "<line class=\"s{i}\" x1=\"{at}\" x2=\"{at}\" y1=\"{low}\" y2=\"{high}\" \
             stroke=\"var(--t{i})\" stroke-width=\"2\"/>"
        );
    }

    /// Draws a dot of technique `i`. A hollow dot stands for a result with lost data.
    pub fn dot(&mut self, i: usize, (x, y): (f64, f64), is_hollow: bool, title: &str) {
        let fill = if is_hollow { "var(--card)".to_owned() } else { format!("var(--t{i})") };
        let _ = write!(
            self.marks,
            "<circle class=\"s{i}\" cx=\"{}\" cy=\"{}\" r=\"4\" stroke=\"var(--t{i})\" \
             stroke-width=\"2\" fill=\"{fill}\"><title>{}</title></circle>",
            percent(self.x.place(x)),
            percent(1.0 - self.y.place(y).clamp(0.0, 1.0)),
            escape(title)
        );
    }

    /// Adds markup with positions in percent of the chart.
    pub fn markup(&mut self, svg: &str) {
        self.marks.push_str(svg);
    }

    /// Returns the chart as markup. Without `x_texts`, the x axis has no texts. `said` describes
    /// the chart for screen readers.
    pub fn svg(&self, x_texts: bool, said: &str) -> String {
        let body = format!(
            "{}<svg class=\"in\" viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" \
             width=\"100%\" height=\"100%\">{}</svg>{}{}",
            grid(self.x, self.y, x_texts),
            self.curves,
            self.marks,
            self.end_names()
        );
        plot(self.height, &body, said)
    }

    /// Returns the names beside the right ends of the curves.
    fn end_names(&self) -> String {
        let height = f64::from(self.height);
        let wanted: Vec<f64> = self.names.iter().map(|(_, end, _)| (1.0 - end) * height).collect();
        let mut svg = String::new();
        for ((i, _, name), y) in self.names.iter().zip(spread(&wanted, height, GAP)) {
            let _ = write!(
                svg,
                "<g class=\"opt s{i}\"><svg x=\"100%\" y=\"{y:.0}\" overflow=\"visible\">\
                 <line x1=\"5\" x2=\"17\" stroke=\"var(--t{i})\" stroke-width=\"3\"{}/></svg>\
                 <text class=\"name\" x=\"100%\" dx=\"22\" y=\"{:.0}\">{}</text></g>",
                dashes(*i),
                y + 4.0,
                escape(name)
            );
        }
        svg
    }
}

/// Line that follows the pointer, which the script moves.
pub const CROSS: &str = "<line class=\"cross\" y2=\"100%\" x1=\"-9\" x2=\"-9\"/>";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::short;

    #[test]
    fn marks_lie_at_the_values_of_the_axes() {
        let axis = Scale::linear(0.0, 10.0, 2, short);
        let mut chart = Chart::new(100, &axis, &axis);
        chart.line(0, "a", &[(0.0, Some(0.0)), (5.0, Some(10.0)), (6.0, None), (10.0, Some(5.0))]);
        chart.line(1, "", &[(0.0, Some(10.0)), (5.0, Some(10.0))]);
        chart.band(2, &[(0.0, 0.0, 5.0), (10.0, 0.0, 10.0)]);
        chart.band(3, &[(0.0, 5.0, 5.0), (10.0, 1.0, 1.0)]);
        chart.dot(4, (5.0, 5.0), true, "<b>");
        let svg = chart.svg(true, "said");
        for part in [
            "d=\"M0 1000L500 0M1000 500\"",
            "d=\"M0 0L500 0\"",
            "d=\"M0 500L1000 0L1000 1000L0 1000Z\"",
            "cx=\"50%\" cy=\"50%\" r=\"4\" stroke=\"var(--t4)\" stroke-width=\"2\" \
             fill=\"var(--card)\"><title>&lt;b&gt;",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!svg.contains("s3"), "a band without width");
    }
}
