//! What several reclaim techniques share.

pub(super) mod low_density;
pub(super) mod pace;
pub(super) mod params;
pub(super) mod read_hot;
pub(super) mod shadow;
pub(super) mod straw;
