//! Order in which a clone of a fio job uses its files: one after the other, again and again.
//!
//! As in fio, a pass over the files uses each position in a file for at most one request. A file
//! without unused positions is skipped until the next pass begins.

use super::in_file::InFile;

/// State of the current pass over a clone's files.
#[derive(Default)]
pub(super) struct FileCycle {
    /// File of the last request; `None` at the start of a pass.
    last: Option<usize>,
}

impl FileCycle {
    /// Begins another pass over the files.
    pub(super) fn begin(&mut self) {
        self.last = None;
    }

    /// Returns the file of the next request, or `None` if no file has an unused position.
    #[inline]
    pub(super) fn next(&mut self, files: &[InFile]) -> Option<usize> {
        if let [only] = files {
            return (!only.done).then_some(0);
        }
        let first = self.last.map_or(0, |last| last + 1);
        self.last = (first..files.len()).chain(0..first).find(|i| !files[*i].done);
        self.last
    }
}
