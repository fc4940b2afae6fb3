//! The scales of doses and of the factors that they are multiplied by, all in fixed point.

/// Counters count quarters of a dose unit.
pub const QUARTERS: u32 = 4;
/// Alpha is a multiple of 1/256.
pub const ALPHA_ONE: u64 = 256;
/// Doses and limits are compared in 1/1024 of a dose unit (a quarter times 1/256).
pub const DOSE_ONE: u64 = QUARTERS as u64 * ALPHA_ONE;
