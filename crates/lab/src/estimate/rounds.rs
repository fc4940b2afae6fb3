//! Life of a drive that only reads wear, if each page is rewritten after a given number of reads of
//! the page (rounds).
//!
//! ```text
//! 100 pages per second, a drive of 1,000,000 pages and 1,500 cycles, 10 rounds:
//! 10 pages per second are programmed, so the life is 1,500,000,000 / 10 s = 4.75 years
//! ```

use vpass_core::base::span::YEAR;

use super::shape::Shape;
use crate::plan::RunPlan;

/// Returns the years from the plan's start to its rated P/E cycles. The host reads `reads` pages
/// per second, and the drive rewrites one page for every `rounds` page reads.
pub fn years_at_rounds(plan: &RunPlan, reads: f64, rounds: f64) -> f64 {
    let config = &plan.drive.config;
    let cycles = f64::from(config.drive.rated_pec.saturating_sub(config.start.pec));
    cycles * pages_of_drive(plan) * rounds / reads / (YEAR as f64 / 1e9)
}

/// Returns the number of flash pages of the whole drive.
pub fn pages_of_drive(plan: &RunPlan) -> f64 {
    let shape = Shape::of(plan);
    shape.blocks * shape.per_block
}
