//! Closed-form estimates for three kinds of workloads: the host only reads, writes all pages at the
//! same rate, or overwrites a window of pages from start to end.
//!
//! Without writes, the drive rewrites a block after T page reads of the block. A host that reads R
//! pages per second therefore causes R / T erases per second. The distribution of the reads over
//! the blocks does not matter.
//!
//! If the host writes all pages at the same rate, blocks lose their valid pages one by one. The
//! equations are a mean-field model of greedy GC (Desnoyers, "Analytic modeling of SSD write
//! performance", SYSTOR 2012). They use these symbols:
//! - P is the number of pages of a block, and H(n) is the n-th harmonic number.
//! - w is the number of writes of each page per second, and r is the number of reads of each page
//!   per second.
//! - n is the number of valid pages of a block.
//! - k is the number of valid pages of a block when GC cleans the block.
//! - T is the number of page reads at which a block is rewritten.
//!
//! A block with n valid pages loses its next page after 1 / (n w) seconds, and gets n r page reads
//! per second. The mean number of valid pages of closed blocks is (P - k) / (H(P) - H(k)). This
//! equation determines k. A block gets r / w page reads for each page that it loses. After T page
//! reads, the block has therefore lost m = T w / r pages. Each P/E cycle frees m or P - k pages,
//! whichever is less.
//!
//! If the host overwrites a window from start to end, all pages of a block become invalid one after
//! another, so GC copies nothing. The erases of reads of other data are added.
//!
//! ```text
//! 100 closed blocks of P = 4 pages hold 347 valid pages, so the mean block holds 3.47
//! for k = 2, (4 - 2) / (1/3 + 1/4) = 3.43 valid pages per block
//! GC therefore cleans a block at about 2 valid pages, and a cycle frees 2 pages
//! ```

use super::rate::Rate;
use super::shape::Shape;

/// Returns the number of erases per second if the host only reads. A block is rewritten after
/// `threshold` page reads.
pub(super) fn by_reads(reads: f64, threshold: f64) -> Rate {
    Rate { reclaim: reads / threshold, ..Rate::default() }
}

/// Rates of a drive. All pages have the same read rate and the same write rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Even {
    /// Number of reads of each page per second.
    pub(super) reads: f64,
    /// Number of writes of each page per second.
    pub(super) writes: f64,
    /// Number of page reads at which a block is rewritten. `None` if reads cause no rewrite.
    pub(super) threshold: Option<f64>,
}

impl Even {
    /// Returns the number of erases per second.
    pub(super) fn rate(&self, shape: &Shape) -> Rate {
        let p = shape.per_block;
        let written = self.writes * shape.pages;
        let by_gc = p - cleaned_at(shape);
        let by_reads = self
            .threshold
            .filter(|_| self.reads > 0.0)
            .map_or(f64::INFINITY, |t| t * self.writes / self.reads);
        let freed = by_gc.min(by_reads);
        // `host` is the number of blocks per second that host writes fill. `copied` is the number
        // of blocks per second that copied pages fill.
        let (host, copied) = (written / p, written / freed - written / p);
        if freed < by_gc {
            Rate { host, reclaim: copied }
        } else {
            Rate { host: host + copied, ..Rate::default() }
        }
    }

    /// Returns the mean number of page reads of a block before GC cleans the block.
    pub(super) fn served(&self, shape: &Shape) -> f64 {
        (shape.per_block - cleaned_at(shape)) * self.reads / self.writes
    }
}

/// Returns how many P/E cycles random page writes cause in the mean block. `overwrites` is the
/// number of these writes. Before these writes, the drive was filled in address order.
///
/// The first writes use the free blocks. Each later write causes as many P/E cycles as a write in
/// the steady state.
pub(super) fn cycles_of_overwriting(shape: &Shape, overwrites: f64) -> f64 {
    let free = (shape.blocks - shape.not_closed(2.0)) * shape.per_block - shape.pages;
    (overwrites - free).max(0.0) / (shape.per_block - cleaned_at(shape)) / shape.blocks
}

/// Returns how many valid pages a block has when GC cleans the block.
fn cleaned_at(shape: &Shape) -> f64 {
    // The pages of open blocks are subtracted, so that only the pages of closed blocks count.
    let open = shape.width * shape.per_block;
    let closed = shape.blocks - shape.not_closed(2.0) - shape.width;
    let mean = ((shape.pages - open) / closed).min(shape.per_block - 0.5);
    let p = shape.per_block as u32;
    // `time` is the number of seconds for which a block has more than `held` valid pages, if the
    // host writes each page once per second. `pages` is the integral of the block's number of valid
    // pages over this time.
    let (mut time, mut pages) = (0.0, 0.0);
    for held in (1..=p).rev() {
        let (longer, more) = (time + 1.0 / f64::from(held), pages + 1.0);
        if more / longer <= mean {
            // GC cleans some blocks at `held` valid pages, and all other blocks at `held - 1` valid
            // pages.
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
        // The drive has 102 blocks, and its reserve takes two of them.
        let mean = 2.0 / (1.0 / 3.0 + 1.0 / 4.0);
        assert!((cleaned_at(&shape(102.0, 100.0 * mean, 4.0)) - 2.0).abs() < 1e-9);
        // Half of the blocks lose one page more than the others. The mean block then has (2 + 1/2)
        // / (7/12 + 1/4) = 3 valid pages.
        assert!((cleaned_at(&shape(102.0, 300.0, 4.0)) - 1.5).abs() < 1e-9);
    }

    /// In large blocks, the share r of valid pages that GC finds solves the equation (1 - r) / -ln
    /// r = utilisation.
    #[test]
    fn large_blocks_lose_pages_exponentially() {
        for u in [0.7, 0.85, 0.93] {
            let r = cleaned_at(&shape(10_002.0, 10_000.0 * 4096.0 * u, 4096.0)) / 4096.0;
            assert!(((1.0 - r) / -r.ln() - u).abs() < 1e-3, "{u}: {r}");
        }
    }

    #[test]
    fn few_writes_do_not_change_the_law_of_reads() {
        let shape = shape(102.0, 8000.0, 100.0);
        let even = Even { reads: 3.0, writes: 1e-9, threshold: Some(500.0) };
        assert!((even.rate(&shape).all() / by_reads(3.0 * 8000.0, 500.0).all() - 1.0).abs() < 1e-6);
    }
}
