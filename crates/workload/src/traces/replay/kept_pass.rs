//! Keeps the first pass of a trace in memory. As a result, later passes need not decompress and
//! parse the files again.
//!
//! Only a small pass is kept, and only as long as the trace files do not change. If a file has
//! changed, all files are read again, and the change is reported.

use std::path::Path;
use std::time::SystemTime;

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op;
use vpass_drive::base::units::Ns;

use crate::traces::replay::file_replay::Placed;
use crate::traces::replay::survey::Survey;

/// Size of the largest pass that is kept, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Row that was handed out in the first pass. `since` is the time of the row, counted from the
/// start of its part of the trace.
#[derive(Clone, Copy, Debug)]
struct Row {
    since: Ns,
    offset: u64,
    bytes: u32,
    op: Op,
    hint: Option<AccessLatency>,
    clamped: bool,
    refitted: bool,
}

const _: () = assert!(size_of::<Row>() == 24);

/// Size and modification time of a file; `None` if they cannot be read.
type Identity = Option<(u64, SystemTime)>;

/// Pass of a trace in memory, which may be empty, incomplete or complete.
#[derive(Debug, Default)]
pub(in crate::traces) struct KeptPass {
    is_small: bool,
    is_whole: bool,
    rows: Vec<Row>,
    /// Number of rows from the start of the trace to the end of each part.
    part_ends: Vec<usize>,
    files: Vec<Identity>,
}

impl KeptPass {
    /// Begins the first pass over the files of a trace.
    pub(in crate::traces) fn new(survey: &Survey) -> Self {
        Self { is_small: Self::bytes(survey) > 0, files: identities(survey), ..Self::default() }
    }

    /// Returns the size of a pass over the surveyed files in bytes. Returns 0 if the pass is too
    /// large to be kept.
    pub(in crate::traces) fn bytes(survey: &Survey) -> u64 {
        Some(survey.rows() * size_of::<Row>() as u64)
            .filter(|bytes| *bytes <= MOST_BYTES)
            .unwrap_or(0)
    }

    /// Keeps a row that was handed out. `since` is the time of the row, counted from the start of
    /// its part of the trace.
    #[inline]
    pub(in crate::traces) fn keep(&mut self, row: &Placed, since: Ns) {
        if self.is_small && !self.is_whole {
            let Placed { offset, bytes, op, hint, clamped, refitted, .. } = *row;
            self.rows.push(Row { since, offset, bytes, op, hint, clamped, refitted });
        }
    }

    /// Records that a part of the trace has ended.
    pub(in crate::traces) fn end_part(&mut self) {
        if self.is_small && !self.is_whole {
            self.part_ends.push(self.rows.len());
        }
    }

    /// Records that the pass has ended.
    pub(in crate::traces) fn end(&mut self) {
        self.is_whole = self.is_small;
    }

    /// Returns whether the kept pass can be used instead of reading the files again. If not, the
    /// kept pass is dropped.
    pub(in crate::traces) fn serves(&mut self, survey: &Survey) -> bool {
        let same = self.files.iter().all(Option::is_some) && self.files == identities(survey);
        self.is_small &= same;
        self.is_whole &= same;
        if !self.is_whole {
            (self.rows, self.part_ends) = (vec![], vec![]);
        }
        self.is_whole
    }

    /// Returns a row of the given part of the trace. `place` is the index of the row in the pass.
    /// In the result, `at` is the time since the start of the part.
    pub(in crate::traces) fn row(&self, part: usize, place: usize) -> Option<Placed> {
        let row = self
            .rows
            .get(place)
            .filter(|_| self.part_ends.get(part).is_some_and(|end| place < *end))?;
        let Row { since, offset, bytes, op, hint, clamped, refitted } = *row;
        Some(Placed { at: since, offset, bytes, op, hint, clamped, refitted })
    }
}

fn identities(survey: &Survey) -> Vec<Identity> {
    let of = |path: &Path| {
        std::fs::metadata(path).and_then(|data| Ok((data.len(), data.modified()?))).ok()
    };
    survey.files().iter().map(|file| of(&file.path)).collect()
}
