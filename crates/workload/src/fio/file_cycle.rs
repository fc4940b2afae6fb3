//! Order in which a clone of a fio job uses its files (`file_service_type`).
//!
//! As in fio, a pass over the files uses each position in a file for at most one request. A file
//! without unused positions is skipped until the next pass begins.

use super::in_file::InFile;
use super::service::{Order, Service};
use crate::synthetic::random::{Random, below};

/// Order in which a clone uses its files, with the state of the current pass.
pub(super) struct FileCycle {
    service: Service,
    /// File of the last request; `None` at the start of a pass.
    last: Option<usize>,
    left: u32,
}

impl FileCycle {
    pub(super) fn new(service: Service) -> Self {
        Self { service, last: None, left: 0 }
    }

    /// Begins another pass over the files.
    pub(super) fn begin(&mut self) {
        (self.last, self.left) = (None, 0);
    }

    /// Returns the file of the next request, or `None` if no file has an unused position.
    #[inline]
    pub(super) fn next(&mut self, files: &[InFile], random: &mut Random) -> Option<usize> {
        if let [only] = files {
            return (!only.done).then_some(0);
        }
        if let Some(last) = self.last.filter(|last| !files[*last].done)
            && (self.left > 0 || self.service.order == Order::Sequential)
        {
            self.left = self.left.saturating_sub(1);
            return Some(last);
        }
        let (before, after) = files.split_at(self.last.map_or(0, |last| last + 1));
        let open =
            |from: usize, files: &[InFile]| files.iter().position(|f| !f.done).map(|i| from + i);
        let next = match self.service.order {
            Order::RoundRobin | Order::Sequential => {
                open(before.len(), after).or_else(|| open(0, before))
            }
            Order::Random => {
                let count = files.iter().filter(|f| !f.done).count() as u64;
                let mut open = files.iter().enumerate().filter(|(_, f)| !f.done);
                if count == 0 {
                    None
                } else {
                    open.nth(below(random, count) as usize).map(|(i, _)| i)
                }
            }
        };
        self.last = next;
        self.left = self.service.in_a_row - 1;
        next
    }
}
