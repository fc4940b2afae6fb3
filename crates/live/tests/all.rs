//! Tests of the live drive, on a virtual clock.

// Links the lists of techniques.
use vpass_techniques as _;

mod bytes;
mod common;
mod cuts;
mod flushes;
