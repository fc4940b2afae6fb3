//! Data refresh: rewriting data because of its age. This file is the seam; each technique has its
//! own file.
//!
//! A block's age is that of its oldest page. The age starts again when the block is erased, or when
//! all its data is reprogrammed. A technique names the age at which it wants to check a block. At
//! that age the drive asks the technique and does what it says.

mod block;
mod ida;
mod none;

use super::card::{Card, InSlot};
use crate::base::codings::Codings;
use crate::base::geometry::Geometry;
use crate::base::page_set::kinds_in;
use crate::base::span::{SECOND, Span};
use crate::base::splitmix;
use crate::base::streams::GC;
use crate::base::units::{BlockId, Bytes, Moment, Ns, Ppn, WordlineInBlock, us};
use crate::config::{ConfigError, DriveConfig, ErrorLaw, Params, require};
use crate::slots::rewrite::{Merges, Rewrite};

/// What a technique wants of a block that it was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To be asked again, later than now.
    Later(Moment),
    /// The block rewritten, as [`Refresh::rewrite`] says.
    Rewrite,
}

/// What a technique is told of what a block holds.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// The block.
    pub block: BlockId,
    /// The drive's parts counted.
    pub geometry: &'a Geometry,
    /// Wordlines that are programmed whole.
    pub whole_wordlines: u32,
    /// Which pages are valid, a bit each.
    pub valid: &'a [u64],
    /// Coding of its cells.
    pub mode: u8,
    /// The coding of each wordline that has one of its own, 0 for others; nothing where none has.
    pub recoded: &'a [u8],
}

impl Held<'_> {
    /// Page kinds of a wordline that are valid, a bit each, LSB first.
    pub fn valid_kinds(&self, wordline: WordlineInBlock) -> u32 {
        let kinds = self.geometry.cell.bits();
        kinds_in(self.valid, wordline, kinds)
    }

    /// The codings that its cells may have.
    pub fn codings(&self) -> &Codings {
        &self.geometry.codings
    }
}

/// How wordlines are adjusted in place: with what chance each of their pages is corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjusting {
    /// Of 2^64 pages so many are corrupted.
    of_2_64: u64,
    seed: u64,
}

impl Adjusting {
    fn new(error_rate: f64, seed: u64) -> Self {
        Self { of_2_64: (error_rate * 2f64.powi(64)) as u64, seed }
    }

    /// Whether adjusting its wordline corrupts a page in a block of so many P/E cycles: the same
    /// page in the same cycle always, or never. The number of the seed that is made of both
    /// decides.
    pub(crate) fn corrupts(&self, ppn: Ppn, pec: u32) -> bool {
        splitmix::number(self.seed, u64::from(pec) << 32 | u64::from(ppn.number())) < self.of_2_64
    }
}

/// What a technique is told of a block that it is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    /// Which block it is.
    pub block: BlockId,
    /// The time.
    pub now: Moment,
    /// When the block's oldest page was programmed.
    pub since: Moment,
    /// Refresh jobs under way.
    pub under_way: u32,
}

/// A technique of this slot.
pub trait Refresh: Send {
    /// When it wants to be asked about a block whose oldest page was programmed at this time; never
    /// where none.
    fn first_look(&self, since: Moment) -> Option<Moment>;

    /// When the rewriting of such a block must be done; the drive lets nothing else go before it
    /// then.
    fn done_by(&self, since: Moment) -> Option<Moment>;

    /// A block is due.
    fn on_time(&mut self, aged: &Aged) -> Wanted;

    /// What is to be done with a block that is to be rewritten: it all moves.
    fn rewrite(&self, held: &Held) -> Rewrite {
        Rewrite::all_to(held.block, GC)
    }

    /// Which wordlines are adjusted of a block in which a job has left data, when its reclaim
    /// policy wants nothing more of it.
    fn at_reclaim(&self, _held: &Held) -> Merges {
        Merges::none()
    }

    /// Whether it looks at a block whenever GC has picked another.
    fn looks_at_gc(&self) -> bool {
        false
    }

    /// Which wordlines of such a block are adjusted, the other having so many valid pages.
    fn at_gc(&self, _held: &Held, _picked: u32) -> Merges {
        Merges::none()
    }

    /// How it adjusts wordlines in place, if it does.
    fn adjusting(&self) -> Option<Adjusting> {
        None
    }

    /// The longest that rewriting a block takes, whatever it holds, where nothing else is done: all
    /// of it moves.
    fn block_ns(&self, config: &DriveConfig, geometry: &Geometry) -> Ns {
        copies_ns(config, geometry)
    }

    /// RAM that the technique would take in a real controller, beside what every drive keeps.
    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    /// The clock is set back by so much, and with it every time that it was told.
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

/// A technique of this slot, as its card has it.
pub type RefreshTechnique = Card<dyn Refresh>;

/// Every refresh technique; one line each.
pub const REFRESH: &[RefreshTechnique] = &[none::CARD, block::CARD, ida::CARD];

/// The name of the one that does nothing.
pub const NO_REFRESH: &str = none::CARD.about.name;

/// The refresh technique of this name.
pub fn refresh_technique(name: &str) -> Option<&'static RefreshTechnique> {
    REFRESH.iter().find(|t| t.name == name)
}

/// A drive under a refresh technique, or none.
#[must_use]
pub fn drive(mut config: DriveConfig, refresh: &str) -> DriveConfig {
    config.refresh.at_work = refresh != NO_REFRESH;
    config
}

/// Time of adjusting a wordline on its die.
pub(crate) fn adjust_us(config: &DriveConfig) -> f64 {
    ida::adjust_us(config)
}

/// Reading all pages of a block and programming them elsewhere, and its erase.
fn copies_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    us(config.sense_us_per_page() + config.program_us_per_page())
        * u64::from(geometry.pages_per_block)
        + us(config.timing.longest_erase_us())
}

/// The least time in which a technique can rewrite every block of the drive, all dies at work on
/// nothing else.
pub fn shortest_pass(config: &DriveConfig, technique: &RefreshTechnique) -> Span {
    let geometry = Geometry::new(config);
    let of_block = technique.make(config, 0).block_ns(config, &geometry);
    let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
    Span(of_block * u64::from(geometry.blocks.div_ceil(geometry.dies() * planes)))
}

/// Refuses a refresh that cannot keep what it promises on this drive.
///
/// # Errors
/// A sentence with the key.
pub fn check(config: &DriveConfig, refresh: &str) -> Result<(), ConfigError> {
    let technique = refresh_technique(refresh).filter(|technique| technique.name != NO_REFRESH);
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
                "refresh technique `{refresh}` needs cells of two bits or more, and geometry.cell \
                 is \"slc\": use `block`"
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
