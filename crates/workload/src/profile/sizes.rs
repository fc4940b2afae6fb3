//! Counts the requests of a trace by their exact size.

use std::collections::BTreeMap;

use vpass_drive::base::request::Op;

use super::{ByOp, percentile};
use crate::traces::MAX_REQUEST_BYTES;

const SECTOR_BYTES: u64 = 512;

/// Numbers of requests of each size.
#[derive(Debug, Default)]
pub struct Sizes {
    /// Number of requests for each size in sectors, up to 16 MiB (32,768 sectors). Almost all
    /// requests have such a size.
    sectors: Vec<ByOp>,
    /// Number of requests for each other size, in bytes.
    others: BTreeMap<u64, ByOp>,
}

impl Sizes {
    pub(crate) fn add(&mut self, bytes: u64, op: Op) {
        let requests = if bytes.is_multiple_of(SECTOR_BYTES) && bytes <= MAX_REQUEST_BYTES {
            let sectors = (bytes / SECTOR_BYTES) as usize;
            if self.sectors.len() <= sectors {
                self.sectors.resize(sectors + 1, [0; 3]);
            }
            &mut self.sectors[sectors]
        } else {
            self.others.entry(bytes).or_default()
        };
        requests[op as usize] += 1;
    }

    /// Returns the sizes of all requests in ascending order. Each size occurs once, with the number
    /// of its requests.
    pub fn all(&self) -> Vec<(u64, ByOp)> {
        let whole = (0..)
            .step_by(SECTOR_BYTES as usize)
            .zip(&self.sectors)
            .filter(|(_, n)| n.iter().sum::<u64>() > 0);
        let mut all: Vec<_> = whole
            .map(|(bytes, n)| (bytes, *n))
            .chain(self.others.iter().map(|(bytes, n)| (*bytes, *n)))
            .collect();
        all.sort_unstable_by_key(|(bytes, _)| *bytes);
        all
    }

    /// Returns a percentile of the request sizes of a direction. At least `percent` % of the
    /// requests have this size or a smaller size.
    pub fn percentile(&self, op: Op, percent: f64) -> Option<u64> {
        percentile(self.all().iter().map(|(bytes, n)| (*bytes, n[op as usize])), percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_hand() {
        let mut sizes = Sizes::default();
        for (bytes, op) in [
            (4096, Op::Read),
            (4096, Op::Read),
            (512, Op::Read),
            (700, Op::Read),
            (4096, Op::Write),
            (1 << 30, Op::Trim),
        ] {
            sizes.add(bytes, op);
        }
        assert_eq!(
            sizes.all(),
            [(512, [1, 0, 0]), (700, [1, 0, 0]), (4096, [2, 1, 0]), (1 << 30, [0, 0, 1])]
        );
        assert_eq!(
            [25.0, 26.0, 50.0, 51.0, 100.0].map(|p| sizes.percentile(Op::Read, p).unwrap()),
            [512, 700, 700, 4096, 4096]
        );
        assert_eq!(sizes.percentile(Op::Trim, 50.0), Some(1 << 30));
        assert_eq!(Sizes::default().percentile(Op::Read, 50.0), None);
    }
}
