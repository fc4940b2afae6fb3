//! Codings of a wordline's cells, by number.

/// Guard levels, at the cost of the most significant page of each wordline (ipr-2018 III-C).
pub const GUARDED: u8 = 1;
