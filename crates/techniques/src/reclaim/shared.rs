//! Code that several reclaim techniques share.

pub(super) mod low_density;
pub(super) mod read_hot;
pub(super) mod shadow;
pub(crate) mod straw;
