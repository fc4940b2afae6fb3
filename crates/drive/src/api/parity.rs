//! Parity inside the drive: parity pages from which lost pages are rebuilt. This file is the
//! interface of the parity techniques.
//!
//! A technique decides how many host pages share a parity page, and how and when that parity page
//! is updated. The drive reads and programs the pages (`drive/striped.rs`, `drive/delayed.rs`). The
//! drive also keeps partial parity (`ftl/partial.rs`) and rebuilds pages (`ftl/rebuild.rs`).

use std::cmp::Ordering;

use super::card::{Card, InSlot, Kind, Param};
use super::reclaim::Technique;
use crate::base::geometry::Geometry;
use crate::base::phrase::Opt;
use crate::base::search::largest;
use crate::base::streams::{FIRST_OWN, RESERVE};
use crate::base::stripes::Stripes;
use crate::base::units::Bytes;
use crate::config::{ByWear, ConfigError, DriveConfig, KindUs, Params, ProgramUnit, require};
use crate::error::bch;
use crate::phrase;

/// Equation by which the new parity of a changed stripe is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// Computes the parity from the old parity, and from the old and new data of the pages that
    /// change (da-raid5-2013, equation 1).
    Modify,
    /// Computes the parity from all new data of the stripe (equation 2).
    Whole,
}

impl Equation {
    /// Returns the other equation. The drive uses it if a page that this equation needs cannot be
    /// read.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Modify => Self::Whole,
            Self::Whole => Self::Modify,
        }
    }
}

/// Facts for a technique about a stripe with pages that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Number of pages to read for [`Equation::Modify`]. They are the old parity page, and the old
    /// versions of changing pages that are not in memory.
    pub to_modify: u32,
    /// Number of pages to read for [`Equation::Whole`]. They are the pages of the stripe that do
    /// not change.
    pub to_do_whole: u32,
}

impl Change {
    /// Returns the equation that needs fewer reads, or `tied` if both equations need equally many.
    pub fn cheaper(&self, tied: Equation) -> Equation {
        match self.to_modify.cmp(&self.to_do_whole) {
            Ordering::Less => Equation::Modify,
            Ordering::Equal => tied,
            Ordering::Greater => Equation::Whole,
        }
    }
}

/// Facts for a technique about a partial parity with pages that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covering {
    /// Number of pages that change.
    pub changing: u32,
    /// Number of pages that change, are covered by the partial parity, and are stored on flash.
    pub covered_changing: u32,
    /// Number of pages that do not change, are covered by the partial parity, and are stored on
    /// flash.
    pub covered_staying: u32,
}

/// Way to update a partial parity when some pages of its stripe change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Reads the old versions of the changing pages, and replaces them by the new versions in the
    /// partial parity.
    TakeOut,
    /// Computes the partial parity again from the changing pages and all other covered pages. The
    /// drive reads these other pages.
    Gather,
    /// Computes the partial parity from the changing pages alone. The other pages that it covered
    /// are without parity until the stripe is committed.
    Expose,
}

impl Renewal {
    /// Returns another way to update a partial parity. The drive uses that way if it cannot read a
    /// page that this way needs.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::TakeOut | Self::Expose => Self::Gather,
            Self::Gather => Self::TakeOut,
        }
    }
}

/// Parity technique.
pub trait Parity: Send {
    /// Returns the equation by which the parity of a changed stripe is computed. The drive calls
    /// this method only if parity is not delayed.
    fn equation(&self, change: &Change) -> Equation;

    /// Returns the number of partial-parity pages that fit into the controller's cache. The number
    /// is 0 if parity is programmed with each write.
    fn cache_pages(&self) -> u32 {
        0
    }

    /// Returns the way to update a partial parity.
    fn renewal(&self, _covering: &Covering) -> Renewal {
        Renewal::TakeOut
    }

    /// Returns the largest number of pages of a request that goes through the write buffer. Longer
    /// requests go straight to flash with their parity. With `Some`, the buffer also keeps the
    /// pages of a stripe together, and the stripe written longest ago leaves first.
    fn longest_cached(&self) -> Option<u32> {
        None
    }

    /// Returns the settings for parity that depends on wear; `None` if all stripes have parity.
    fn by_wear(&self) -> Option<ByWear> {
        None
    }

    /// Returns the RAM that the technique would need in a real controller. The map of the host's
    /// pages is not included.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes;
}

impl InSlot for dyn Parity {
    const TABLE: &'static str = "parity";

    fn given(config: &DriveConfig) -> &Params {
        &config.parity.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.parity.params
    }
}

/// Card of a parity technique.
pub type ParityTechnique = Card<dyn Parity>;

/// Name of the technique without parity.
pub const NO_PARITY: &str = "none";

/// Number of host pages in a stripe.
pub const STRIPE: Param = Param {
    key: "stripe",
    kind: Kind::Whole,
    unit: "pages",
    default: 8.0,
    range: (2.0, 64.0),
    draw: &[2.0, 3.0],
    meaning: "number of host pages per parity page; each host page is on a different die",
    source: "da-raid5-2013 IV-A: N = 8",
    alias: Some("stripe"),
};

/// Number of pages of failed flash that are rebuilt per host request. Other pages are rebuilt in
/// idle time.
pub const REBUILD: Param = Param {
    key: "rebuild",
    kind: Kind::Real,
    unit: "pages/request",
    default: 1.0,
    range: (0.0, 1024.0),
    draw: &[0.0, 0.3, 1.0, 4.0],
    meaning: "how many lost pages the drive rebuilds per host request; it rebuilds more pages in \
        idle time",
    source: "assumption: each request leaves time to read one more stripe",
    alias: Some("rebuild"),
};

/// Returns whether a technique groups pages in stripes in which each page has a fixed die.
pub fn has_stripes(parity: &ParityTechnique) -> bool {
    parity.has(&STRIPE)
}

/// Returns the configuration of a drive with a parity technique, or without one.
#[must_use]
pub fn drive(mut config: DriveConfig, parity: &ParityTechnique) -> DriveConfig {
    let technique = Some(parity).filter(|parity| has_stripes(parity));
    program_by_page(&mut config, technique.is_some());
    config.parity.stripe = technique.map(|technique| technique.args(&config).whole(&STRIPE));
    let made = technique.map(|technique| technique.asked(&config, 0));
    let by_wear = made.as_ref().and_then(|made| made.ask("by_wear", |parity| parity.by_wear()));
    config.parity.is_always_there = by_wear.is_none()
        && made.is_some_and(|made| made.ask("cache_pages", |parity| parity.cache_pages()) == 0);
    config.parity.by_wear = by_wear;
    bch::follow_parity(&mut config);
    config
}

/// Lets dies program single pages instead of whole wordlines if the drive has stripes. If the drive
/// has none, such a change is undone. Programming a page then takes a page's share of the
/// wordline's time. Inference: the die keeps the published program rate
/// (`presets/drives/modern-tlc.toml`, `timing.program_us`).
fn program_by_page(config: &mut DriveConfig, has_stripes: bool) {
    if let Some(of_file) = config.parity.wordline_program.take() {
        (config.timing.program_unit, config.timing.program_us) = (ProgramUnit::Wordline, of_file);
    }
    if has_stripes && config.timing.program_unit == ProgramUnit::Wordline {
        let share = KindUs::All(config.program_us_per_page());
        config.timing.program_unit = ProgramUnit::Page;
        config.parity.wordline_program =
            Some(std::mem::replace(&mut config.timing.program_us, share));
    }
}

/// Returns the number of spare blocks that each die of a drive with stripes needs. They are for the
/// GC reserve and for open blocks, including those of the reclaim technique's own streams. `config`
/// must come from [`drive`]. The result is 0 without stripes.
pub fn spare_needed(config: &DriveConfig, reclaim: &Technique) -> u32 {
    let own = own_streams(config, reclaim);
    let streams = u32::from(FIRST_OWN) + own + u32::from(config.parity.by_wear.is_some());
    config.parity.stripe.map_or(0, |_| streams + RESERVE)
}

fn own_streams(config: &DriveConfig, reclaim: &Technique) -> u32 {
    reclaim.asked(config, 0).ask("streams", |policy| policy.streams().len() as u32)
}

/// Refuses a parity technique that a drive cannot support, or for which the reclaim technique
/// leaves too little space. `config` must come from [`drive`].
///
/// # Errors
/// Returns a sentence that names the wrong key.
pub fn check(
    config: &DriveConfig,
    parity: &ParityTechnique,
    reclaim: &Technique,
) -> Result<(), ConfigError> {
    goes_with(config, parity)?;
    lack_of_room(config, parity, reclaim).map_or(Ok(()), |lack| {
        Err(ConfigError::new(format!(
            "{lack}: {}",
            right_capacity(config, most_pages(config, reclaim), "")
        )))
    })
}

/// Refuses a parity technique that a drive cannot support, even with enough space.
///
/// # Errors
/// Returns a sentence that names the wrong key.
pub fn goes_with(config: &DriveConfig, parity: &ParityTechnique) -> Result<(), ConfigError> {
    let Some(members) = config.parity.stripe else { return parity.check(config) };
    let dies = config.geometry.channels * config.geometry.dies_per_channel;
    require(members < dies, || {
        let (shortest, more) =
            (STRIPE.range.0 as u32, "use more dies (geometry.channels, geometry.dies_per_channel)");
        let right = if dies > shortest {
            format!("set parity.stripe={} or less, or {more}", dies - 1)
        } else {
            format!(
                "the shortest stripe, parity.stripe={shortest}, needs {} dies; {more}",
                shortest + 1
            )
        };
        format!(
            "parity.stripe = {members} needs {} dies, including one die for the parity page, but \
             the drive has {dies}: {right}",
            members + 1
        )
    })?;
    parity.check(config)?;
    if config.hints.is_default() {
        return Ok(());
    }
    Err(ConfigError::new(phrase![
        "parity technique `{parity}` does not support hints: remove [hints] and ",
        Opt::Hints
    ]))
}

/// Returns a text that says why a drive has too little space for parity and a reclaim technique;
/// `None` if the space suffices. The text is a sentence without its end.
pub fn lack_of_room(
    config: &DriveConfig,
    parity: &ParityTechnique,
    reclaim: &Technique,
) -> Option<String> {
    config.parity.stripe?;
    let (spare, needed) =
        (Geometry::new(config).spare_blocks_of_domain(), spare_needed(config, reclaim));
    (spare < needed).then(|| {
        let own = own_streams(config, reclaim);
        let apart = if own > 0 {
            format!(" (also for the {own} kinds of data that `{}` separates)", reclaim.name)
        } else {
            String::new()
        };
        format!(
            "parity technique `{parity}` leaves {spare} spare blocks on each die, but a die needs \
             {needed} for its open blocks{apart} and its GC reserve"
        )
    })
}

/// Returns the largest number of host pages with which flash has enough space for parity and a
/// reclaim technique. The result is at most the drive's present number.
pub fn most_pages(config: &DriveConfig, reclaim: &Technique) -> u32 {
    let (geometry, g) = (Geometry::new(config), &config.geometry);
    let Some(members) = config.parity.stripe else { return geometry.host_pages };
    let (dies, needed) = (g.channels * g.dies_per_channel, spare_needed(config, reclaim));
    let fits = |pages: u32| {
        let used = Stripes::new(members, dies, pages).most_on_a_die().div_ceil(g.pages_per_block());
        geometry.blocks_per_domain() >= used + needed
    };
    largest(0, geometry.host_pages, &fits).unwrap_or(0)
}

/// Returns advice for the user on how to configure a drive with this number of host pages.
/// `for_whom` is a phrase such as " for all 4 rows", or empty.
pub fn right_capacity(config: &DriveConfig, pages: u32, for_whom: &str) -> String {
    if pages == 0 {
        return "more blocks are needed: increase geometry.blocks_per_plane".into();
    }
    let (bytes, blocks) = (
        u64::from(pages) * config.geometry.page_size.0,
        config.geometry.blocks_per_plane.unwrap_or(0),
    );
    format!(
        "the largest capacity that fits on this flash{for_whom} is drive.capacity={bytes} with \
         geometry.blocks_per_plane={blocks}; set both keys, and remove drive.spare"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CACHED, NO_STRIPES, STRIPED};

    const DRIVE: &str = r#"
        geometry = { channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 4, cell = "tlc", page_size = 512 }
        drive = { spare = 0.5 }
        parity = { stripe = 3 }
    "#;

    fn of(unit: &str, program_us: u32) -> DriveConfig {
        let timing = format!(
            "timing = {{ sense_us = 1, program_unit = \"{unit}\", program_us = {program_us}, \
             erase_us = 1, channel_mb_s = 1 }}"
        );
        toml::from_str::<DriveConfig>(&format!("{DRIVE}\n{timing}")).unwrap().resolve().unwrap()
    }

    /// A wordline of three pages takes 300 us to program, so a page takes 100 us.
    #[test]
    fn stripes_are_programmed_page_by_page_and_a_die_keeps_its_rate() {
        let (wordlines, pages) = (of("wordline", 300), of("page", 100));
        let under = drive(wordlines.clone(), &STRIPED);
        assert_eq!(under.timing, pages.timing);
        assert_eq!(under.parity.wordline_program_us(), Some(300.0));
        assert!(goes_with(&under, &STRIPED).is_ok());
        // Another technique starts again from the timing of the drive file.
        assert_eq!(drive(under.clone(), &CACHED).timing, pages.timing);
        assert_eq!(drive(under, &NO_STRIPES), wordlines);
        let by_page = drive(pages.clone(), &STRIPED);
        assert_eq!((&by_page.timing, by_page.parity.wordline_program), (&pages.timing, None));
    }
}
