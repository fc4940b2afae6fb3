//! Reads tables of comma-separated values with a header: plain, gzip or zstd. Columns are found by
//! name, and each number is checked.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use vpass_drive::base::request::SourceError;

use crate::nearest::nearest;
use crate::traces::open_decompressed;

/// Length of the longest line, in bytes. This limit is 20 times the length of the longest line in
/// the published tables.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Open table of comma-separated values.
pub(super) struct Table {
    path: PathBuf,
    reader: BufReader<Box<dyn Read + Send>>,
    columns: Vec<String>,
    line: String,
    number: u64,
}

impl Table {
    /// Opens a table and reads its header.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, if it is not text, or if it is a pipe or a
    /// device.
    pub(super) fn open(path: &Path) -> Result<Self, SourceError> {
        if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Err(SourceError::new(format!(
                "{}: is a pipe or a device; a file with a table is expected",
                path.display()
            )));
        }
        let reader = BufReader::new(open_decompressed(path)?);
        let mut table =
            Self { path: path.to_owned(), reader, columns: vec![], line: String::new(), number: 0 };
        if !table.advance()? {
            return Err(SourceError::new(format!(
                "{}: is empty; a table with a header is expected",
                path.display()
            )));
        }
        table.columns = table.line.split(',').map(|c| c.trim().to_owned()).collect();
        Ok(table)
    }

    /// Returns the index of the column with the given name.
    ///
    /// # Errors
    /// Returns an error if the table has no column with this name.
    pub(super) fn column(&self, name: &str) -> Result<usize, SourceError> {
        self.columns.iter().position(|c| c == name).ok_or_else(|| {
            let near = nearest(name, self.columns.iter().map(String::as_str));
            let near =
                near.map_or_else(String::new, |near| format!("; the nearest name is `{near}`"));
            SourceError::new(format!(
                "{}, line 1: there is no column `{name}`{near}",
                self.path.display()
            ))
        })
    }

    /// Goes to the next row that is not blank. Returns false at the end of the table.
    ///
    /// # Errors
    /// Returns an error if the row has more or fewer columns than the header.
    pub(super) fn next_row(&mut self) -> Result<bool, SourceError> {
        while self.advance()? {
            if self.line.is_empty() {
                continue;
            }
            let (columns, expected) = (self.line.split(',').count(), self.columns.len());
            if columns != expected {
                return Err(self.complain(&format!(
                    "the row has {columns} columns, but the header has {expected}; equal numbers \
                     are expected"
                )));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the text of a column in the current row.
    pub(super) fn text(&self, column: usize) -> &str {
        self.line.split(',').nth(column).map_or("", str::trim)
    }

    /// Returns the number in a column of the current row. The number is at least 0.
    ///
    /// # Errors
    /// Returns an error if the column does not contain a valid number.
    pub(super) fn number(&self, column: usize) -> Result<f64, SourceError> {
        let text = self.text(column);
        let value = text.parse::<f64>().ok().filter(|n| n.is_finite());
        match value {
            Some(n) if n >= 0.0 => Ok(n),
            Some(_) => Err(self.wrong(column, "is negative; 0 or more is expected")),
            None => Err(self.wrong(column, "is not a number")),
        }
    }

    /// Returns the whole number in a column of the current row.
    ///
    /// # Errors
    /// Returns an error if the column does not contain a valid number.
    pub(super) fn count(&self, column: usize) -> Result<u64, SourceError> {
        let number = self.number(column)?;
        if number.fract() != 0.0 || number >= 2f64.powi(53) {
            return Err(self.wrong(column, "is not a count; a whole number below 2^53 is expected"));
        }
        Ok(number as u64)
    }

    /// Makes an error about a column of the current row.
    pub(super) fn wrong(&self, column: usize, what: &str) -> SourceError {
        self.complain(&format!(
            "`{}` of column `{}` {what}",
            self.text(column).escape_debug(),
            self.columns[column]
        ))
    }

    /// Makes an error about the current row.
    pub(super) fn complain(&self, what: &str) -> SourceError {
        SourceError::new(format!("{}, line {}: {what}", self.path.display(), self.number))
    }

    fn advance(&mut self) -> Result<bool, SourceError> {
        let mut bytes = vec![];
        let read = self.reader.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes);
        let failed = |what: &str| {
            SourceError::new(format!("{}, line {}: {what}", self.path.display(), self.number + 1))
        };
        let length = read.map_err(|e| failed(&format!("cannot be read: {e}")))? as u64;
        if length > MAX_LINE_BYTES {
            return Err(failed(
                "the line is longer than 64 KiB; a table with a header is expected",
            ));
        }
        let line = String::from_utf8(bytes)
            .map_err(|_| failed("is not text; a table with a header is expected"))?;
        line.trim_end().clone_into(&mut self.line);
        self.number += 1;
        Ok(length > 0)
    }
}
