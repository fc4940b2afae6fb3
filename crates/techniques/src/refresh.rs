//! Data refresh: the list of refresh techniques. Each technique has its own file.

pub(crate) mod block;
mod ida;
mod none;

use vpass_drive::api::refresh::{
    Adjusting, Aged, Held, Refresh, RefreshTechnique, Wanted, copies_ns,
};

/// All refresh techniques of this crate.
pub(crate) const LIST: &[RefreshTechnique] = &[none::CARD, block::CARD, ida::CARD];
