//! Limits that follow from one code: what it corrects, what it is held to, and the reads and ages
//! that it bears.

use serde::Serialize;
use vpass_core::base::span::DAY;
use vpass_core::config::{BchTarget, Combine, DriveConfig};
use vpass_core::error::bch::Bch;

/// The code of a drive with `error.model = "bch"`.
#[derive(Serialize)]
pub struct Code {
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// Those of them that are data.
    pub data_bits: u32,
    /// Wrong ones that are corrected.
    pub corrects: u32,
    /// "yield", "uber" or "stripe".
    pub target: BchTarget,
    /// Share of codewords that decode at the limit.
    #[serde(rename = "yield")]
    pub decoded: f64,
    /// Codewords lost by data bits read, of pages at the limit.
    pub uber: f64,
    /// Pages lost on average of a block at the limit.
    pub lost_pages_of_a_block: f64,
    /// RBER at the limit.
    pub tolerable_rber: f64,
    /// "independent" or "sum".
    pub combine: Combine,
    /// By P/E count.
    pub limits: Vec<CodeLimits>,
}

/// What data bears at a P/E count.
#[derive(Serialize)]
pub struct CodeLimits {
    /// P/E cycles.
    pub pec: u32,
    /// Reads of the block, of data without age.
    pub reads: f64,
    /// Age in days, of data that nobody reads.
    pub age_days: f64,
    /// Reads that data of half that age bears.
    pub reads_at_half_age: f64,
}

/// What is to be said of a drive's code; none where limits do not follow from one.
pub(super) fn code(config: &DriveConfig, counts: impl Iterator<Item = u32>) -> Option<Code> {
    let bch = Bch::of(config)?;
    let (codeword_bits, data_bits, corrects) = bch.code();
    let codewords = config.geometry.page_size.0 as f64 * 8.0 / f64::from(data_bits);
    let pages = f64::from(config.geometry.pages_per_block());
    let limits = |pec: u32| {
        let (reads, age) = (bch.reads(pec), bch.age(pec));
        let aged = bch.retention(pec, (age / 2.0) as u64) / bch.tolerable();
        let left = if config.bch.combine == Combine::Sum { 1.0 - aged } else { 1.0 };
        CodeLimits {
            pec,
            reads,
            age_days: age / DAY as f64,
            reads_at_half_age: (reads * left).floor(),
        }
    };
    Some(Code {
        codeword_bits,
        data_bits,
        corrects,
        target: config.bch.target,
        decoded: 1.0 - bch.fails(),
        uber: bch.fails() / f64::from(data_bits),
        lost_pages_of_a_block: -pages * (codewords * (-bch.fails()).ln_1p()).exp_m1(),
        tolerable_rber: bch.tolerable(),
        combine: config.bch.combine,
        limits: counts.map(limits).collect(),
    })
}
