//! Line numbers in a text, found from byte offsets.

/// Returns the line number of a byte offset in a text. The first line is 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

/// Offsets at which the lines of a text begin, for finding many line numbers quickly.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    /// Finds the lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
        )
    }

    /// Returns the line number of a byte offset, as [`line_of`] does.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same_line() {
        let text = "a = 1\n\nb = 2\r\n\u{e9} = 3";
        let lines = Lines::of(text);
        assert_eq!([line_of(text, 0), line_of(text, 6), line_of(text, 7)], [1, 2, 3]);
        assert!((0..=text.len()).all(|at| lines.line(at) == line_of(text, at)));
    }
}
