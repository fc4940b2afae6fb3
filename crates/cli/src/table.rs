//! Plain tables: the first column to the left, the others to the right, colour only where it is wanted.

use std::fmt::Write;
use std::io::IsTerminal;

/// Whether standard output takes colours.
pub(crate) fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    std::io::stdout().is_terminal() && !refused
}

/// How a piece of text looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Heading,
    Good,
    Bad,
}

impl Look {
    /// The text with this look, where colours are wanted.
    pub(crate) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Plain => return text.into(),
        };
        if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }
}

/// A table that grows row by row.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, Look)>>,
}

impl Table {
    /// A table with a heading.
    pub(crate) fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>) -> Self {
        Self { rows: vec![heading.into_iter().map(|h| (h.into(), Look::Heading)).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|c| (c.into(), Look::Plain)).collect());
    }

    /// Adds a row of cells that look different.
    pub(crate) fn painted_row(&mut self, cells: Vec<(String, Look)>) {
        self.rows.push(cells);
    }

    /// The table as text, every line indented by two: the first column to the left, numbers to the right.
    pub(crate) fn render(&self, colour: bool) -> String {
        self.lay_out(colour, "   ", |column| column == 0)
    }

    /// The same with every column to the left, for tables of words.
    pub(crate) fn render_words(&self, colour: bool) -> String {
        self.lay_out(colour, "  ", |_| true)
    }

    fn lay_out(&self, colour: bool, gap: &str, to_the_left: impl Fn(usize) -> bool) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|(t, _)| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (c, (cell, look)) in row.iter().enumerate() {
                let pad = " ".repeat(widths[c] - cell.chars().count());
                let cell = look.paint(cell, colour);
                let gap = if c == 0 { "" } else { gap };
                let _ = if to_the_left(c) { write!(line, "{gap}{cell}{pad}") } else { write!(line, "{gap}{pad}{cell}") };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["", "p50"]);
        table.row(["read", "1.5 us"]);
        table.row(["write", "12.5 us"]);
        assert_eq!(table.render(false), "              p50\n  read     1.5 us\n  write   12.5 us\n");
    }
}
