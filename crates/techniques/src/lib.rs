//! Techniques: read reclaim, refresh, parity and garbage collection. Each technique is one file, or
//! a file with a folder, and implements an interface of the drive. This file lists the techniques
//! of all slots.
//!
//! A program gets these techniques by linking this crate. The line `use vpass_techniques as _;` is
//! enough.

pub mod gc;
pub mod parity;
pub mod reclaim;
pub mod refresh;

use linkme::distributed_slice;
use vpass_drive::api::brought::{BROUGHT, Brought};

/// Lists of this crate's techniques. The linker hands them to the drive.
#[distributed_slice(BROUGHT)]
#[allow(unsafe_code, reason = "`linkme` names the section of the program, and checks the type")]
static LISTS: Brought =
    Brought { reclaim: reclaim::LIST, refresh: refresh::LIST, parity: parity::LIST, gc: gc::LIST };
