//! Code that several reclaim techniques share.

pub(super) mod low_density;
pub(super) mod params;
pub(super) mod read_hot;
pub(super) mod reads_per_rewrite;
pub(super) mod shadow;
pub(super) mod straw;
