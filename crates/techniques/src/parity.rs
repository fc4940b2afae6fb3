//! Parity inside the drive: one file per technique, and the list.

mod da_raid5;
mod hc;
mod none;
mod pe_aware;
mod ppc;
mod raid5;
mod udl;

use vpass_drive::api::parity::{
    Change, Covering, Equation, Parity, ParityTechnique, REBUILD, Renewal, STRIPE,
};

/// Parity techniques, one line each.
pub(crate) const LIST: &[ParityTechnique] =
    &[none::CARD, udl::CARD, raid5::CARD, ppc::CARD, hc::CARD, pe_aware::CARD, da_raid5::CARD];
