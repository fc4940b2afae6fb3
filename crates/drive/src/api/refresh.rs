//! Data refresh: rewriting data because of its age. This file is the interface.
//!
//! A block's age is the age of its oldest page. The age starts again when the block is erased, or
//! when all its data is reprogrammed. A technique names the age at which it wants to check a block.
//! At that age the drive asks the technique and follows its answer.

mod checked;

use checked::Checked;

use super::brought::List;
use super::card::{Card, InSlot};
use super::choice::Choice;
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
    /// Request to ask again, at a later time.
    Later(Moment),
    /// Request to rewrite the block as [`Refresh::rewrite`] says.
    Rewrite,
}

/// Facts about the contents of a block, for a technique.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// Number of the block.
    pub block: BlockId,
    /// Numbers of the drive's parts.
    pub geometry: &'a Geometry,
    /// Number of wordlines that are programmed completely.
    pub whole_wordlines: u32,
    /// Valid pages, one bit each.
    pub valid: &'a [u64],
    /// Coding of the block's cells.
    pub mode: u8,
    /// Codings of wordlines that have their own, 0 for others; empty if there are none.
    pub recoded: &'a [u8],
}

impl Held<'_> {
    /// Returns the page kinds of a wordline that are valid, one bit each, LSB first.
    pub fn valid_kinds(&self, wordline: WordlineInBlock) -> u32 {
        let kinds = self.geometry.cell.bits();
        kinds_in(self.valid, wordline, kinds)
    }

    /// Returns the codings that the block's cells may have.
    pub fn codings(&self) -> &Codings {
        &self.geometry.codings
    }
}

/// Merging of wordlines in place for faster reads: the probability that a page is corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjusting {
    /// Number of corrupted pages among 2^64 pages.
    of_2_64: u64,
    seed: u64,
    /// Time to merge a wordline on its die.
    pub(crate) takes: Ns,
}

impl Adjusting {
    /// Returns merging that corrupts a page with this probability. The seed decides which pages.
    /// Merging a wordline takes its die this time.
    pub fn new(error_rate: f64, seed: u64, takes: Ns) -> Self {
        Self { of_2_64: (error_rate * 2f64.powi(64)) as u64, seed, takes }
    }

    /// Returns whether merging its wordline corrupts a page in a block with this number of P/E
    /// cycles. A page in one cycle is always corrupted, or never. A number from the seed, the page
    /// and the cycle decides.
    pub(crate) fn corrupts(&self, ppn: Ppn, pec: u32) -> bool {
        splitmix::number(self.seed, u64::from(pec) << 32 | u64::from(ppn.number())) < self.of_2_64
    }
}

/// Facts about a block, for a technique that is asked about it.
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

/// Technique of this slot.
pub trait Refresh: Send {
    /// Returns the time at which the technique wants to be asked about a block. `since` is the
    /// program time of the block's oldest page. Returns `None` for never.
    fn first_look(&self, since: Moment) -> Option<Moment>;

    /// Returns the time by which a block must be rewritten if its oldest page was programmed at
    /// `since`. At that time, the drive does this before any other work.
    fn done_by(&self, since: Moment) -> Option<Moment>;

    /// Handles a block that is due.
    fn on_time(&mut self, aged: &Aged) -> Wanted;

    /// Returns the rewrite of a block that is due. By default, all of it moves.
    fn rewrite(&self, held: &Held) -> Rewrite {
        Rewrite::all_to(held.block, GC)
    }

    /// Returns the wordlines to merge for faster reads in a block in which a job has left data. Its
    /// reclaim policy wants nothing more from the block.
    fn at_reclaim(&self, _held: &Held) -> Merges {
        Merges::none()
    }

    /// Returns whether the technique checks a block whenever GC has picked another block.
    fn looks_at_gc(&self) -> bool {
        false
    }

    /// Returns the wordlines to merge for faster reads in a block when GC has picked another block.
    /// The picked block has `picked` valid pages.
    fn at_gc(&self, _held: &Held, _picked: u32) -> Merges {
        Merges::none()
    }

    /// Returns the technique's settings for merging wordlines for faster reads; `None` if it does
    /// not merge.
    fn adjusting(&self) -> Option<Adjusting> {
        None
    }

    /// Returns the longest time to rewrite a block with any contents if no other work is done. By
    /// default, all of it moves.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        copies_ns(config, geometry)
    }

    /// Returns the RAM that the technique would need in a real controller, in addition to that of
    /// every drive.
    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    /// Sets the clock back by this time, and with it all times that the technique was given.
    fn set_back(&mut self, _by: Ns) {}
}

impl InSlot for dyn Refresh {
    const TABLE: &'static str = "refresh";

    fn listed() -> &'static List<Self> {
        &REFRESH
    }

    fn checked(technique: Box<Self>, name: &'static str) -> Box<Self> {
        Box::new(Checked { technique, name })
    }

    fn given(config: &DriveConfig) -> &Params {
        &config.refresh.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.refresh.params
    }
}

/// Technique of this slot, as its card describes it.
pub type RefreshTechnique = Card<dyn Refresh>;

/// Refresh techniques that the program brings.
pub static REFRESH: List<dyn Refresh> = List(|brought| brought.refresh);

/// Name of the technique that does nothing.
pub const NO_REFRESH: &str = "none";

/// Returns the refresh technique of this name.
pub fn refresh_technique(name: &str) -> Option<&'static RefreshTechnique> {
    REFRESH.named(name)
}

/// Returns a drive under a refresh technique, or under none.
#[must_use]
pub fn drive(mut config: DriveConfig, refresh: impl Into<Choice<dyn Refresh>>) -> DriveConfig {
    config.refresh.at_work = refresh.into().name() != NO_REFRESH;
    config
}

/// Returns the time to read all pages of a block and program them elsewhere, with its erase.
pub fn copies_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    us(config.sense_us_per_page() + config.program_us_per_page())
        * u64::from(geometry.pages_per_block)
        + us(config.timing.longest_erase_us())
}

/// Returns the shortest time in which a technique can rewrite every block of the drive, if all dies
/// do no other work.
pub fn shortest_pass(config: &DriveConfig, technique: &RefreshTechnique) -> Span {
    let geometry = Geometry::new(config);
    let of_block = technique.make(config, 0).block_ns(config, &geometry);
    let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
    Span(of_block * u64::from(geometry.blocks.div_ceil(geometry.dies() * planes)))
}

/// Refuses a refresh that cannot keep its guarantee on this drive.
///
/// # Errors
/// Returns a sentence with the key.
pub fn check(
    config: &DriveConfig,
    refresh: impl Into<Choice<dyn Refresh>>,
) -> Result<(), ConfigError> {
    let technique = refresh.into().card().filter(|technique| technique.name != NO_REFRESH);
    let Some(technique) = technique else {
        let (age, longest) = (config.start.age, config.error.longest_age);
        return require(config.error.model == ErrorLaw::None || age <= longest, || {
            format!(
                "start.age = \"{age}\" must be at most error.longest_age = \"{longest}\": without \
                 refresh, older data is lost"
            )
        });
    };
    require(
        config.geometry.cell.bits() > 1 || technique.make(config, 0).adjusting().is_none(),
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
             data before it is older"
        )
    })?;
    require(period >= pass, || {
        let pass = if pass.0 > SECOND { Span(pass.0.next_multiple_of(SECOND)) } else { pass };
        format!(
            "refresh.period = \"{period}\" must be at least \"{pass}\", the time of rewriting \
             every block once"
        )
    })
}
