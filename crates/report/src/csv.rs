//! Parser of CSV files with a heading. Columns are found by their names, so a file may have
//! additional columns.

/// Rows of a CSV file. Each row has as many cells as the heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csv {
    /// Names of the columns.
    pub heading: Vec<String>,
    cells: Cells,
}

/// Cells of all rows, one after the other. All cells share one string, because a large file has a
/// million cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Csv {
    /// Parses a CSV file. Lines that begin with `#` are comments. A cell in quotes may hold commas,
    /// line breaks and doubled quotes.
    ///
    /// # Errors
    /// Returns the reason why the text is not a valid CSV file.
    pub fn read(text: &str) -> Result<Self, String> {
        let (mut heading, mut cells) = (Cells::default(), Cells::default());
        let mut rest = next_record(text).ok_or("the heading is missing")?;
        rest = heading.take_record(rest);
        let heading: Vec<String> =
            (0..heading.ends.len()).map(|i| heading.cell(i).into()).collect();
        let mut rows = 0;
        while let Some(record) = next_record(rest) {
            let before = cells.ends.len();
            rest = cells.take_record(record);
            rows += 1;
            let width = cells.ends.len() - before;
            if width != heading.len() {
                return Err(format!(
                    "row {rows} has {width} cells, but the heading has {}; equal numbers are \
                     expected",
                    heading.len()
                ));
            }
        }
        Ok(Self { heading, cells })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.cells.ends.len() / self.heading.len().max(1)
    }

    /// Returns whether the file has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the cells of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> {
        let width = self.heading.len();
        (row * width..(row + 1) * width).map(|cell| self.cells.cell(cell))
    }

    /// Returns the index of the column with this name; `None` if the file has no such column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.heading.iter().position(|heading| heading == name)
    }

    /// Returns the numbers of the column with this name. A cell without a number becomes NaN.
    /// Returns `None` if the file has no such column.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let number = |text: &str| text.parse().unwrap_or(f64::NAN);
        Some(self.texts(name)?.into_iter().map(number).collect())
    }

    /// Returns the texts of the column with this name; `None` if the file has no such column.
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let (column, width) = (self.column(name)?, self.heading.len());
        Some((0..self.len()).map(|row| self.cells.cell(row * width + column)).collect())
    }
}

impl Cells {
    fn cell(&self, cell: usize) -> &str {
        let start = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[cell]]
    }

    fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Adds the cells of the first record in a text, and returns the text after this record.
    fn take_record<'a>(&mut self, text: &'a str) -> &'a str {
        let (line, after) = text.split_once('\n').unwrap_or((text, ""));
        if line.contains('"') {
            return self.take_quoted(text);
        }
        for cell in line.strip_suffix('\r').unwrap_or(line).split(',') {
            self.text.push_str(cell);
            self.end();
        }
        after
    }

    /// Adds the cells of the first record in a text, and returns the text after this record. The
    /// record has quotes, so it may extend over several lines.
    fn take_quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let mut is_quoted = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' if is_quoted && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                    self.text.push('"');
                    chars.next();
                }
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => self.end(),
                '\n' if !is_quoted => {
                    self.end();
                    return &text[at + 1..];
                }
                '\r' if !is_quoted => {}
                c => self.text.push(c),
            }
        }
        self.end();
        ""
    }
}

/// Returns the text from its next record on. Comments and empty lines before this record are
/// skipped. Returns `None` if the text has no further record.
fn next_record(text: &str) -> Option<&str> {
    let mut rest = text;
    while rest.starts_with(['#', '\n']) {
        rest = rest.split_once('\n').map_or("", |(_, after)| after);
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Returns a text as a CSV cell, in quotes if needed. If a spreadsheet might take the text for a
/// formula, the cell begins with an apostrophe.
pub fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '@', '\t'])
        || (text.starts_with(['+', '-']) && text.parse::<f64>().is_err());
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let csv = Csv::read("# title\nblock,us\n0,1.5\n1,\n").unwrap();
        assert_eq!(csv.texts("block").unwrap(), ["0", "1"]);
        let us = csv.numbers("us").unwrap();
        assert!(us[0].to_bits() == 1.5f64.to_bits() && us[1].is_nan(), "{us:?}");
        assert_eq!(csv.numbers("ms"), None);
    }

    #[test]
    fn quoted_cells_hold_everything_and_come_back() {
        let cells = ["a \"b\", c", "two\nlines", "plain", "-1.5"];
        let line = cells.map(cell).join(",");
        let csv = Csv::read(&format!("w,x,y,z\r\n{line}\r\n")).unwrap();
        assert_eq!((csv.len(), csv.row(0).collect::<Vec<_>>()), (1, cells.to_vec()));
        assert_eq!(cell("=1+1"), "'=1+1");
    }

    #[test]
    fn a_row_of_another_length_is_refused() {
        let why = Csv::read("a,b\n1,2\n3\n").unwrap_err();
        assert_eq!(why, "row 2 has 1 cells, but the heading has 2; equal numbers are expected");
        assert_eq!(Csv::read("").unwrap_err(), "the heading is missing");
    }
}
