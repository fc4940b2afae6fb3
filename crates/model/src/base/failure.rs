//! Failures that a run injects: what fails, and when. Examples: `die:3@10s`, `block:17@r5000`.

use std::fmt;
use std::str::FromStr;

use crate::base::geometry::Geometry;
use crate::base::span::Span;
use crate::base::units::{BlockId, Ns, Ppn};

/// Part of the drive that fails. Numbers count over the whole drive: planes die by die, blocks
/// plane by plane, and pages block by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole die.
    Die(u32),
    /// Plane of a die.
    Plane(u32),
    /// Block.
    Block(u32),
    /// Page. Its block is retired after the block's other pages have moved.
    Page(u32),
}

/// Moment of a failure, counted from the beginning of the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Time in ns.
    At(Ns),
    /// Number of the request before which the failure happens, from 0.
    Request(u64),
}

/// Injected failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Part that fails.
    pub unit: Unit,
    /// Moment of the failure.
    pub when: When,
}

/// Consecutive flash pages that fail together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    first: Ppn,
    count: u32,
}

impl Stretch {
    /// Returns whether a page fails.
    #[inline]
    pub fn contains(&self, ppn: Ppn) -> bool {
        ppn >= self.first && ppn - self.first < self.count
    }

    /// Returns the pages in order.
    pub fn pages(&self) -> impl Iterator<Item = Ppn> + use<> {
        self.first.run(self.count)
    }

    /// Returns the blocks of the pages.
    pub fn blocks(&self, geometry: &Geometry) -> impl Iterator<Item = BlockId> + use<> {
        let last = self.first + (self.count - 1);
        BlockId::range(geometry.block_of(self.first).number()..geometry.block_of(last).number() + 1)
    }

    /// Returns whether all pages of the block that begins with this page fail.
    pub fn covers(&self, first_page: Ppn, pages_per_block: u32) -> bool {
        self.contains(first_page) && self.contains(first_page + (pages_per_block - 1))
    }
}

impl Unit {
    /// Returns the kind of the part, its number, and the number of such parts in the drive.
    fn of(self, geometry: &Geometry) -> (&'static str, u32, u32) {
        let planes = geometry.dies() * geometry.planes_per_die;
        match self {
            Self::Die(n) => ("die", n, geometry.dies()),
            Self::Plane(n) => ("plane", n, planes),
            Self::Block(n) => ("block", n, geometry.blocks),
            Self::Page(n) => ("page", n, geometry.raw_pages()),
        }
    }

    /// Returns the flash pages of the part.
    pub fn pages(self, geometry: &Geometry) -> Stretch {
        let (_, number, count) = self.of(geometry);
        let each = geometry.raw_pages() / count;
        Stretch { first: Ppn::new(number * each), count: each }
    }

    /// Refuses a part that the drive does not have.
    ///
    /// # Errors
    /// Reports the number of such parts in the drive.
    pub fn check(self, geometry: &Geometry) -> Result<(), String> {
        let (kind, number, count) = self.of(geometry);
        if number < count {
            return Ok(());
        }
        Err(format!(
            "{kind} {number} does not exist: the drive has {count} {kind}s, numbered 0 to {}",
            count - 1
        ))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Die(n) => write!(f, "die:{n}"),
            Self::Plane(n) => write!(f, "plane:{n}"),
            Self::Block(n) => write!(f, "block:{n}"),
            Self::Page(n) => write!(f, "page:{n}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.when {
            When::At(0) => write!(f, "{}@0s", self.unit),
            When::At(at) => write!(f, "{}@{}", self.unit, Span(at)),
            When::Request(number) => write!(f, "{}@r{number}", self.unit),
        }
    }
}

impl FromStr for Failure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "`{text}`: the unit that fails (die, plane, block or page) and the time are \
                 expected, for example die:3@10s, or die:3@r5000 for request 5,000"
            )
        };
        let (unit, when) = text.trim().split_once('@').ok_or_else(expected)?;
        if when.trim_start_matches('r').starts_with('-') {
            return Err(format!(
                "`{text}`: the time or the request number must not be negative. Times and request \
                 numbers count from the start of the measured phase, because nothing fails during \
                 fill and warm-up"
            ));
        }
        let (kind, number) = unit.split_once(':').ok_or_else(expected)?;
        let number = number.parse().map_err(|_| expected())?;
        let unit = match kind {
            "die" => Unit::Die(number),
            "plane" => Unit::Plane(number),
            "block" => Unit::Block(number),
            "page" => Unit::Page(number),
            _ => return Err(expected()),
        };
        let when = match when.strip_prefix('r') {
            Some(request) => When::Request(request.parse().map_err(|_| expected())?),
            None if when == "0" => When::At(0),
            None => When::At(Span::parse(when).map_err(|_| expected())?.0),
        };
        Ok(Self { unit, when })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["die:3@r5000", "plane:0@10s", "block:17@r0", "page:99@2h", "die:3@0s"] {
            assert_eq!(text.parse::<Failure>().unwrap().to_string(), text);
        }
    }

    /// The drive has two dies of two planes of eight blocks of four pages.
    #[test]
    fn units_are_numbered_over_the_whole_drive() {
        let config: crate::config::DriveConfig = toml::from_str(
            "geometry = { channels = 1, dies_per_channel = 2, planes_per_die = 2, blocks_per_plane = 8, wordlines_per_block = 4, cell = \"slc\", \
             page_size = \"4KiB\" }\ntiming = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }\ndrive = { spare = 0.5 }\ndisturb = { model = \"none\" }",
        )
        .unwrap();
        let geometry = Geometry::new(&config.resolve().unwrap());
        let first_and_last = |unit: Unit| {
            let pages: Vec<u32> = unit.pages(&geometry).pages().map(Ppn::number).collect();
            (pages[0], pages[pages.len() - 1])
        };
        assert_eq!(first_and_last(Unit::Die(1)), (64, 127));
        assert_eq!(first_and_last(Unit::Plane(3)), (96, 127));
        assert_eq!(first_and_last(Unit::Block(17)), (68, 71));
        assert_eq!(first_and_last(Unit::Page(5)), (5, 5));
        for block in Unit::Plane(3).pages(&geometry).blocks(&geometry) {
            assert_eq!((geometry.die_of(block), geometry.plane_of(block)), (1, 1));
        }
        let last = [Unit::Die(1), Unit::Plane(3), Unit::Block(31), Unit::Page(127)];
        assert!(last.iter().all(|unit| unit.check(&geometry).is_ok()));
        let said = Unit::Plane(4).check(&geometry).unwrap_err();
        assert_eq!(said, "plane 4 does not exist: the drive has 4 planes, numbered 0 to 3");
    }
}
