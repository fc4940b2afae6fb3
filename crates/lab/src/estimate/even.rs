//! Closed forms: reads alone, and even writes.
//!
//! Without writes, a block is rewritten after T reads of it. So R reads a second cause R / T erases
//! a second, wherever they go.
//!
//! Where all pages are written alike, blocks lose their pages one by one (the mean field of greedy
//! GC: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012). A block that still
//! holds n of its P pages loses the next after 1 / (n w) seconds. GC cleans at k pages, where the
//! mean block holds as many as the drive has: (P - k) / (H(P) - H(k)) = pages per closed block.
//! Reads of n pages come at n r a second, so r / w reads come with each page lost, and T reads when
//! m = T w / r pages are lost. A cycle frees min(m, P - k) pages.
//!
//! ```text
//! 100 closed blocks of 4 pages, 347 of them valid: (4 - 2) / (1/3 + 1/4) = 3.43, so GC cleans at about 2 pages and a cycle frees 2 pages
//! ```

use super::rate::Rate;
use super::shape::Shape;

/// Erases a second by reads alone, each after so many reads of a block.
pub(super) fn by_reads(reads: f64, threshold: f64) -> Rate {
    Rate { reclaim: reads / threshold, ..Rate::default() }
}

/// Even rates of a drive's pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Even {
    /// Reads of each page in a second.
    pub(super) reads: f64,
    /// Writes of each page in a second.
    pub(super) writes: f64,
    /// Reads of a block at which it is rewritten; none where reads cause no rewrite.
    pub(super) threshold: Option<f64>,
    /// Age in seconds at which a block is rewritten; none without refresh.
    pub(super) period: Option<f64>,
}

impl Even {
    /// Erases a second.
    pub(super) fn rate(&self, shape: &Shape) -> Rate {
        let p = shape.per_block;
        if self.writes == 0.0 {
            return self.unwritten(shape);
        }
        let written = self.writes * shape.pages;
        let by_gc = p - cleaned_at(shape);
        let by_reads = self
            .threshold
            .filter(|_| self.reads > 0.0)
            .map_or(f64::INFINITY, |t| t * self.writes / self.reads);
        let by_age =
            self.period.map_or(f64::INFINITY, |period| p * -(-self.writes * period).exp_m1());
        let freed = by_gc.min(by_reads).min(by_age);
        // Pages that the host programs, and those that are copied with them, in blocks.
        let (host, copied) = (written / p, written / freed - written / p);
        if freed < by_gc && by_reads <= by_age {
            Rate { host, reclaim: copied, ..Rate::default() }
        } else if freed < by_gc {
            Rate { host, refresh: copied, ..Rate::default() }
        } else {
            Rate { host: host + copied, ..Rate::default() }
        }
    }
}

impl Even {
    /// Erases a second where nothing is written: all blocks stay full until their reads or their
    /// age end them.
    fn unwritten(&self, shape: &Shape) -> Rate {
        let blocks = shape.pages / shape.per_block;
        let by_reads = self.threshold.map_or(0.0, |t| self.reads * shape.per_block / t);
        let by_age = self.period.map_or(0.0, |period| 1.0 / period);
        if by_reads >= by_age {
            Rate { reclaim: blocks * by_reads, ..Rate::default() }
        } else {
            Rate { refresh: blocks * by_age, ..Rate::default() }
        }
    }
}

/// P/E cycles of the mean block that `overwrites` random page writes cost a drive that was filled
/// in order.
///
/// The first of them take the free blocks; the others cost what even writes cost.
pub(super) fn cycles_of_overwriting(shape: &Shape, overwrites: f64) -> f64 {
    let free = (shape.blocks - shape.not_closed(2.0)) * shape.per_block - shape.pages;
    (overwrites - free).max(0.0) / (shape.per_block - cleaned_at(shape)) / shape.blocks
}

/// Valid pages of the block that GC cleans.
fn cleaned_at(shape: &Shape) -> f64 {
    // Pages in open blocks lie in no closed one. The host and GC write.
    let open = shape.width * shape.per_block;
    let closed = shape.blocks - shape.not_closed(2.0) - shape.width;
    let mean = ((shape.pages - open) / closed).min(shape.per_block - 0.5);
    let p = shape.per_block as u32;
    // Time in which a block holds more than k pages, and pages over that time, with w = 1.
    let (mut time, mut pages) = (0.0, 0.0);
    for held in (1..=p).rev() {
        let (longer, more) = (time + 1.0 / f64::from(held), pages + 1.0);
        if more / longer <= mean {
            // Part of the blocks is cleaned with `held` pages, and part with one less.
            let part = if time > 0.0 {
                ((pages - mean * time) / (mean / f64::from(held) - 1.0)).clamp(0.0, 1.0)
            } else {
                1.0
            };
            return f64::from(held) - part;
        }
        (time, pages) = (longer, more);
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(blocks: f64, pages: f64, per_block: f64) -> Shape {
        Shape { blocks, pages, per_block, width: 0.0, buffered: 1.0 }
    }

    #[test]
    fn worked_example() {
        // Two blocks are the reserve.
        let mean = 2.0 / (1.0 / 3.0 + 1.0 / 4.0);
        assert!((cleaned_at(&shape(102.0, 100.0 * mean, 4.0)) - 2.0).abs() < 1e-9);
        // Half of the blocks lose one page more: (2 + 1/2) / (7/12 + 1/4) = 3 pages in the mean
        // block.
        assert!((cleaned_at(&shape(102.0, 300.0, 4.0)) - 1.5).abs() < 1e-9);
    }

    /// Large blocks: the share r that GC finds valid solves (1 - r) / -ln r = utilisation.
    #[test]
    fn large_blocks_lose_pages_exponentially() {
        for u in [0.7, 0.85, 0.93] {
            let r = cleaned_at(&shape(10_002.0, 10_000.0 * 4096.0 * u, 4096.0)) / 4096.0;
            assert!(((1.0 - r) / -r.ln() - u).abs() < 1e-3, "{u}: {r}");
        }
    }

    #[test]
    fn few_writes_leave_the_law_of_reads() {
        let shape = shape(102.0, 8000.0, 100.0);
        let even = Even { reads: 3.0, writes: 1e-9, threshold: Some(500.0), period: None };
        let none = Even { writes: 0.0, ..even };
        assert!((none.rate(&shape).all() / even.rate(&shape).all() - 1.0).abs() < 1e-6);
        assert!((even.rate(&shape).all() / by_reads(3.0 * 8000.0, 500.0).all() - 1.0).abs() < 1e-6);
        // A block loses no page in a period of a second, and is rewritten each second: 80 blocks'
        // worth of pages.
        let aged = Even { threshold: None, period: Some(1.0), ..even };
        assert!(
            (aged.rate(&shape).all() / 80.0 - 1.0).abs() < 1e-6 && aged.rate(&shape).refresh > 79.9
        );
    }
}
