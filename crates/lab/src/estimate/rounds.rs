//! Life of a drive that rewrites one page for every `rounds` page reads. Each page that the host
//! writes is programmed once. The programs of GC are left out.
//!
//! ```text
//! the host reads 100 pages per second; the drive rewrites one page for every 10 page reads
//! the drive has 1,000,000 pages that endure 1,500 P/E cycles, so 1,500,000,000 page programs
//! 10 pages per second are programmed, so the life is 1,500,000,000 / 10 s = 4.75 years
//! if the host also writes 10 pages per second, the life is half as long
//! ```

use vpass_drive::base::span::YEAR;

use super::shape::Shape;
use crate::plan::RunPlan;

/// Numbers of pages that the host reads and writes per second, as means over the whole day.
#[derive(Clone, Copy, Debug)]
pub struct Paces {
    /// Number of page reads per second.
    pub reads: f64,
    /// Number of page writes per second.
    pub writes: f64,
}

/// Returns the number of years until the plan's drive reaches its rated P/E cycles. The drive
/// rewrites one page for every `rounds` page reads.
pub fn years_at_rounds(plan: &RunPlan, host: Paces, rounds: f64) -> f64 {
    let config = &plan.drive.config;
    let cycles = f64::from(config.drive.rated_pec.saturating_sub(config.start.pec));
    let programs = host.reads + host.writes * rounds;
    cycles * pages_of_drive(plan) * rounds / programs / (YEAR as f64 / 1e9)
}

/// Returns the number of flash pages of the whole drive.
pub fn pages_of_drive(plan: &RunPlan) -> f64 {
    let shape = Shape::of(plan);
    shape.blocks * shape.per_block
}
