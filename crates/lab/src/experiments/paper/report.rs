//! Results of a recipe: text for the reader, and files.
use crate::files::File;

/// Results of a recipe.
#[derive(Debug)]
pub struct Report {
    /// Parts of the results, in the order in which a reader sees them.
    pub parts: Vec<Part>,
    /// Files of the results folder, except its manifest.
    pub files: Vec<File>,
    /// Number of runs.
    pub runs: usize,
    /// Name of the first run in which the oracle found a violation.
    pub violation: Option<String>,
}

/// Part of the results that a reader sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Title, and the text below it.
    Title(String, String),
    /// Table of numbers.
    Numbers(Grid),
    /// Table of words.
    Words(Grid),
    /// Sentence on a line of its own.
    Line(String),
    /// Sentence about lost data.
    Loss(String),
}

/// Cells of a table as text. The first row is the heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid(pub Vec<Vec<String>>);

impl Grid {
    pub(super) fn new<T: Into<String>>(heading: impl IntoIterator<Item = T>) -> Self {
        Self(vec![heading.into_iter().map(Into::into).collect()])
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.push(cells.into_iter().collect());
    }
}
