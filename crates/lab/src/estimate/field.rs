//! Mean-field model of skewed workloads. Pages with similar rates form a class. The model does not
//! store single pages. For each block, the model stores the mean number of pages of each class.
//!
//! The host, GC and reclaim each fill separate blocks. The host overwrites each page of a class w
//! times per second. Each overwrite makes the old copy invalid, so the mean number of valid pages
//! in a block falls as exp(-w t). The model follows Desnoyers, "Analytic models of SSD write
//! performance", ACM TOS 2014, for hot and cold data.
//!
//! Greedy GC cleans the block with the fewest valid pages. A part of a block moves when the block's
//! number of page reads reaches the limit of the part. The equations are integrated in time steps,
//! and about one block is filled in each step. The integration ends when the rates of erases have
//! settled.

use super::limits::{Kind, Part};
use super::pages::Class;
use super::rate::Rate;
use super::shape::Shape;

/// Largest number of blocks that the model simulates.
const MOST_BLOCKS: f64 = 420.0;
/// Limit for rare classes, in pages per block. A class with fewer pages in a block is rare. Pages
/// of rare classes are assigned to blocks as whole pages. For all other classes, blocks can have
/// fractions of pages.
const RARE: f64 = 3.0;
/// Smallest number of pages of a class in the simulated blocks. Classes with fewer pages are
/// computed separately.
const FEWEST_PAGES: f64 = 4.0;
/// Length of a window, in P/E cycles of the mean block. The model compares the rate of erases in
/// each window with the rate in the previous window.
pub(super) const WINDOW: f64 = 4.0;
/// Number of additional simulated blocks, which hold data that is being moved.
const BEYOND: usize = 2;
/// Rates count as settled if they differ by at most this share between two successive windows.
const WITHIN: f64 = 0.01;
/// Largest number of time steps of one integration. `FIRST_STEPS` is for the P/E count at the
/// drive's start, and `LATER_STEPS` is for each later P/E count.
pub(super) const FIRST_STEPS: u32 = 40_000;
pub(super) const LATER_STEPS: u32 = 8_000;
/// Blocks count as empty if less than this share of their pages is valid.
const NOTHING: f64 = 1e-6;

/// Kinds of data. Each kind is written to separate blocks.
const HOST: usize = 0;
const GC: usize = 1;
const RECLAIM: usize = 2;
const KINDS: usize = 3;

/// Block that the model simulates.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    is_closed: bool,
    /// Number of page reads since the block was erased.
    reads: f64,
    /// Time at which the block was filled.
    born: f64,
}

/// Data of one kind that waits until there is enough data to fill a block.
#[derive(Clone, Debug)]
struct Pool {
    pages: Vec<f64>,
    /// Number of invalid pages in the open block. The host has overwritten these pages.
    dead: f64,
    /// Fraction of a page that is left, for each rare class, after whole pages were assigned to
    /// blocks.
    due: Vec<f64>,
    /// Number of page reads that the open block has had so far.
    reads: f64,
}

/// Simulated blocks: all blocks of a drive, or a share of them.
pub(super) struct Field {
    classes: Vec<Class>,
    /// Classes that have too few pages in the simulated share of the blocks.
    hottest: Vec<Class>,
    /// Simulated share of the drive's blocks.
    share: f64,
    per_block: f64,
    /// Largest number of blocks that may be closed at the same time.
    most_closed: f64,
    kind: Kind,
    period: Option<f64>,
    blocks: Vec<Block>,
    /// Number of valid pages, indexed by class, then by part, then by block.
    valid: Vec<f64>,
    /// Number of valid pages of each block.
    held: Vec<f64>,
    /// Number of page reads of each block per second.
    read: Vec<f64>,
    parts: usize,
    pools: [Pool; KINDS],
    now: f64,
    closed: usize,
    erased: f64,
    programs: [f64; KINDS],
    refreshed: f64,
}

impl Field {
    /// Creates blocks with `parts` parts each. The blocks are filled with pages of all classes, one
    /// class after another.
    pub(super) fn new(
        shape: &Shape,
        classes: &[Class],
        kind: Kind,
        parts: usize,
        period: Option<f64>,
    ) -> Self {
        let followed = shape.blocks.min(MOST_BLOCKS);
        let part = followed / shape.blocks;
        let (hottest, classes) = told_apart(classes, part);
        let kinds = f64::from(
            u32::from(classes.iter().any(|class| class.writes > 0.0)) * 2
                + u32::from(parts > 0 || period.is_some()),
        );
        let none = Pool {
            pages: vec![0.0; classes.len()],
            due: vec![0.0; classes.len()],
            dead: 0.0,
            reads: 0.0,
        };
        let parts = parts.max(1);
        let mut field = Self {
            share: part,
            per_block: shape.per_block,
            most_closed: (part * (shape.blocks - shape.not_closed(kinds)) - kinds / 2.0).floor(),
            kind,
            period,
            blocks: vec![Block::default(); followed as usize + BEYOND],
            valid: vec![0.0; (followed as usize + BEYOND) * parts * classes.len()],
            held: vec![0.0; followed as usize + BEYOND],
            read: vec![0.0; followed as usize + BEYOND],
            parts,
            pools: [none.clone(), none.clone(), none],
            now: 0.0,
            closed: 0,
            erased: 0.0,
            programs: [0.0; KINDS],
            refreshed: 0.0,
            classes,
            hottest,
        };
        field.pools[HOST].pages = field.classes.iter().map(|class| class.pages).collect();
        let even = vec![1.0 / parts as f64; parts];
        while field.fill_one(HOST, &even) {}
        field.programs = [0.0; KINDS];
        field
    }

    /// Returns rates of erases: how many blocks the whole drive erases per second. There is one
    /// rate for each window until the rates settle. `parts` has the number of page reads at which
    /// each part of a block moves.
    pub(super) fn settle(&mut self, parts: &[Part], most_steps: u32) -> Vec<Rate> {
        let shares: Vec<f64> = if parts.is_empty() {
            vec![1.0]
        } else {
            parts.iter().map(|part| part.share).collect()
        };
        let step = self.step_of(parts);
        if !step.is_finite() {
            return vec![Rate::default()];
        }
        let turnover = WINDOW * (self.blocks.len() - BEYOND) as f64;
        let hottest = self.of_hottest(parts);
        let (mut steps, mut is_alike, mut rates) = (0, false, vec![]);
        loop {
            let from = self.counts();
            while self.erased - from.1 < turnover && steps < most_steps {
                self.step(step, parts, &shares);
                steps += 1;
            }
            let to = self.counts();
            let rate = Self::rate(from, to) * (1.0 / self.share) + hottest;
            let alike = rates
                .last()
                .is_some_and(|before: &Rate| (rate.all() / before.all() - 1.0).abs() < WITHIN);
            rates.push(rate);
            if steps >= most_steps || alike && is_alike {
                return rates;
            }
            is_alike = alike;
        }
    }

    /// Returns the length of a time step in seconds. In one step, about one block is programmed for
    /// all causes together.
    fn step_of(&self, parts: &[Part]) -> f64 {
        let sum = |of: &dyn Fn(&Class) -> f64| {
            self.classes.iter().map(|class| class.pages * of(class)).sum::<f64>()
        };
        let by_writes = 2.0 * sum(&|class| class.writes) / self.per_block;
        let by_reads = parts.first().map_or(0.0, |part| sum(&|class| class.reads) / part.reads);
        let by_age = self.period.map_or(0.0, |period| sum(&|_| 1.0) / self.per_block / period);
        1.0 / (by_writes + by_reads + by_age)
    }

    fn counts(&self) -> (f64, f64, [f64; KINDS], f64) {
        (self.now, self.erased, self.programs, self.refreshed)
    }

    /// Returns the number of erases per second between two times. Each cause gets a share of the
    /// erases, in proportion to the pages that it programmed.
    fn rate(from: (f64, f64, [f64; KINDS], f64), to: (f64, f64, [f64; KINDS], f64)) -> Rate {
        let seconds = to.0 - from.0;
        let programs: [f64; KINDS] = std::array::from_fn(|kind| to.2[kind] - from.2[kind]);
        let all: f64 = programs.iter().sum();
        let refreshed = to.3 - from.3;
        let erases = (to.1 - from.1) / seconds / all.max(1.0);
        let reclaim = (programs[RECLAIM] - refreshed).max(0.0);
        Rate {
            host: erases * (programs[HOST] + programs[GC]),
            reclaim: erases * reclaim,
            refresh: erases * refreshed,
        }
    }

    fn step(&mut self, dt: f64, parts: &[Part], shares: &[f64]) {
        self.now += dt;
        let stays: Vec<f64> = self.classes.iter().map(|class| (-class.writes * dt).exp()).collect();
        for (k, class) in self.classes.iter().enumerate() {
            for pool in &mut self.pools {
                pool.dead += pool.pages[k] * (1.0 - stays[k]);
                pool.pages[k] *= stays[k];
                pool.reads += pool.pages[k] * class.reads * dt;
            }
            let (written, last) = (class.pages * class.writes * dt, class.pages * (1.0 - stays[k]));
            self.pools[HOST].pages[k] += last;
            self.pools[HOST].dead += written - last;
        }
        self.decay(&stays);
        for b in 0..self.blocks.len() {
            if !self.blocks[b].is_closed {
                continue;
            }
            let (held, block) = (self.held[b], &mut self.blocks[b]);
            block.reads += self.read[b] * dt;
            let is_old = self.period.is_some_and(|period| self.now - block.born >= period);
            if is_old {
                self.refreshed += held;
                self.empty(b, 0..self.parts, RECLAIM);
                continue;
            }
            if held < NOTHING * self.per_block {
                self.empty(b, 0..self.parts, RECLAIM);
                continue;
            }
            let reads = block.reads;
            let moved = parts.iter().take_while(|part| part.reads <= reads).count();
            if moved > 0 {
                if moved == parts.len() {
                    // The whole block moves at the limit of the last part. Page reads beyond this
                    // limit count as reads of the new copy of the data.
                    self.pools[RECLAIM].reads += reads - parts[moved - 1].reads;
                }
                self.empty(b, 0..moved, RECLAIM);
            }
        }
        for kind in [HOST, RECLAIM] {
            while self.fill_one(kind, shares) {}
        }
        while self.closed as f64 > self.most_closed && self.clean() {
            while self.fill_one(GC, shares) {}
        }
    }

    /// Removes the pages that the host overwrites in a step, and updates the page counts and page
    /// reads of the blocks. `stays` has, for each class, the share of pages that remain valid.
    fn decay(&mut self, stays: &[f64]) {
        let blocks = self.blocks.len();
        self.held.fill(0.0);
        self.read.fill(0.0);
        let by_class = self.valid.chunks_mut(blocks * self.parts).zip(&self.classes).zip(stays);
        for ((of_class, class), stays) in by_class {
            for of_part in of_class.chunks_mut(blocks) {
                if *stays < 1.0 {
                    for pages in of_part.iter_mut() {
                        *pages *= stays;
                    }
                }
                for ((pages, held), read) in of_part.iter().zip(&mut self.held).zip(&mut self.read)
                {
                    *held += pages;
                    *read += pages * class.reads;
                }
            }
        }
    }

    /// Moves the pages of some parts of a block to the pool for a kind of data. If all parts of the
    /// block were moved, also erases the block.
    fn empty(&mut self, b: usize, parts: std::ops::Range<usize>, kind: usize) {
        let blocks = self.blocks.len();
        let is_whole = parts.len() == self.parts;
        for k in 0..self.classes.len() {
            for part in parts.clone() {
                let pages = std::mem::take(&mut self.valid[(k * self.parts + part) * blocks + b]);
                self.pools[kind].pages[k] += pages;
                self.held[b] -= pages;
            }
        }
        if is_whole {
            self.erase(b);
        }
    }

    fn erase(&mut self, b: usize) {
        self.blocks[b] = Block::default();
        self.held[b] = 0.0;
        self.closed -= 1;
        self.erased += 1.0;
    }

    /// Cleans the block with the fewest valid pages. Returns false if all blocks are full of valid
    /// pages.
    fn clean(&mut self) -> bool {
        let closed = (0..self.blocks.len()).filter(|b| self.blocks[*b].is_closed);
        let fewest = closed.map(|b| (self.held[b], b)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, b)) = fewest.filter(|(held, _)| *held < self.per_block - 0.5) else {
            return false;
        };
        self.empty(b, 0..self.parts, GC);
        true
    }

    /// Fills a block with data of one kind. `shares` lists, for each part of the block, the share
    /// of the data that goes to this part. Returns false if there is too little data.
    fn fill_one(&mut self, kind: usize, shares: &[f64]) -> bool {
        let pool = &mut self.pools[kind];
        let all: f64 = pool.pages.iter().sum::<f64>() + pool.dead;
        if all < self.per_block {
            return false;
        }
        let Some(b) = self.blocks.iter().position(|block| !block.is_closed) else { return false };
        let mut taken: Vec<f64> =
            pool.pages.iter().map(|pages| pages / all * self.per_block).collect();
        let (mut rare, mut others, mut left) = (0.0, 0.0, self.per_block * (1.0 - pool.dead / all));
        pool.dead -= pool.dead / all * self.per_block;
        for (k, take) in taken.iter_mut().enumerate() {
            if *take < RARE {
                pool.due[k] += *take;
                *take = pool.due[k].round().min(pool.pages[k]).max(0.0);
                pool.due[k] -= *take;
                rare += *take;
                left = left.max(rare);
            } else {
                others += *take;
            }
        }
        let rest = if others > 0.0 { (left - rare) / others } else { 0.0 };
        for (k, take) in taken.iter_mut().enumerate() {
            if *take >= RARE {
                *take = (*take * rest).min(pool.pages[k]);
            }
            pool.pages[k] -= *take;
        }
        let blocks = self.blocks.len();
        for (k, take) in taken.iter().enumerate() {
            for (part, share) in shares.iter().enumerate() {
                self.valid[(k * self.parts + part) * blocks + b] = take * share;
            }
        }
        self.held[b] = taken.iter().sum();
        self.blocks[b] =
            Block { is_closed: true, reads: std::mem::take(&mut pool.reads), born: self.now };
        self.closed += 1;
        self.programs[kind] += self.per_block;
        true
    }

    /// Returns the number of erases per second that the hottest pages cause. A hot page is read so
    /// often that its reads alone bring its block to the limit.
    fn of_hottest(&self, parts: &[Part]) -> Rate {
        let threshold = parts.iter().map(|part| part.share * part.reads).sum::<f64>();
        let of = |class: &Class| {
            // Returns how much of a block moves before the hot page or together with the hot page,
            // as a share of the block. The hot page is equally likely to be at each position in the
            // block.
            let before = |part: &Part| {
                parts
                    .iter()
                    .filter(|other| other.reads <= part.reads)
                    .map(|other| other.share)
                    .sum::<f64>()
            };
            let moved = if self.kind == Kind::Wordlines {
                parts.iter().map(|part| part.share * before(part)).sum()
            } else {
                1.0
            };
            class.pages * class.reads / threshold * moved
        };
        let reclaim = if parts.is_empty() { 0.0 } else { self.hottest.iter().map(of).sum() };
        Rate { reclaim, ..Rate::default() }
    }
}

/// Splits the classes into two lists. The first list has the classes that are too small for the
/// simulated share of the blocks. The second list has the other classes, with the simulated share
/// of their pages.
///
/// Small classes that the host only reads are computed separately. Small classes that the host also
/// writes are merged into one class.
fn told_apart(classes: &[Class], share: f64) -> (Vec<Class>, Vec<Class>) {
    let of_share = |class: &Class| Class { pages: class.pages * share, ..*class };
    let is_rare = |class: &&Class| share < 1.0 && class.pages * share < FEWEST_PAGES;
    let (rare, mut others): (Vec<Class>, Vec<Class>) = (
        classes.iter().filter(is_rare).copied().collect(),
        classes.iter().filter(|class| !is_rare(class)).map(of_share).collect(),
    );
    let written: Vec<Class> =
        rare.iter().filter(|class| class.writes > 0.0).map(of_share).collect();
    let pages: f64 = written.iter().map(|class| class.pages).sum();
    if pages > 0.0 {
        let mean = |of: &dyn Fn(&Class) -> f64| {
            written.iter().map(|class| class.pages * of(class)).sum::<f64>() / pages
        };
        others.push(Class {
            pages,
            reads: mean(&|class| class.reads),
            writes: mean(&|class| class.writes),
        });
    }
    (rare.into_iter().filter(|class| class.writes == 0.0).collect(), others)
}
