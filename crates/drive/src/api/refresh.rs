//! Data refresh: rewriting data because of its age. This file is the interface of the refresh
//! techniques.
//!
//! A block's age is the age of its oldest page. The age starts again at 0 when the block is erased,
//! or when all its data is reprogrammed. A technique names the time at which it wants to check a
//! block. At that time the drive asks the technique, and follows its answer.

use super::card::{Card, InSlot};
use crate::api::rewrite::{Merges, Rewrite};
use crate::base::codings::Codings;
use crate::base::geometry::Geometry;
use crate::base::page_set::kinds_in;
use crate::base::span::{SECOND, Span};
use crate::base::splitmix;
use crate::base::streams::GC;
use crate::base::units::{BlockId, Bytes, Moment, Ns, Ppn, WordlineInBlock, us};
use crate::config::{ConfigError, DriveConfig, ErrorLaw, Params, require};

/// Answer of a technique about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Request to ask again about the block at this later time.
    Later(Moment),
    /// Request to rewrite the block now. [`Refresh::rewrite`] returns the details.
    Rewrite,
}

/// Facts for a technique about the contents of a block.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// Number of the block.
    pub block: BlockId,
    /// Geometry of the drive: numbers of its dies, blocks, wordlines and pages.
    pub geometry: &'a Geometry,
    /// Number of wordlines that are programmed completely.
    pub whole_wordlines: u32,
    /// Bits that say which pages of the block are valid.
    pub valid: &'a [u64],
    /// Coding of the block's cells.
    pub mode: u8,
    /// Codings of the block's wordlines. A wordline without a coding of its own has the entry 0. If
    /// all entries would be 0, the list is empty.
    pub recoded: &'a [u8],
}

impl Held<'_> {
    /// Returns which pages of a wordline are valid. There is one bit for each page kind, and the
    /// lowest bit stands for the LSB page.
    pub fn valid_kinds(&self, wordline: WordlineInBlock) -> u32 {
        let kinds = self.geometry.cell.bits();
        kinds_in(self.valid, wordline, kinds)
    }

    /// Returns the codings that are possible for the block's cells.
    pub fn codings(&self) -> &Codings {
        &self.geometry.codings
    }
}

/// Settings for merging wordlines in place, which makes reads faster but may corrupt pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjusting {
    /// Probability that merging corrupts a page, as a multiple of 2^-64.
    of_2_64: u64,
    seed: u64,
    /// Time for which merging a wordline occupies its die.
    pub(crate) takes: Ns,
}

impl Adjusting {
    /// Creates settings for merging. `error_rate` is the probability that a page is corrupted, and
    /// the seed decides which pages are. `takes` is the time for which merging a wordline occupies
    /// its die.
    pub fn new(error_rate: f64, seed: u64, takes: Ns) -> Self {
        Self { of_2_64: (error_rate * 2f64.powi(64)) as u64, seed, takes }
    }

    /// Returns whether a page is corrupted if its wordline is merged. `pec` is the number of P/E
    /// cycles of the page's block. The answer depends only on the seed, the page and `pec`.
    pub fn corrupts(&self, ppn: Ppn, pec: u32) -> bool {
        splitmix::number(self.seed, u64::from(pec) << 32 | u64::from(ppn.number())) < self.of_2_64
    }
}

/// Facts about a block, given to a technique when it checks the block.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    /// Number of the block.
    pub block: BlockId,
    /// Current time.
    pub now: Moment,
    /// Time at which the block's oldest page was programmed.
    pub since: Moment,
    /// Number of running refresh jobs.
    pub under_way: u32,
}

/// Refresh technique.
pub trait Refresh: Send {
    /// Returns the time at which the technique wants to check a block; `None` if it never does.
    /// `since` is the program time of the block's oldest page.
    fn first_look(&self, since: Moment) -> Option<Moment>;

    /// Returns the time at which the rewrite of a block becomes urgent. From that time on, the
    /// drive does it before any other work. `since` is the program time of the block's oldest page.
    fn done_by(&self, since: Moment) -> Option<Moment>;

    /// Handles a block whose check is due, and returns the technique's request.
    fn on_time(&mut self, aged: &Aged) -> Wanted;

    /// Returns the rewrite of a block that is due for refresh. By default, all pages of the block
    /// move.
    fn rewrite(&self, held: &Held) -> Rewrite {
        Rewrite::all_to(held.block, GC)
    }

    /// Returns the wordlines to merge in a block that still holds data after a reclaim job. Merged
    /// wordlines are read faster. The reclaim policy has no further requests for the block.
    fn at_reclaim(&self, _held: &Held) -> Merges {
        Merges::none()
    }

    /// Returns whether the technique wants to check other blocks whenever GC picks a block.
    fn looks_at_gc(&self) -> bool {
        false
    }

    /// Returns the wordlines to merge in a block that GC did not pick. Merged wordlines are read
    /// faster. The block that GC picked has `picked` valid pages.
    fn at_gc(&self, _held: &Held, _picked: u32) -> Merges {
        Merges::none()
    }

    /// Returns the settings for merging wordlines; `None` if the technique does not merge
    /// wordlines.
    fn adjusting(&self) -> Option<Adjusting> {
        None
    }

    /// Returns the longest time that the rewrite of one block can take if no other work is done. By
    /// default, all pages of the block move.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        copies_ns(config, geometry)
    }

    /// Returns the RAM that the technique would need in a real controller. RAM that every drive
    /// needs is not included.
    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    /// Subtracts a time span from all times that the technique keeps. The drive calls this method
    /// when it sets its clock back by this span.
    fn set_back(&mut self, _by: Ns) {}
}

impl InSlot for dyn Refresh {
    const TABLE: &'static str = "refresh";

    fn given(config: &DriveConfig) -> &Params {
        &config.refresh.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.refresh.params
    }
}

/// Card of a refresh technique.
pub type RefreshTechnique = Card<dyn Refresh>;

/// Name of the refresh technique that never refreshes.
pub const NO_REFRESH: &str = "none";

/// Returns the configuration of a drive with a refresh technique, or without one.
#[must_use]
pub fn drive(mut config: DriveConfig, refresh: &RefreshTechnique) -> DriveConfig {
    config.refresh.at_work = refresh.name != NO_REFRESH;
    config
}

/// Returns the time to move all pages of a block to other blocks and to erase the block.
pub fn copies_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    us(config.sense_us_per_page() + config.program_us_per_page())
        * u64::from(geometry.pages_per_block)
        + us(config.timing.longest_erase_us())
}

/// Returns the shortest time in which a technique can rewrite every block of a drive that does no
/// other work.
pub fn shortest_pass(config: &DriveConfig, technique: &RefreshTechnique) -> Span {
    let geometry = Geometry::new(config);
    let of_block =
        technique.asked(config, 0).ask("block_ns", |refresh| refresh.block_ns(config, &geometry));
    let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
    Span(of_block * u64::from(geometry.blocks.div_ceil(geometry.dies() * planes)))
}

/// Refuses a refresh technique that cannot keep its guarantee on this drive.
///
/// # Errors
/// Returns a sentence that names the wrong key.
pub fn check(config: &DriveConfig, technique: &RefreshTechnique) -> Result<(), ConfigError> {
    if technique.name == NO_REFRESH {
        let (age, longest) = (config.start.age, config.error.longest_age);
        return require(config.error.model == ErrorLaw::None || age <= longest, || {
            format!(
                "start.age = \"{age}\" must be at most error.longest_age = \"{longest}\": without \
                 refresh, older data is lost"
            )
        });
    }
    technique.check(config)?;
    require(
        config.geometry.cell.bits() > 1
            || technique.asked(config, 0).ask("adjusting", |refresh| refresh.adjusting()).is_none(),
        || {
            format!(
                "refresh technique `{technique}` needs cells of two bits or more, but \
                 geometry.cell is \"slc\": use `block`"
            )
        },
    )?;
    let (period, age, pass) =
        (config.refresh.period, config.start.age, shortest_pass(config, technique));
    require(age <= period, || {
        format!(
            "start.age = \"{age}\" must be at most refresh.period = \"{period}\": refresh rewrites \
             data before the data is older than this period"
        )
    })?;
    require(period >= pass, || {
        let pass = if pass.0 > SECOND { Span(pass.0.next_multiple_of(SECOND)) } else { pass };
        format!(
            "refresh.period = \"{period}\" must be at least \"{pass}\", the time to rewrite every \
             block once"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_corrupted_pages_is_the_error_rate() {
        for rate in [0.0, 0.2, 0.8, 1.0] {
            let adjusting = Adjusting::new(rate, 5, 0);
            let corrupted =
                Ppn::range(0..100_000).filter(|ppn| adjusting.corrupts(*ppn, 3)).count();
            assert!(corrupted.abs_diff((rate * 1e5) as usize) < 500, "{rate}: {corrupted}");
        }
        let of = |seed, pec| {
            (0..64)
                .map(|n| u64::from(Adjusting::new(0.5, seed, 0).corrupts(Ppn::new(n), pec)) << n)
                .sum::<u64>()
        };
        assert!(of(1, 0) != of(2, 0) && of(1, 0) != of(1, 1) && of(1, 1) == of(1, 1));
    }
}
