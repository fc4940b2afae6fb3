//! `[geometry]` and `[timing]`: the parts of the flash and the times of its operations.

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_ascending};
use super::keys::{self, Key, KeyValue, Keys, Type};
use crate::base::units::Bytes;

/// Bits per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum CellType {
    /// One bit: LSB.
    Slc,
    /// Two bits: LSB, MSB.
    Mlc,
    /// Three bits: LSB, CSB, MSB, read with 1, 2 and 4 sensings.
    Tlc,
    /// Three bits in the code of current drives, read with 2, 3 and 2 sensings.
    #[serde(rename = "tlc-2-3-2")]
    Tlc232,
    /// Four bits: LSB, CSB, MSB, TSB.
    Qlc,
}

impl CellType {
    /// Returns the number of pages that share the cells of a wordline.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc | Self::Tlc232 => 3,
            Self::Qlc => 4,
        }
    }

    /// Returns the usual names of the page kinds, in program order.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "geometry")]
pub struct GeometryConfig {
    /// Channels of the controller.
    #[key(range = Whole(1, 256), random = 1..=3)]
    pub channels: u32,
    /// Dies on each channel.
    #[key(range = Whole(1, 256), random = 1..=3)]
    pub dies_per_channel: u32,
    /// Planes in each die.
    #[key(range = Whole(1, 64), random = [1, 1, 2, 2, 3])]
    pub planes_per_die: u32,
    /// Blocks in each plane. If absent, this number follows from `drive.capacity` and
    /// `drive.spare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(range = Whole(1, 1 << 24))]
    pub blocks_per_plane: Option<u32>,
    /// Wordlines in each block.
    // The last two random values need more than a word of bits. The last value makes blocks of more
    // than 512 pages, except with single-level cells.
    #[key(
        range = Whole(1, 16_383),
        random = [1, 2, 3, 8, 21, 43, 1, 2, 3, 8, 21, 43, 8, 21, 70, 270]
    )]
    pub wordlines_per_block: u32,
    /// Cell type: "slc" to "qlc", with 1, 2, 4 and 8 sensings by page kind; "tlc-2-3-2" is the code
    /// of current TLC.
    #[key(random = [CellType::Slc, CellType::Mlc, CellType::Tlc, CellType::Qlc])]
    pub cell: CellType,
    /// Data bytes of a page. The page is also the mapping unit: a smaller write reads the whole
    /// page and programs it again.
    #[key(
        unit = "size",
        range = PowerOfTwo(512, 1 << 20),
        random = [Bytes(512), Bytes(4096), Bytes(16_384)]
    )]
    pub page_size: Bytes,
    /// Distance between physical neighbours, in wordline numbers. If wordlines are numbered string
    /// by string within a layer, this is the number of strings per layer.
    #[serde(default = "GeometryConfig::default_neighbour_stride")]
    #[key(unit = "wordlines", range = Whole(1, 1024), default = 1, random = [1, 1, 2, 4])]
    pub neighbour_stride: u32,
    /// Number of consecutive wordlines that share a layer. Wordlines of a layer are equally strong
    /// against reads.
    #[serde(default = "GeometryConfig::default_strings_per_layer")]
    #[key(unit = "wordlines", range = Whole(1, 1024), default = 1, random = [1, 1, 3])]
    pub strings_per_layer: u32,
}

impl GeometryConfig {
    /// Returns the pages in a block.
    pub fn pages_per_block(&self) -> u32 {
        self.wordlines_per_block * self.cell.bits()
    }

    /// Returns the planes in the drive.
    pub fn planes(&self) -> u32 {
        self.channels * self.dies_per_channel * self.planes_per_die
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        // The event tree holds 8192 events, and a plane has at most two pending events.
        require(self.planes() <= 4096, || {
            format!("geometry: {} planes; at most 4096 are supported", self.planes())
        })?;
        require(self.channels * self.dies_per_channel <= 1024, || {
            format!(
                "geometry: {} dies; at most 1024 are supported",
                self.channels * self.dies_per_channel
            )
        })
    }
}

/// A time in microseconds: one number for every page kind, or one per kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KindUs {
    /// One time for every page kind.
    All(f64),
    /// One time per page kind, LSB first.
    PerKind(Vec<f64>),
}

impl KeyValue for KindUs {
    const TYPE: Type = Type::OneOrList(&Type::Real);

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        match self {
            Self::All(us) => us.check(path, key),
            Self::PerKind(us) => us.check(path, key),
        }
    }
}

impl KindUs {
    /// Returns the time of each page kind.
    pub fn per_kind(&self, cell: CellType) -> Vec<f64> {
        match self {
            Self::All(us) => vec![*us; cell.bits() as usize],
            Self::PerKind(us) => us.clone(),
        }
    }

    /// Returns the mean over the page kinds.
    pub fn mean(&self) -> f64 {
        match self {
            Self::All(us) => *us,
            Self::PerKind(us) => us.iter().sum::<f64>() / us.len() as f64,
        }
    }

    /// Returns the time of the slowest page kind.
    pub fn longest(&self) -> f64 {
        match self {
            Self::All(us) => *us,
            Self::PerKind(us) => us.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Erase time from a P/E count on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct EraseAtPec {
    /// Number of P/E cycles of the block before the erase.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64))]
    pub pec: u32,
    /// Erase time from this P/E count on.
    #[key(unit = "us", range = Real(0.0, 1e5))]
    pub us: f64,
}

/// Unit of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum ProgramUnit {
    /// One page: the page kinds of a wordline are programmed one after another.
    #[default]
    Page,
    /// All pages of a wordline at once.
    Wordline,
}

/// `[timing]`, in microseconds and 10^6 bytes per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "timing")]
pub struct TimingConfig {
    /// Sensing time of a page read (tR).
    #[key(unit = "us", range = Real(0.001, 1e5), note = "; a list has one number for each page \
        kind")]
    pub sense_us: KindUs,
    /// Unit of a program: "page" or "wordline". With "wordline", pages wait in the controller's
    /// memory until their wordline is complete. Parity with stripes programs page by page: a page
    /// then takes its share of `program_us`.
    #[serde(default = "TimingConfig::default_program_unit")]
    #[key(default = ProgramUnit::Page, random = [ProgramUnit::Page, ProgramUnit::Wordline])]
    pub program_unit: ProgramUnit,
    /// Program time of a page or wordline (tPROG); a list has a time for each page kind, LSB first.
    #[key(
        unit = "us",
        range = Real(0.0, 1e5),
        note = "; a list has one number for each page kind, and needs program_unit = \"page\"",
        random = [KindUs::All(20.0), KindUs::All(400.0)]
    )]
    pub program_us: KindUs,
    /// Time without a request after which incomplete wordlines are padded and programmed. 0:
    /// incomplete wordlines always wait for more data.
    #[serde(default = "TimingConfig::default_pad_after_us")]
    #[key(
        unit = "us",
        range = Real(0.0, 1e7),
        default = 100_000.0,
        source = "assumption: a tenth of a second without a request is a pause",
        random = [0.0, 50.0, 5000.0]
    )]
    pub pad_after_us: f64,
    /// Erase time of a block (tBERS).
    #[key(unit = "us", range = Real(0.0, 1e5), random = [100.0, 3000.0])]
    pub erase_us: f64,
    /// Erase times of worn blocks. Each row replaces `erase_us` from its P/E count on; the counts
    /// ascend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[key(range = Words("rows, in ascending order of pec"), default)]
    pub erase_by_pec: Vec<EraseAtPec>,
    /// Transfer rate of one channel; 0 means infinitely fast.
    #[key(unit = "MB/s", range = ZeroOr(1.0, 1e6), random = [0.0, 100.0, 1200.0])]
    pub channel_mb_s: f64,
    /// Transfer rate of the host link in each direction; 0 means infinitely fast.
    #[serde(default = "TimingConfig::default_host_mb_s")]
    #[key(unit = "MB/s", range = ZeroOr(1.0, 1e6), default = 0.0, random = [0.0, 300.0])]
    pub host_mb_s: f64,
    /// Time to sense a wordline and count its errors on the die, without transfer or decoding.
    #[serde(default = "TimingConfig::default_probe_us")]
    #[key(
        unit = "us",
        range = Real(0.0, 1e5),
        default = 28.0,
        source = "DEAR (MICRO 2025), second-hand: 20 us to sense once and 8 us to count failed \
                  bits on the die",
        random = [0.0, 28.0]
    )]
    pub probe_us: f64,
    /// ECC decode time of a page, pipelined.
    #[serde(default = "TimingConfig::default_ecc_us")]
    #[key(unit = "us", range = Real(0.0, 1e5), default = 0.0, random = [0.0, 7.5])]
    pub ecc_us: f64,
    /// Whether planes of a die read independently of each other.
    #[serde(default = "TimingConfig::default_independent_planes")]
    #[key(default = false, random = 0.3)]
    pub independent_planes: bool,
    /// Whether a die senses the next page while the previous page is transferred (a second page
    /// register).
    #[serde(default = "TimingConfig::default_cache_read")]
    #[key(default = false, random = 0.3)]
    pub cache_read: bool,
    /// Whether a read may suspend a running program or erase.
    #[serde(default = "TimingConfig::default_suspend")]
    #[key(default = false, random = 0.5)]
    pub suspend: bool,
    /// Extra time of a program for each suspension.
    #[serde(default = "TimingConfig::default_suspend_program_us")]
    #[key(
        unit = "us",
        range = Real(0.0, 1e5),
        default = 100.0,
        source = "MQSim-E's default Suspend_Program"
    )]
    pub suspend_program_us: f64,
    /// Extra time of an erase for each suspension.
    #[serde(default = "TimingConfig::default_suspend_erase_us")]
    #[key(
        unit = "us",
        range = Real(0.0, 1e5),
        default = 700.0,
        source = "MQSim-E's default Suspend_Erase"
    )]
    pub suspend_erase_us: f64,
    /// Largest number of suspensions of one program or erase.
    #[serde(default = "TimingConfig::default_suspend_limit")]
    #[key(
        range = keys::U32,
        default = 8,
        source = "assumption: vendors limit how often a page program is suspended; with 8 \
            suspensions, a page program takes less than three times its normal time",
        random = [0, 1, 8]
    )]
    pub suspend_limit: u32,
}

impl TimingConfig {
    /// Returns the sensing time per page kind, in microseconds.
    pub fn sense_per_kind_us(&self, cell: CellType) -> Vec<f64> {
        self.sense_us.per_kind(cell)
    }

    /// Returns the longest erase time at any P/E count, in microseconds.
    pub fn longest_erase_us(&self) -> f64 {
        self.erase_by_pec.iter().map(|row| row.us).fold(self.erase_us, f64::max)
    }

    pub(super) fn check(&self, cell: CellType) -> Result<(), ConfigError> {
        self.check_ranges()?;
        check_kinds("timing.sense_us", &self.sense_us, cell)?;
        self.check_sensings(cell)?;
        check_kinds("timing.program_us", &self.program_us, cell)?;
        require(
            self.program_unit == ProgramUnit::Page || matches!(self.program_us, KindUs::All(_)),
            || {
                "timing.program_us is a list, but timing.program_unit = \"wordline\": one program \
                 operation writes all pages of a wordline, so a single number is expected"
                    .into()
            },
        )?;
        self.check_erases()
    }

    /// Checks that a page kind with more sensings takes at least as long.
    fn check_sensings(&self, cell: CellType) -> Result<(), ConfigError> {
        let (times, kinds) = (self.sense_per_kind_us(cell), cell.kinds());
        let pages: Vec<_> = kinds.iter().zip(cell.sensings()).zip(&times).collect();
        for ((few, sensings), us) in &pages {
            let faster = pages.iter().find(|((_, more), less)| more > sensings && less < us);
            require(faster.is_none(), || {
                let ((many, more), less) = faster.expect("it was found");
                let other = if cell == CellType::Tlc {
                    "; with geometry.cell = \"tlc-2-3-2\", pages need 2 (LSB), 3 (CSB) and 2 (MSB) \
                     sensings"
                } else {
                    ""
                };
                format!(
                    "timing.sense_us: {few} takes {us} us for {sensings} sensings, but {many} \
                     takes only {less} us for {more}; {many} must take at least as long{other}"
                )
            })?;
        }
        Ok(())
    }

    fn check_erases(&self) -> Result<(), ConfigError> {
        let rows = &self.erase_by_pec;
        require_ascending("timing.erase_by_pec", rows.iter().map(|row| row.pec))
    }
}

fn check_kinds(key: &str, times: &KindUs, cell: CellType) -> Result<(), ConfigError> {
    let kinds = times.per_kind(cell);
    require(kinds.len() == cell.bits() as usize, || {
        let names = cell.kinds().join(", ");
        format!(
            "{key} is a list of length {}; give one number for each page kind ({names}), or a \
             single number",
            kinds.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_more_sensings_takes_no_less_time() {
        let check = |sense_us: &str, cell: CellType| {
            let timing =
                format!("sense_us = {sense_us}\nchannel_mb_s = 0\nprogram_us = 1\nerase_us = 1");
            toml::from_str::<TimingConfig>(&timing)
                .unwrap()
                .check(cell)
                .map_or_else(|e| e.to_string(), |()| String::new())
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
    }

    #[test]
    fn the_longest_erase_is_that_of_any_row() {
        let timing = "sense_us = 1\nchannel_mb_s = 0\nprogram_us = 1\nerase_us = 1500\n\
                      erase_by_pec = [{ pec = 15001, us = 10000 }]";
        let timing: TimingConfig = toml::from_str(timing).unwrap();
        assert!((timing.longest_erase_us() - 10_000.0).abs() < 1e-9);
    }
}
