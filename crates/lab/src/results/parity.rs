//! What was done for parity, and what its layout does to wear: a page has a die of its own, so no die can be traded for a less worn one.

use serde::Serialize;
use vpass_core::drive::Drive;

/// Parity. Its reads and programs stand in `flash`, under `parity`.
#[derive(Clone, Debug, Serialize)]
pub struct Parity {
    /// Pages of the host that share a page of parity.
    pub stripe_pages: u32,
    /// Pages of parity that the drive has flash for: one a stripe.
    pub parity_pages: u32,
    /// Stripes whose parity was brought up to date out of the old one.
    pub modified: u64,
    /// Stripes whose parity was worked out of all their data.
    pub whole: u64,
    /// Pages that could not be read and were rebuilt from their stripes.
    pub rebuilt_pages: u64,
    /// Times that the parity of a stripe was given up, because too much of the stripe could not be read.
    pub given_up: u64,
    /// Stripes that are without parity for that at the end.
    pub unprotected_stripes: u64,
    /// Mean P/E cycles of the blocks of each die, from die 0 on.
    pub pec_mean_by_die: Vec<f64>,
}

impl Parity {
    /// None where the drive keeps none.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let (geometry, counts) = (drive.geometry(), drive.parity_counts());
        let stripes = geometry.stripes?;
        let pec: Vec<u32> = drive.block_states().map(|row| row.pec).collect();
        let of_die = |pec: &[u32]| pec.iter().map(|pec| f64::from(*pec)).sum::<f64>() / pec.len() as f64;
        Some(Self {
            stripe_pages: stripes.members(),
            parity_pages: stripes.count(),
            modified: counts.modified,
            whole: counts.whole,
            rebuilt_pages: counts.rebuilt,
            given_up: counts.given_up,
            unprotected_stripes: drive.unprotected_stripes(),
            pec_mean_by_die: pec.chunks(geometry.blocks_per_domain() as usize).map(|of| (of_die(of) * 1e3).round() / 1e3).collect(),
        })
    }
}
