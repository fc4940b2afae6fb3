//! Tables for the terminal: numbers to the right, wide tables in parts below each other, long words
//! wrapped, colours if they are wanted. In a file or pipe, tables have any width.

use std::io::IsTerminal;

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row,
};

use vpass_lab::plain;

/// Returns whether standard output takes colours.
pub(crate) fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    std::io::stdout().is_terminal() && !refused
}

/// Returns the columns of the output: from `COLUMNS`, else from the terminal. `None` for a file or
/// a pipe, which take any width.
fn width_of_output() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || {
        let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    said.or_else(terminal).filter(|width| *width > 0)
}

/// Least width of a table; a narrower terminal wraps it by itself.
const NARROWEST: usize = 40;
/// Spaces before each line.
const INDENT: usize = 2;
/// Spaces between columns of numbers; `NARROW_GAP` if space is short, and for words.
const GAP: usize = 3;
const NARROW_GAP: usize = 2;

/// Largest width of a name, which is never wrapped.
const NAME: u16 = 22;

/// Wraps sentences at words if the width of the output is known. All lines but the first are
/// indented.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let text = plain::lines(text);
    let Some(width) = width_of_output() else { return text.into_owned() };
    wrapped_at(&text, indent, width)
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Heading,
    Good,
    Bad,
}

impl Look {
    /// Returns the text with this look, if colours are wanted.
    pub(crate) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Plain => return text.into(),
        };
        let text = plain::lines(text);
        if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into_owned() }
    }

    fn cell(self, text: &str) -> Cell {
        let cell = Cell::new(text);
        match self {
            Self::Plain => cell,
            Self::Heading => cell.add_attribute(Attribute::Bold),
            Self::Good => cell.fg(Color::DarkGreen),
            Self::Bad => cell.fg(Color::DarkRed),
        }
    }
}

/// Table that grows row by row.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, Look)>>,
    has_heading: bool,
    /// Columns before which a table that is too wide is cut, if possible.
    seams: Vec<usize>,
}

impl Table {
    /// Makes a table with a heading.
    pub(crate) fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>) -> Self {
        let heading = heading.into_iter().map(|h| cell(h, Look::Heading)).collect();
        Self { rows: vec![heading], has_heading: true, seams: vec![] }
    }

    /// Sets the columns before which a table that is too wide is cut, if possible.
    pub(crate) fn cut_before(&mut self, seams: Vec<usize>) {
        self.seams = seams;
    }

    /// Adds a row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|c| cell(c, Look::Plain)).collect());
    }

    /// Adds a row with a look for each cell.
    pub(crate) fn painted_row(&mut self, cells: Vec<(String, Look)>) {
        self.rows.push(cells.into_iter().map(|(text, look)| cell(text, look)).collect());
    }

    /// Returns the table as text, indented by two spaces: the first column to the left, numbers to
    /// the right.
    pub(crate) fn render(&self, colour: bool) -> String {
        self.numbers(colour, width_of_output())
    }

    /// Returns a table of words as text: every column to the left, long texts wrapped.
    pub(crate) fn render_words(&self, colour: bool) -> String {
        self.words(colour, width_of_output())
    }

    /// Returns the table as Markdown.
    pub(crate) fn markdown(&self) -> String {
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

    /// Returns the columns of each part. Each part has the first column and as many others as fit,
    /// but ends at a seam if possible.
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

    /// Returns the text of a cell. If `wrapped`, a heading has one word per line, and brackets in
    /// the first column have their own line.
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
        let mut table = bare(colour);
        // Headings of fewer words end on the lowest line.
        let words = |c: usize| self.text(0, c, wrapped).lines().count().max(1);
        let most_words = columns.iter().map(|c| words(*c)).max().unwrap_or(0);
        let above = |r: usize, c: usize| {
            if r == 0 && wrapped { "\n".repeat(most_words - words(c)) } else { String::new() }
        };
        for (r, row) in self.rows.iter().enumerate() {
            let look = |c: usize| row.get(c).map_or(Look::Plain, |(_, look)| *look);
            table.add_row(Row::from(
                columns
                    .iter()
                    .map(|c| look(*c).cell(&(above(r, *c) + &self.text(r, *c, wrapped))))
                    .collect::<Vec<_>>(),
            ));
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if i == 0 { 0 } else { gap as u16 }, 0));
            column.set_cell_alignment(if i == 0 {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        indented(&table)
    }

    fn words(&self, colour: bool, width: Option<usize>) -> String {
        let mut table = bare(colour);
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width((width.max(NARROWEST) - INDENT) as u16);
        }
        for row in &self.rows {
            table.add_row(Row::from(
                row.iter().map(|(text, look)| look.cell(text)).collect::<Vec<_>>(),
            ));
        }
        let widths = table.column_max_content_widths();
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if i == 0 { 0 } else { NARROW_GAP as u16 }, 0));
            if widths[i] <= NAME {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        indented(&table)
    }
}

/// Makes a cell; its text becomes one line.
fn cell(text: impl Into<String>, look: Look) -> (String, Look) {
    (plain::line(&text.into()).into_owned(), look)
}

/// Makes a table without borders.
fn bare(colour: bool) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

fn indented(table: &comfy_table::Table) -> String {
    table
        .lines()
        .map(|line| format!("{}{}", " ".repeat(INDENT), line).trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies() -> Table {
        let mut table = Table::new(["", "p50", "slowest read", "lost"]);
        table.row(["read", "1.5 us", "9 ms", "0"]);
        table.row(["write", "12.5 us", "10 ms", "1"]);
        table
    }

    #[test]
    fn sentences_are_wrapped_at_words() {
        assert_eq!(wrapped_at("  one two three four", 2, 11), "  one two\n  three\n  four");
        assert_eq!(wrapped_at("one two", 0, 7), "one two");
        assert_eq!(wrapped_at("extraordinary one", 0, 5), "extraordinary\none");
    }

    #[test]
    fn columns_line_up() {
        let wide = "              p50   slowest read   lost\n  \
            read     1.5 us           9 ms      0\n  \
            write   12.5 us          10 ms      1\n";
        assert_eq!(latencies().numbers(false, None), wide);
        assert_eq!(latencies().numbers(false, Some(41)), wide);
    }

    #[test]
    fn what_is_too_wide_is_wrapped_in_its_heading_then_cut() {
        let mut table = latencies();
        let wrapped = "                  slowest\n             \
            p50     read  lost\n  \
            read    1.5 us     9 ms     0\n  \
            write  12.5 us    10 ms     1\n";
        assert_eq!(table.part(&[0, 1, 2, 3], NARROW_GAP, true, false), wrapped);
        // 5 + 2 + 7 + 2 + 7 columns fit; the last column does not.
        assert_eq!(table.parts(23), [vec![0, 1, 2], vec![0, 3]]);
        table.cut_before(vec![2]);
        assert_eq!(table.parts(23), [vec![0, 1], vec![0, 2, 3]]);
        assert_eq!(table.parts(29), [vec![0, 1, 2, 3]], "all columns fit");
        assert_eq!(table.parts(3), [vec![0, 1], vec![0, 2], vec![0, 3]], "no two columns fit");
    }

    #[test]
    fn long_words_are_wrapped_and_names_are_not() {
        let mut table = Table::default();
        table.row(["life", "time of this workload until the rated cycles"]);
        assert_eq!(
            table.words(false, Some(40)),
            "  life  time of this workload until the\n        rated cycles\n"
        );
        assert_eq!(
            table.words(false, None),
            "  life  time of this workload until the rated cycles\n"
        );
    }

    #[test]
    fn colours_change_no_width() {
        let mut table = Table::new(["x", "y"]);
        table.painted_row(vec![("a".into(), Look::Plain), ("1".into(), Look::Good)]);
        let painted = table.numbers(true, None);
        assert!(painted.contains('\x1b'), "{painted:?}");
        let bare: String = painted
            .split('\x1b')
            .enumerate()
            .map(|(i, t)| if i == 0 { t } else { t.split_once('m').unwrap().1 })
            .collect();
        assert_eq!(bare, table.numbers(false, None));
    }

    #[test]
    fn markdown_has_a_rule_and_no_stray_stars() {
        let mut table = Table::new(["", "p50"]);
        table.row(["read", "1.5 us*"]);
        assert_eq!(table.markdown(), "|  | p50 |\n| --- | ---: |\n| read | 1.5 us\\* |\n");
    }
}
