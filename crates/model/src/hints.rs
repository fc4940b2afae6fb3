//! Hints: the latency that a host accepts for reads of its data, and their use in a drive.
//!
//! ```text
//! hint           budget              retries              limit
//! "idle"    ->   hints.idle_us  ->   as many as fit   ->  dose from which a page needs more retries
//! ```
//!
//! A reclaim technique does not use hints directly: it uses the limits of a block at the block's
//! budget ([`crate::disturb::told::Limits`]).

mod budgets;
mod ranges;

pub use budgets::{Budget, Budgets};
pub use ranges::{HintRange, Hinted, first_contradiction};

use crate::base::latency::AccessLatency;
use crate::config::{ConfigError, DriveConfig, require};

/// Refuses hints that this drive cannot follow.
///
/// # Errors
/// Returns what is wrong, and what would be right.
pub fn check(config: &DriveConfig) -> Result<(), ConfigError> {
    let Some(said) = &config.hints.said else { return Ok(()) };
    let budgets = Budgets::of(config)?;
    require(budgets.is_some(), || {
        "hints need a drive with read retries: set [error] and [ecc], with more than one level"
            .into()
    })?;
    let capacity = config.drive.capacity.map_or(0, |capacity| capacity.0);
    let beyond = said.iter().find(|range| range.end().is_none_or(|end| end > capacity));
    require(beyond.is_none(), || {
        let HintRange { offset, bytes, .. } = beyond.expect("just found");
        format!(
            "a hint covers {bytes} from offset {offset} on, but the drive ends at {capacity} \
             bytes"
        )
    })
}

/// Returns the hints of a resolved drive's data, the strictest first. Data without hints has the
/// strictest.
pub fn in_use(config: &DriveConfig) -> Vec<AccessLatency> {
    hinted(config).map_or_else(|| vec![AccessLatency::default()], |hinted| hinted.in_use())
}

/// Returns the hint of each page of a resolved drive; `None` if the host gives no hints.
pub fn hinted(config: &DriveConfig) -> Option<Hinted> {
    let (page, capacity) =
        (config.geometry.page_size.0, config.drive.capacity.map_or(0, |capacity| capacity.0));
    config.hints.said.as_ref().map(|said| Hinted::new(said, page, (capacity / page) as u32))
}
