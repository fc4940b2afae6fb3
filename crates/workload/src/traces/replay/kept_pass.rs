//! One pass of a trace in memory, for the passes that follow it: files are decompressed and parsed
//! once.
//!
//! A pass is kept where it is small. It is used while the files are as they were; a file that has
//! changed is read again, and complained of.

use std::path::Path;
use std::time::SystemTime;

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::Op;
use vpass_core::base::units::Ns;

use crate::traces::replay::file_replay::Placed;
use crate::traces::replay::survey::Survey;

/// Bytes that a kept pass takes at most.
const MOST_BYTES: u64 = 64 << 20;

/// A row as it was handed out; its time counts from the beginning of its part.
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

/// A file by size and time of change; none where it cannot be had.
type Identity = Option<(u64, SystemTime)>;

/// A pass: nothing of it yet, some of it, or all.
#[derive(Debug, Default)]
pub(in crate::traces) struct KeptPass {
    is_small: bool,
    is_whole: bool,
    rows: Vec<Row>,
    /// Rows before the end of each part.
    part_ends: Vec<usize>,
    files: Vec<Identity>,
}

impl KeptPass {
    /// The first pass over these files begins.
    pub(in crate::traces) fn new(survey: &Survey) -> Self {
        Self { is_small: Self::bytes(survey) > 0, files: identities(survey), ..Self::default() }
    }

    /// Bytes that a pass over these files will take; none where it is too large to be kept.
    pub(in crate::traces) fn bytes(survey: &Survey) -> u64 {
        Some(survey.rows() * size_of::<Row>() as u64)
            .filter(|bytes| *bytes <= MOST_BYTES)
            .unwrap_or(0)
    }

    /// A row is handed out, so long after the beginning of its part.
    #[inline]
    pub(in crate::traces) fn keep(&mut self, row: &Placed, since: Ns) {
        if self.is_small && !self.is_whole {
            let Placed { offset, bytes, op, hint, clamped, refitted, .. } = *row;
            self.rows.push(Row { since, offset, bytes, op, hint, clamped, refitted });
        }
    }

    /// A part has ended.
    pub(in crate::traces) fn end_part(&mut self) {
        if self.is_small && !self.is_whole {
            self.part_ends.push(self.rows.len());
        }
    }

    /// The pass has ended.
    pub(in crate::traces) fn end(&mut self) {
        self.is_whole = self.is_small;
    }

    /// Another pass begins: whether this one can be had again. What is not whole is forgotten.
    pub(in crate::traces) fn serves(&mut self, survey: &Survey) -> bool {
        let same = self.files.iter().all(Option::is_some) && self.files == identities(survey);
        self.is_small &= same;
        self.is_whole &= same;
        if !self.is_whole {
            (self.rows, self.part_ends) = (vec![], vec![]);
        }
        self.is_whole
    }

    /// A row of a part, by its place in the pass; the time since the part's beginning is in its
    /// `at`.
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
