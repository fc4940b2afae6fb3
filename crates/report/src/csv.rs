//! CSV files with a heading: columns by name, so that a file may have more columns than we know.

/// Rows of a CSV file under its heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csv {
    /// Text of the comment before the heading; absent without one.
    pub title: Option<String>,
    /// Names of the columns.
    pub heading: Vec<String>,
    /// Rows, each with as many cells as the heading.
    pub rows: Vec<Vec<String>>,
}

impl Csv {
    /// Reads a file. Lines that begin with `#` are comments. A cell in quotes may hold commas,
    /// line breaks and doubled quotes.
    ///
    /// # Errors
    /// Returns the reason why the text is not such a file.
    pub fn read(text: &str) -> Result<Self, String> {
        let title = text.strip_prefix("# ").and_then(|text| text.lines().next());
        let mut lines = records(text);
        let heading = lines.next().ok_or("the heading is missing")?;
        let mut rows = vec![];
        for row in lines {
            if row.len() != heading.len() {
                return Err(format!(
                    "row {} has {} cells; the heading has {}",
                    rows.len() + 1,
                    row.len(),
                    heading.len()
                ));
            }
            rows.push(row);
        }
        Ok(Self { title: title.map(str::to_owned), heading, rows })
    }

    /// Returns the place of a column; `None` without such a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.heading.iter().position(|heading| heading == name)
    }

    /// Returns the numbers of a column; NaN for an empty cell or other text. Returns `None` without
    /// such a column.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.column(name)?;
        Some(self.rows.iter().map(|row| row[column].parse().unwrap_or(f64::NAN)).collect())
    }

    /// Returns the texts of a column; `None` without such a column.
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let column = self.column(name)?;
        Some(self.rows.iter().map(|row| row[column].as_str()).collect())
    }
}

/// Returns the records of a text, without comments and empty lines.
fn records(text: &str) -> impl Iterator<Item = Vec<String>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            if first == '#' || first == '\n' {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                continue;
            }
            let (record, after) = record(rest);
            rest = after;
            return Some(record);
        }
    })
}

/// Returns the first record of a text, and the text after it.
fn record(text: &str) -> (Vec<String>, &str) {
    let (mut cells, mut cell, mut is_quoted) = (vec![], String::new(), false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                cell.push('"');
                chars.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                cells.push(cell);
                return (cells, &text[at + 1..]);
            }
            '\r' if !is_quoted => {}
            c => cell.push(c),
        }
    }
    cells.push(cell);
    (cells, "")
}

/// Returns a cell as CSV: in quotes if its text needs them. A text that a spreadsheet would take
/// for a formula gets an apostrophe.
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
        assert_eq!(csv.title.as_deref(), Some("title"));
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
        assert_eq!(csv.rows, [cells]);
        assert_eq!(cell("=1+1"), "'=1+1");
    }

    #[test]
    fn a_row_of_another_length_is_refused() {
        let why = Csv::read("a,b\n1,2\n3\n").unwrap_err();
        assert_eq!(why, "row 2 has 1 cells; the heading has 2");
        assert_eq!(Csv::read("").unwrap_err(), "the heading is missing");
    }
}
