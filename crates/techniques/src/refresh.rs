//! Data refresh: one file per technique, and the list.

mod block;
mod ida;
mod none;

use vpass_drive::api::refresh::{
    Adjusting, Aged, Held, Refresh, RefreshTechnique, Wanted, copies_ns,
};

/// Refresh techniques, one line each.
pub(crate) const LIST: &[RefreshTechnique] = &[none::CARD, block::CARD, ida::CARD];
