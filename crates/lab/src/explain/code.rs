//! Limits that follow from an error-correcting code. The limits are the number of reads that a
//! block endures, and the age that data endures.

use serde::Serialize;
use vpass_drive::base::span::DAY;
use vpass_drive::config::{BchTarget, Combine, DriveConfig};
use vpass_drive::error::bch::Bch;

/// Error-correcting code of a drive with `error.model = "bch"`.
#[derive(Serialize)]
pub struct Code {
    /// Number of bits in a codeword.
    pub codeword_bits: u32,
    /// Number of data bits in a codeword.
    pub data_bits: u32,
    /// Number of wrong bits per codeword that the code corrects.
    pub corrects: u32,
    /// Value of the key `bch.target`, which determines the limits: "yield", "uber" or "stripe".
    pub target: BchTarget,
    /// Share of codewords that can be decoded in data that has reached its limit.
    #[serde(rename = "yield")]
    pub decoded: f64,
    /// Number of lost codewords per data bit read, in data that has reached its limit.
    pub uber: f64,
    /// Mean number of lost pages per block, in data that has reached its limit.
    pub lost_pages_of_a_block: f64,
    /// RBER of data that has reached its limit.
    pub tolerable_rber: f64,
    /// Method of adding the error rates that wear, age and reads cause: "independent" or "sum".
    pub combine: Combine,
    /// Limits at each P/E count.
    pub limits: Vec<CodeLimits>,
}

/// Limits of data at one P/E count.
#[derive(Serialize)]
pub struct CodeLimits {
    /// Number of P/E cycles.
    pub pec: u32,
    /// Largest number of reads that a block endures if its data is fresh.
    pub reads: f64,
    /// Largest age, in days, that unread data endures.
    pub age_days: f64,
    /// Largest number of reads that a block endures if its data has half the age in `age_days`.
    pub reads_at_half_age: f64,
}

/// Describes the error-correcting code of a drive. Returns `None` if the drive's limits do not
/// follow from a code.
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
