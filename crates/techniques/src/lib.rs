//! Techniques: read reclaim, refresh, parity and garbage collection. Each technique is one file, or
//! a file with a folder, behind an interface of the drive. The lists are here.
//!
//! A program that links this crate has the lists: `use vpass_techniques as _;` is enough.

pub mod gc;
pub mod parity;
pub mod reclaim;
pub mod refresh;

use linkme::distributed_slice;
use vpass_drive::api::brought::{BROUGHT, Brought};

/// Lists of this crate, for the drive.
#[distributed_slice(BROUGHT)]
#[allow(unsafe_code, reason = "`linkme` names the section of the program, and checks the type")]
static LISTS: Brought =
    Brought { reclaim: reclaim::LIST, refresh: refresh::LIST, parity: parity::LIST, gc: gc::LIST };
