//! Tables as text for a terminal, as Markdown, and as HTML for the page.
//!
//! In a terminal, numbers are aligned to the right, and colours can be used. Wide tables are split
//! into parts, and long texts are wrapped. In a file or a pipe, tables may have any width.

use std::io::IsTerminal;

use vpass_lab::plain;

use crate::svg::escape;

/// Returns whether standard output can show colours and the user has not turned colours off.
pub fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    std::io::stdout().is_terminal() && !refused
}

/// Returns the width of the output in characters, from the variable `COLUMNS` or from the terminal.
/// Returns `None` for a file or a pipe, which may have any width.
fn width_of_output() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || {
        let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    said.or_else(terminal).filter(|width| *width > 0)
}

/// Smallest width to which tables are fitted, in characters. A narrower terminal wraps the lines
/// itself.
const NARROWEST: usize = 40;
/// Number of spaces before each line of a table.
const INDENT: usize = 2;
/// Number of spaces between columns of numbers. Narrow terminals and columns of words use
/// `NARROW_GAP` instead.
const GAP: usize = 3;
const NARROW_GAP: usize = 2;

/// Largest width of a technique's name, in characters. Names are never wrapped.
const NAME: usize = 22;

/// Wraps sentences between words, if the width of the output is known. All lines except the first
/// are indented.
pub fn wrapped(text: &str, indent: usize) -> String {
    let text = plain::lines(text);
    let Some(width) = width_of_output() else { return text.into_owned() };
    wrapped_at(&text, indent, width)
}

/// Wraps the sentences of a text that also has tables, if the width of the output is known.
/// Coloured lines stay unchanged. Rows of tables, which have gaps between their columns, stay
/// unchanged too.
pub fn wrapped_lines(text: &str) -> String {
    width_of_output().map_or_else(|| text.to_owned(), |width| wrapped_lines_at(text, width))
}

fn wrapped_lines_at(text: &str, width: usize) -> String {
    let wrap = |line: &str| {
        let words = line.trim_start_matches(' ');
        let is_sentence = !words.contains("  ") && !words.contains('\u{1b}');
        if is_sentence && line.chars().count() > width {
            wrapped_at(line, line.len() - words.len() + INDENT, width)
        } else {
            line.to_owned()
        }
    };
    text.split('\n').map(wrap).collect::<Vec<_>>().join("\n")
}

fn wrapped_at(text: &str, indent: usize, width: usize) -> String {
    let words = text.trim_start();
    let mut out = " ".repeat(text.len() - words.len());
    let (mut column, mut begins) = (out.len(), true);
    for word in words.split(' ') {
        let length = word.chars().count();
        if !begins && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !begins {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        (column, begins) = (column + length, false);
    }
    out
}

/// Look of a table cell, such as its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Normal text without a colour.
    Plain,
    /// Heading of a column or of a text.
    Heading,
    /// Number that is the best in its column.
    Good,
    /// Number that shows a loss of data.
    Bad,
}

impl Look {
    /// Returns the text with this look. Without `colour`, the text is returned as plain text.
    pub fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Plain => return text.into(),
        };
        let text = plain::lines(text);
        if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into_owned() }
    }
}

/// Table to which rows are added one after the other.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<(String, Look)>>,
    has_heading: bool,
    /// Columns before which a table should be split if it is too wide.
    seams: Vec<usize>,
}

impl Table {
    /// Makes an empty table with this heading.
    pub fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>) -> Self {
        let heading = heading.into_iter().map(|h| cell(h, Look::Heading)).collect();
        Self { rows: vec![heading], has_heading: true, seams: vec![] }
    }

    /// Sets the columns before which the table should be split if it is too wide.
    pub fn cut_before(&mut self, seams: Vec<usize>) {
        self.seams = seams;
    }

    /// Adds a row of normal cells.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|c| cell(c, Look::Plain)).collect());
    }

    /// Adds a row in which each cell has its own look.
    pub fn painted_row(&mut self, cells: Vec<(String, Look)>) {
        self.rows.push(cells.into_iter().map(|(text, look)| cell(text, look)).collect());
    }

    /// Returns the table as text, indented by two spaces. The first column is aligned to the left.
    /// Numbers are aligned to the right.
    pub fn render(&self, colour: bool) -> String {
        self.numbers(colour, width_of_output())
    }

    /// Returns the table as text for columns of words. All columns are aligned to the left, and
    /// long texts are wrapped.
    pub fn render_words(&self, colour: bool) -> String {
        self.words(colour, width_of_output())
    }

    /// Returns the table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            text.push_str(&line(
                row.iter()
                    .map(|(cell, _)| cell.trim().replace('|', "\\|").replace('*', "\\*"))
                    .collect(),
            ));
            if i == 0 {
                text.push_str(&line(
                    (0..row.len())
                        .map(|c| if c == 0 { "---".into() } else { "---:".into() })
                        .collect(),
                ));
            }
        }
        text
    }

    /// Returns the table, which has a heading, as HTML with a caption. The first column has the
    /// names of the rows.
    pub fn html(&self, caption: &str) -> String {
        self.classed_html(caption, |_| String::new())
    }

    /// Returns the table as HTML, as [`Self::html`] does. The function `class` returns the CSS
    /// class of a column, or an empty text.
    pub fn classed_html(&self, caption: &str, class: impl Fn(usize) -> String) -> String {
        let mut html = format!(
            "<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption>",
            escape(caption)
        );
        for (r, row) in self.rows.iter().enumerate() {
            let is_heading = r == 0;
            html.push_str(if is_heading { "<thead><tr>" } else { "<tr>" });
            for (c, (text, look)) in row.iter().enumerate() {
                html.push_str(&html_cell((text, *look), is_heading, c, &class(c)));
            }
            html.push_str(if is_heading { "</tr></thead><tbody>" } else { "</tr>" });
        }
        html + "</tbody></table></div>"
    }

    fn numbers(&self, colour: bool, width: Option<usize>) -> String {
        let all: Vec<_> = (0..self.columns()).collect();
        let room = width.map_or(usize::MAX, |width| width.max(NARROWEST) - INDENT);
        if self.width_of(&all, GAP, false) <= room {
            return self.part(&all, GAP, false, colour);
        }
        let parts = self.parts(room);
        let parts: Vec<_> =
            parts.iter().map(|part| self.part(part, NARROW_GAP, true, colour)).collect();
        parts.join("\n")
    }

    /// Returns, for each part of a split table, the columns of the part. Each part has the first
    /// column, and as many further columns as fit. If possible, a part ends before a column of
    /// `seams`.
    fn parts(&self, room: usize) -> Vec<Vec<usize>> {
        let fits = |part: &[usize]| self.width_of(part, NARROW_GAP, true) <= room;
        let (mut parts, mut next) = (vec![], 1);
        while next < self.columns() {
            let with_first = |end: usize| std::iter::once(0).chain(next..end).collect::<Vec<_>>();
            let most = (next + 2..=self.columns())
                .take_while(|end| fits(&with_first(*end)))
                .last()
                .unwrap_or(next + 1);
            let seam =
                self.seams.iter().copied().filter(|seam| (next + 1..most).contains(seam)).max();
            let end = if most == self.columns() { most } else { seam.unwrap_or(most) };
            parts.push(with_first(end));
            next = end;
        }
        parts
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the text of a cell. With `wrapped`, each word of a heading has its own line. In the
    /// first column, text in brackets begins a new line.
    fn text(&self, row: usize, column: usize, wrapped: bool) -> String {
        let text = self.rows[row].get(column).map_or("", |(text, _)| text.as_str());
        match (wrapped, row == 0 && self.has_heading, column) {
            (true, true, _) => text.replace(' ', "\n"),
            (true, false, 0) => text.replace(" (", "\n  ("),
            _ => text.into(),
        }
    }

    fn width_of(&self, columns: &[usize], gap: usize, wrapped: bool) -> usize {
        let of_cell = |row, column| {
            self.text(row, column, wrapped).lines().map(|l| l.chars().count()).max().unwrap_or(0)
        };
        let of_column = |column: &usize| {
            (0..self.rows.len()).map(|row| of_cell(row, *column)).max().unwrap_or(0)
        };
        columns.iter().map(of_column).sum::<usize>() + gap * columns.len().saturating_sub(1)
    }

    fn part(&self, columns: &[usize], gap: usize, wrapped: bool, colour: bool) -> String {
        // Headings with few words are moved down, so that all headings end on the same line.
        let words = |c: usize| self.text(0, c, wrapped).lines().count().max(1);
        let most_words = columns.iter().map(|c| words(*c)).max().unwrap_or(0);
        let cell = |r: usize, row: &Vec<(String, Look)>, c: usize| {
            let above = if r == 0 && wrapped { most_words - words(c) } else { 0 };
            let text = self.text(r, c, wrapped);
            let lines = std::iter::repeat_n("", above).chain(text.lines());
            let look = row.get(c).map_or(Look::Plain, |(_, look)| *look);
            (lines.map(str::to_owned).collect(), look)
        };
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(r, row)| columns.iter().map(|c| cell(r, row, *c)).collect());
        laid_out(&rows.collect::<Vec<_>>(), gap, true, colour)
    }

    fn words(&self, colour: bool, width: Option<usize>) -> String {
        let widths: Vec<usize> =
            (0..self.columns()).map(|c| self.width_of(&[c], 0, false)).collect();
        // Short columns keep their width, and the others share the rest. A column is at least as
        // wide as its longest word, and the last column takes what is left.
        let long = widths.iter().filter(|width| **width > NAME).count();
        let short: usize = widths.iter().filter(|width| **width <= NAME).sum();
        let gaps = NARROW_GAP * widths.len().saturating_sub(1);
        let room = width.map_or(usize::MAX, |width| width.max(NARROWEST) - INDENT);
        let shared = room.saturating_sub(short + gaps) / long.max(1);
        let longest_word = |c: usize| {
            let texts = self.rows.iter().filter_map(|row| row.get(c));
            texts
                .flat_map(|(text, _)| text.split(' '))
                .map(|w| w.chars().count())
                .max()
                .unwrap_or(0)
        };
        let limit =
            |c: usize| if widths[c] <= NAME { widths[c] } else { shared.max(longest_word(c)) };
        let mut limits: Vec<usize> = (0..widths.len()).map(limit).collect();
        if let Some((last, others)) = limits.split_last_mut() {
            let taken = others.iter().sum::<usize>() + gaps;
            *last = room.saturating_sub(taken).max(longest_word(widths.len() - 1));
        }
        let cell = |(c, (text, look)): (usize, &(String, Look))| {
            let fits = widths[c] <= limits[c];
            let text = if fits { text.clone() } else { wrapped_at(text, 0, limits[c]) };
            (text.lines().map(str::to_owned).collect(), *look)
        };
        let rows = self.rows.iter().map(|row| row.iter().enumerate().map(cell).collect());
        laid_out(&rows.collect::<Vec<_>>(), NARROW_GAP, false, colour)
    }
}

/// Cell of a table as lines.
type Lines = (Vec<String>, Look);

/// Returns rows of cells as text, indented by two spaces. The first column is aligned to the left,
/// and the others to the right if `right` is set.
fn laid_out(rows: &[Vec<Lines>], gap: usize, right: bool, colour: bool) -> String {
    let length = |line: &String| line.chars().count();
    let width = |c: usize| {
        let cells = rows.iter().filter_map(|row| row.get(c));
        cells.flat_map(|(lines, _)| lines).map(length).max().unwrap_or(0)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let height = row.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0).max(1);
        for n in 0..height {
            let mut line = " ".repeat(INDENT);
            for (c, (lines, look)) in row.iter().enumerate() {
                let part = lines.get(n).map_or("", String::as_str);
                let pad = " ".repeat(widths[c] - part.chars().count());
                let part = if part.is_empty() { String::new() } else { look.paint(part, colour) };
                let is_right = right && c > 0;
                let (before, after) = if is_right { (&*pad, "") } else { ("", &*pad) };
                line += &" ".repeat(if c > 0 { gap } else { 0 });
                line += before;
                line += &part;
                line += after;
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

/// Returns the HTML of one cell, for [`Table::classed_html`].
fn html_cell((text, look): (&str, Look), is_heading: bool, column: usize, class: &str) -> String {
    let text = escape(text.trim());
    let look = match look {
        Look::Good => "best",
        Look::Bad => "bad",
        Look::Plain | Look::Heading => "",
    };
    let class = format!("{look} {class}");
    let class = class.trim();
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    match (is_heading, column) {
        (true, _) => format!("<th scope=\"col\"{class}>{text}</th>"),
        (false, 0) => format!("<th scope=\"row\"{class}>{text}</th>"),
        (false, _) => format!("<td{class}>{text}</td>"),
    }
}

/// Makes a cell of a table. The text of the cell becomes one line.
fn cell(text: impl Into<String>, look: Look) -> (String, Look) {
    (plain::line(&text.into()).into_owned(), look)
}

#[cfg(test)]
mod tests;
