//! Data refresh: rewriting data because it is old. One technique a file; this file is the seam.
//!
//! A block's age is that of its oldest page, and nothing but its erase begins it anew. A technique says when it wants to look at a block of an
//! age; the drive asks it then, and rewrites the block where it says so.

mod block;
mod none;

use super::card::{Card, InSlot};
use crate::base::geometry::Geometry;
use crate::base::span::{SECOND, Span};
use crate::base::units::{BlockId, Moment, Ns, us};
use crate::config::{ConfigError, DriveConfig, ErrorLaw, Params, require};

/// What a technique wants of a block that it was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To be asked again, later than now.
    Later(Moment),
    /// The block rewritten.
    Rewrite,
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
    /// When it wants to be asked about a block whose oldest page was programmed at this time; never where none.
    fn first_look(&self, since: Moment) -> Option<Moment>;

    /// When the rewriting of such a block must be done; the drive lets nothing else go before it then.
    fn done_by(&self, since: Moment) -> Option<Moment>;

    /// A block is due.
    fn on_time(&mut self, aged: &Aged) -> Wanted;

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
pub const REFRESH: &[RefreshTechnique] = &[none::CARD, block::CARD];

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

/// The least time in which every block of the drive can be rewritten, all dies at work on nothing else.
pub fn shortest_pass(config: &DriveConfig) -> Span {
    let geometry = Geometry::new(config);
    let sense = config.timing.sense_per_kind_us(geometry.cell);
    let copy_us = sense.iter().sum::<f64>() / sense.len() as f64 + config.program_us_per_page();
    let of_block: Ns = us(copy_us) * u64::from(geometry.pages_per_block) + us(config.timing.erase_us);
    let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
    Span(of_block * u64::from(geometry.blocks.div_ceil(geometry.dies() * planes)))
}

/// Refuses a refresh that cannot keep what it promises on this drive.
///
/// # Errors
/// A sentence with the key.
pub fn check(config: &DriveConfig, refresh: &str) -> Result<(), ConfigError> {
    if refresh == NO_REFRESH {
        let (age, longest) = (config.start.age, config.error.longest_age);
        return require(config.error.model == ErrorLaw::None || age <= longest, || {
            format!("start.age = \"{age}\" is more than error.longest_age = \"{longest}\": older data is lost where nothing refreshes it")
        });
    }
    let (period, age, pass) = (config.refresh.period, config.start.age, shortest_pass(config));
    require(age <= period, || {
        format!("start.age = \"{age}\" is more than refresh.period = \"{period}\": no block of a drive that refreshes its data is so old")
    })?;
    require(period >= pass, || {
        let pass = if pass.0 > SECOND { Span(pass.0.next_multiple_of(SECOND)) } else { pass };
        format!("refresh.period = \"{period}\" is shorter than one pass of refresh takes: rewriting every block takes \"{pass}\" at least")
    })
}
