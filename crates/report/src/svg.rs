//! Charts as SVG markup.
//!
//! The outer `<svg>` is the plot area. Positions of texts are percentages of this area, so that
//! texts keep their size. Curves lie in an inner `<svg>` of 1000 x 1000 units, which is stretched
//! over the area.

use std::fmt::Write;

use crate::scale::{Scale, Tick};

/// Dash patterns of the lines for the techniques. An empty pattern is a solid line.
const DASHES: [&str; 6] = ["4 4", "", "", "", "7 3", "2 3"];

/// Escapes all characters that have a meaning in HTML, in XML or in an attribute. Control
/// characters become U+FFFD.
///
/// ```
/// use vpass_report::svg::escape;
/// assert_eq!(escape("<b a=\"'&\u{1}\">"), "&lt;b a=&quot;&#39;&amp;\u{fffd}&quot;&gt;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(visible(c)),
        }
    }
    escaped
}

/// Returns a text without control characters and without marks of text direction. A script can then
/// show the text.
pub fn shown(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Returns a character that is safe to show. Control characters and marks of text direction become
/// U+FFFD. A mark of text direction in a name would reverse the text around the name.
fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Formats a share as a percentage for an SVG attribute, such as "12.5%".
pub fn percent(share: f64) -> String {
    format!("{}%", short(100.0 * share, 3))
}

/// Formats a number with at most `places` digits after the decimal point.
pub fn short(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    if text == "-0" { "0".into() } else { text.into() }
}

/// Returns the attribute with the dash pattern of technique `i`. For a solid line, the text is
/// empty.
pub fn dashes(i: usize) -> String {
    match DASHES.get(i) {
        Some(&pattern) if !pattern.is_empty() => format!(" stroke-dasharray=\"{pattern}\""),
        _ => String::new(),
    }
}

/// Returns the grid lines of a chart and the texts of both axes. Without `has_texts`, the x axis
/// has no texts, because another chart below shows them.
pub fn grid(x: &Scale, y: &Scale, has_texts: bool) -> String {
    let mut svg = String::new();
    for tick in y.ticks() {
        let at = percent(1.0 - tick.at);
        let _ = write!(svg, "<line class=\"g\" x2=\"100%\" y1=\"{at}\" y2=\"{at}\"/>");
    }
    let ticks = if has_texts { x.ticks() } else { &[] };
    for tick in ticks {
        let at = percent(tick.at);
        let _ = write!(svg, "<line class=\"g\" y2=\"100%\" x1=\"{at}\" x2=\"{at}\"/>");
    }
    svg + AXIS + &x_texts(ticks) + &y_texts(y.ticks())
}

/// Line of the x axis.
pub const AXIS: &str = "<line class=\"ax\" x2=\"100%\" y1=\"100%\" y2=\"100%\"/>";

/// Returns the texts of an x axis, which stand below the chart. On a narrow screen, every second
/// text of many is hidden.
pub fn x_texts(ticks: &[Tick]) -> String {
    let is_full = ticks.len() > 5;
    let text = |(i, tick): (usize, &Tick)| {
        let class = if i % 2 == 1 && is_full { "mid opt" } else { "mid" };
        let (at, label) = (percent(tick.at), escape(&tick.label));
        format!("<text class=\"{class}\" x=\"{at}\" y=\"100%\" dy=\"18\">{label}</text>")
    };
    ticks.iter().enumerate().map(text).collect()
}

/// Returns texts above the left and the right end of a chart. The left one is a name.
pub fn caption(name: &str, right: &str) -> String {
    let (name, right) = (escape(name), escape(right));
    format!(
        "<text class=\"lab\" x=\"0\" y=\"-6\">{name}</text><text class=\"end\" x=\"100%\" y=\"-6\">\
         {right}</text>"
    )
}

/// Returns the texts of a y axis, which stand at the left of the chart.
pub fn y_texts(ticks: &[Tick]) -> String {
    let text = |tick: &Tick| {
        let (at, label) = (percent(1.0 - tick.at), escape(&tick.label));
        format!("<text class=\"end\" x=\"-8\" y=\"{at}\" dy=\"4\">{label}</text>")
    };
    ticks.iter().map(text).collect()
}

/// Returns an SVG path through points whose coordinates are from 0 to 1. The y axis points upwards.
/// `None` makes a gap in the path.
pub fn path(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let (mut path, mut is_down) = (String::new(), false);
    for point in points {
        let Some((x, y)) = point else {
            is_down = false;
            continue;
        };
        let letter = if is_down { 'L' } else { 'M' };
        let _ = write!(path, "{letter}{} {}", short(1000.0 * x, 1), short(1000.0 * (1.0 - y), 1));
        is_down = true;
    }
    path
}

/// Returns a chart whose height is given in pixels. `said` describes the chart for screen readers.
pub fn plot(height: u32, body: &str, said: &str) -> String {
    format!(
        "<svg class=\"plot\" height=\"{height}\" role=\"img\" aria-label=\"{}\">{body}</svg>",
        escape(said)
    )
}

/// Returns the positions of labels, in pixels from the top. Labels are moved apart, so that their
/// distance is at least `gap` pixels. If possible, no label is below `height`.
pub fn spread(wanted: &[f64], height: f64, gap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted.to_vec();
    for pair in order.windows(2) {
        places[pair[1]] = places[pair[1]].max(places[pair[0]] + gap);
    }
    if let Some(last) = order.last().copied().filter(|last| places[*last] > height) {
        places[last] = height;
        for pair in order.windows(2).rev() {
            places[pair[0]] = places[pair[0]].min(places[pair[1]] - gap);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_gap_where_there_is_no_point() {
        let points = [Some((0.0, 0.0)), Some((0.5, 1.0)), None, Some((1.0, 0.25))];
        assert_eq!(path(points), "M0 1000L500 0M1000 750");
    }

    #[test]
    fn labels_keep_their_distance_and_stay_inside() {
        assert_eq!(spread(&[10.0, 50.0], 100.0, 15.0), [10.0, 50.0]);
        assert_eq!(spread(&[98.0, 96.0, 97.0], 100.0, 15.0), [100.0, 70.0, 85.0]);
    }

    #[test]
    fn shares_are_short() {
        assert_eq!(
            [percent(0.125), percent(1.0), percent(0.0), short(-1e-9, 1)],
            ["12.5%", "100%", "0%", "0"]
        );
    }
}
