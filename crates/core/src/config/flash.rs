//! `[geometry]` and `[timing]`: what the flash is and how long it takes.

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_ascending, require_range};
use crate::base::units::Bytes;

/// Bits per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellType {
    /// One bit: LSB.
    Slc,
    /// Two: LSB, MSB.
    Mlc,
    /// Three: LSB, CSB, MSB, read with 1, 2 and 4 sensings.
    Tlc,
    /// The same in the code of today's drives, read with 2, 3 and 2 sensings.
    #[serde(rename = "tlc-2-3-2")]
    Tlc232,
    /// Four: LSB, CSB, MSB, TSB.
    Qlc,
}

impl CellType {
    /// Pages that share a wordline's cells.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc | Self::Tlc232 => 3,
            Self::Qlc => 4,
        }
    }

    /// The field's names of the page kinds, in program order.
    pub const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Slc => &["LSB"],
            Self::Mlc => &["LSB", "MSB"],
            Self::Tlc | Self::Tlc232 => &["LSB", "CSB", "MSB"],
            Self::Qlc => &["LSB", "CSB", "MSB", "TSB"],
        }
    }
}

/// `[geometry]`: counts of parts, largest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels of the controller.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes in each die.
    pub planes_per_die: u32,
    /// Blocks in each plane; follows from `drive.capacity` and `drive.spare` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_per_plane: Option<u32>,
    /// Wordlines in each block.
    pub wordlines_per_block: u32,
    /// "slc" to "qlc", with 1, 2, 4 and 8 sensings a page kind; "tlc-2-3-2" for the code of today's
    /// TLC.
    pub cell: CellType,
    /// Data bytes of a page. The page is also the mapping unit: a smaller write reads and programs
    /// all of it.
    pub page_size: Bytes,
    /// Distance, in wordline numbers, between physical neighbours (strings per layer where
    /// wordlines count strings first).
    #[serde(default = "one")]
    pub neighbour_stride: u32,
    /// Wordlines in a row that share a layer, and with it their strength against reads.
    #[serde(default = "one")]
    pub strings_per_layer: u32,
}

fn one() -> u32 {
    1
}

impl GeometryConfig {
    /// Pages in a block.
    pub fn pages_per_block(&self) -> u32 {
        self.wordlines_per_block * self.cell.bits()
    }

    /// Planes in the drive.
    pub fn planes(&self) -> u32 {
        self.channels * self.dies_per_channel * self.planes_per_die
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, value, max) in [
            ("channels", self.channels, 256),
            ("dies_per_channel", self.dies_per_channel, 256),
            ("planes_per_die", self.planes_per_die, 64),
            ("wordlines_per_block", self.wordlines_per_block, 16_383),
            ("neighbour_stride", self.neighbour_stride, 1_024),
            ("strings_per_layer", self.strings_per_layer, 1_024),
        ] {
            require((1..=max).contains(&value), || {
                format!("geometry.{key} = {value} is outside 1 to {max}")
            })?;
        }
        // Two pending events a plane at most: the event tree holds 8192.
        require(self.planes() <= 4096, || {
            format!("geometry: {} planes; at most 4096 are supported", self.planes())
        })?;
        require(self.channels * self.dies_per_channel <= 1024, || {
            format!(
                "geometry: {} dies; at most 1024 are supported",
                self.channels * self.dies_per_channel
            )
        })?;
        if let Some(blocks) = self.blocks_per_plane {
            require((1..=1 << 24).contains(&blocks), || {
                format!("geometry.blocks_per_plane = {blocks} is outside 1 to 16777216")
            })?;
        }
        let size = self.page_size.0;
        require(size.is_power_of_two() && (512..=1 << 20).contains(&size), || {
            format!(
                "geometry.page_size = \"{}\" is not a power of two between 512B and 1MiB",
                self.page_size
            )
        })
    }
}

/// A time in microseconds: one number for every page kind, or one per kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KindUs {
    /// The same for every page kind.
    All(f64),
    /// LSB first.
    PerKind(Vec<f64>),
}

impl KindUs {
    /// The time of each page kind.
    pub fn per_kind(&self, cell: CellType) -> Vec<f64> {
        match self {
            Self::All(us) => vec![*us; cell.bits() as usize],
            Self::PerKind(us) => us.clone(),
        }
    }

    /// The mean over the page kinds.
    pub fn mean(&self) -> f64 {
        match self {
            Self::All(us) => *us,
            Self::PerKind(us) => us.iter().sum::<f64>() / us.len() as f64,
        }
    }

    /// That of the slowest page kind.
    pub fn longest(&self) -> f64 {
        match self {
            Self::All(us) => *us,
            Self::PerKind(us) => us.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// What an erase takes from a P/E count on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseAtPec {
    /// P/E cycles that the block has endured when the erase begins.
    pub pec: u32,
    /// Erase time from then on.
    pub us: f64,
}

/// What one program takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramUnit {
    /// A page: the page kinds of a wordline are programmed one after another.
    #[default]
    Page,
    /// All pages of a wordline at once.
    Wordline,
}

/// `[timing]`, in microseconds and 10^6 bytes per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Sensing time of a page read (tR).
    pub sense_us: KindUs,
    /// "page" or "wordline": what one program takes. Pages wait in the controller's memory until
    /// their wordline is complete.
    #[serde(default)]
    pub program_unit: ProgramUnit,
    /// Program time of a page, or of a wordline (tPROG); a list gives each page kind its own, LSB
    /// first.
    pub program_us: KindUs,
    /// Time without a request after which incomplete wordlines are padded and programmed; 0 lets
    /// them wait.
    #[serde(default = "default_pad_after_us")]
    pub pad_after_us: f64,
    /// Erase time of a block (tBERS).
    pub erase_us: f64,
    /// Erase times of worn blocks, in the place of `erase_us` from each row's P/E count on,
    /// ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erase_by_pec: Vec<EraseAtPec>,
    /// Rate of one channel; 0 is infinitely fast.
    pub channel_mb_s: f64,
    /// Rate of the host link, per direction; 0 is infinitely fast.
    #[serde(default)]
    pub host_mb_s: f64,
    /// Sensing of a wordline for its errors alone, counted on the die: nothing is transferred or
    /// decoded.
    #[serde(default = "default_probe_us")]
    pub probe_us: f64,
    /// ECC decode time of a page, pipelined.
    #[serde(default)]
    pub ecc_us: f64,
    /// Planes of a die read independently of each other.
    #[serde(default)]
    pub independent_planes: bool,
    /// A die senses the next page while the last one is transferred (a second page register).
    #[serde(default)]
    pub cache_read: bool,
    /// A read may suspend a running program or erase.
    #[serde(default)]
    pub suspend: bool,
    /// Extra time of an operation for each time it is suspended (program).
    #[serde(default = "default_suspend_program_us")]
    pub suspend_program_us: f64,
    /// Extra time of an operation for each time it is suspended (erase).
    #[serde(default = "default_suspend_erase_us")]
    pub suspend_erase_us: f64,
    /// How often one operation may be suspended.
    #[serde(default = "default_suspend_limit")]
    pub suspend_limit: u32,
}

// DEAR (MICRO 2025), second-hand: 20 us to sense once and 8 us to count failed bits on the die.
fn default_probe_us() -> f64 {
    28.0
}
// Assumption: a tenth of a second without a request is a pause.
fn default_pad_after_us() -> f64 {
    100_000.0
}
// Suspend_Program 100 us and Suspend_Erase 700 us are MQSim-E's defaults.
fn default_suspend_program_us() -> f64 {
    100.0
}
fn default_suspend_erase_us() -> f64 {
    700.0
}
// Assumption: vendors bound the number so that a program ends; 8 keeps a program under three times
// its length.
fn default_suspend_limit() -> u32 {
    8
}

impl TimingConfig {
    /// Sensing time per page kind, in microseconds.
    pub fn sense_per_kind_us(&self, cell: CellType) -> Vec<f64> {
        self.sense_us.per_kind(cell)
    }

    /// What the erase of a block takes, in microseconds, that has endured so many P/E cycles
    /// before.
    pub fn erase_us_at(&self, pec: u32) -> f64 {
        self.erase_by_pec.iter().rfind(|row| row.pec <= pec).map_or(self.erase_us, |row| row.us)
    }

    /// The longest that an erase takes, at any P/E count, in microseconds.
    pub fn longest_erase_us(&self) -> f64 {
        self.erase_by_pec.iter().map(|row| row.us).fold(self.erase_us, f64::max)
    }

    pub(super) fn check(&self, cell: CellType) -> Result<(), ConfigError> {
        check_kinds("timing.sense_us", &self.sense_us, cell, 0.001)?;
        self.check_sensings(cell)?;
        check_kinds("timing.program_us", &self.program_us, cell, 0.0)?;
        require(
            self.program_unit == ProgramUnit::Page || matches!(self.program_us, KindUs::All(_)),
            || {
                "timing.program_us is a list and timing.program_unit = \"wordline\"; one program takes all pages of a wordline, so a single number \
             is expected"
                .into()
            },
        )?;
        self.check_erases()?;
        for (key, value) in [
            ("erase_us", self.erase_us),
            ("ecc_us", self.ecc_us),
            ("probe_us", self.probe_us),
            ("suspend_program_us", self.suspend_program_us),
            ("suspend_erase_us", self.suspend_erase_us),
        ] {
            require_range(&format!("timing.{key}"), value, 0.0, 1e5)?;
        }
        // A drive may wait for seconds, but then nobody waits for it.
        require_range("timing.pad_after_us", self.pad_after_us, 0.0, 1e7)?;
        for (key, value) in [("channel_mb_s", self.channel_mb_s), ("host_mb_s", self.host_mb_s)] {
            let fits = value == 0.0 || (1.0..=1e6).contains(&value);
            require(fits, || {
                format!("timing.{key} = {value} is outside 1 to 1000000 (or 0 for infinitely fast)")
            })?;
        }
        Ok(())
    }

    /// A page that is sensed more often takes no less time.
    fn check_sensings(&self, cell: CellType) -> Result<(), ConfigError> {
        let (times, kinds) = (self.sense_per_kind_us(cell), cell.kinds());
        let pages: Vec<_> = kinds.iter().zip(cell.sensings()).zip(&times).collect();
        for ((few, sensings), us) in &pages {
            let faster = pages.iter().find(|((_, more), less)| more > sensings && less < us);
            require(faster.is_none(), || {
                let ((many, more), less) = faster.expect("it was found");
                let other = if cell == CellType::Tlc {
                    "; geometry.cell = \"tlc-2-3-2\" has 2, 3 and 2 sensings"
                } else {
                    ""
                };
                format!(
                    "timing.sense_us: {few} takes {us} us for {sensings} sensings and {many} {less} us for {more}; {many} must take at \
                     least as long{other}"
                )
            })?;
        }
        Ok(())
    }

    fn check_erases(&self) -> Result<(), ConfigError> {
        let rows = &self.erase_by_pec;
        require_ascending("timing.erase_by_pec", rows.iter().map(|row| row.pec))?;
        for row in rows {
            require(row.pec <= PEC_MAX, || {
                format!("timing.erase_by_pec: pec is more than {PEC_MAX}")
            })?;
            require_range("timing.erase_by_pec us", row.us, 0.0, 1e5)?;
        }
        Ok(())
    }
}

fn check_kinds(key: &str, times: &KindUs, cell: CellType, least: f64) -> Result<(), ConfigError> {
    let kinds = times.per_kind(cell);
    require(kinds.len() == cell.bits() as usize, || {
        let names = cell.kinds().join(", ");
        format!(
            "{key} has {} numbers; a page kind each ({names}) or a single number is expected",
            kinds.len()
        )
    })?;
    kinds.into_iter().try_for_each(|us| require_range(key, us, least, 1e5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(timing: &str) -> String {
        let timing = format!("sense_us = 50\nchannel_mb_s = 0\n{timing}");
        toml::from_str::<TimingConfig>(&timing)
            .unwrap()
            .check(CellType::Mlc)
            .map_or_else(|e| e.0, |()| String::new())
    }

    #[test]
    fn programs_and_erases_are_refused_with_what_would_be_right() {
        assert_eq!(
            check(
                "program_us = [1600, 5000]\nerase_us = 1\nerase_by_pec = [{ pec = 0, us = 2 }, { pec = 9, us = 1 }]"
            ),
            ""
        );
        let refused = check("program_us = [1600]\nerase_us = 1");
        assert_eq!(
            refused,
            "timing.program_us has 1 numbers; a page kind each (LSB, MSB) or a single number is expected"
        );
        assert!(
            check("program_us = [1, 2]\nerase_us = 1\nprogram_unit = \"wordline\"")
                .contains("so a single number is expected")
        );
        assert!(check("program_us = 1\nerase_us = 1\nerase_by_pec = [{ pec = 9, us = 1 }, { pec = 9, us = 2 }]").contains("must ascend"));
        assert!(
            check("program_us = 1\nerase_us = 1\nerase_by_pec = [{ pec = 9, us = -1 }]")
                .contains("erase_by_pec us = -1 is outside")
        );
    }

    #[test]
    fn a_page_of_more_sensings_takes_no_less_time() {
        let check = |sense_us: &str, cell: CellType| {
            let timing =
                format!("sense_us = {sense_us}\nchannel_mb_s = 0\nprogram_us = 1\nerase_us = 1");
            toml::from_str::<TimingConfig>(&timing)
                .unwrap()
                .check(cell)
                .map_or_else(|e| e.0, |()| String::new())
        };
        for (sense_us, cell) in [
            ("50", CellType::Tlc),
            ("[25, 40, 70]", CellType::Tlc),
            ("[40, 40, 40]", CellType::Tlc),
            ("[40, 55, 40]", CellType::Tlc232),
            ("[41, 55, 40]", CellType::Tlc232),
            ("[5, 6, 7, 8]", CellType::Qlc),
        ] {
            assert_eq!(check(sense_us, cell), "", "{sense_us}");
        }
        assert_eq!(
            check("[40, 55, 40]", CellType::Tlc),
            "timing.sense_us: CSB takes 55 us for 2 sensings and MSB 40 us for 4; MSB must take at least as long; \
             geometry.cell = \"tlc-2-3-2\" has 2, 3 and 2 sensings"
        );
        assert_eq!(
            check("[25, 40, 70]", CellType::Tlc232),
            "timing.sense_us: MSB takes 70 us for 2 sensings and CSB 40 us for 3; CSB must take at least as long"
        );
        assert!(
            check("[50, 40]", CellType::Mlc)
                .contains("LSB takes 50 us for 1 sensings and MSB 40 us for 2")
        );
    }

    #[test]
    fn a_row_holds_from_its_count_on() {
        let timing = "sense_us = 1\nchannel_mb_s = 0\nprogram_us = 1\nerase_us = 1500\nerase_by_pec = [{ pec = 15001, us = 10000 }]";
        let timing: TimingConfig = toml::from_str(timing).unwrap();
        assert_eq!(
            [0, 15_000, 15_001, 99_999].map(|pec| timing.erase_us_at(pec) as u32),
            [1500, 1500, 10_000, 10_000]
        );
        assert!((timing.longest_erase_us() - 10_000.0).abs() < 1e-9);
    }
}
