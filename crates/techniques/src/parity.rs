//! Parity inside the drive: the list of parity techniques. Each technique has its own file.

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

/// All parity techniques of this crate.
pub(crate) const LIST: &[ParityTechnique] =
    &[none::CARD, udl::CARD, raid5::CARD, ppc::CARD, hc::CARD, pe_aware::CARD, da_raid5::CARD];
