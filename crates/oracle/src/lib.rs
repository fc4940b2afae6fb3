//! The oracle watches a drive from outside and knows the truth about its data.
//!
//! It receives the drive's operations through `vpass_drive::watch::observer::Observer` and keeps its
//! own records. It knows the place of each version of each page ([`Oracle`]) and the true dose of
//! every wordline. It checks the rules of flash and counts the operations. It shares with the drive
//! the units, the geometry and the tables of limits, codings and times, but no code that it checks.
//!
//! Data loss that the drive reported is a result. Everything else that is wrong is a bug
//! ([`OracleReport::is_bug`]).

mod adversary;
mod ageing;
mod begun;
mod bits;
mod books;
mod busy;
mod clock;
mod cycles;
mod dice;
mod doses;
mod limits;
mod medium;
mod noise;
mod oracle;
mod protocol;
mod questions;
mod report;
mod requests;
pub mod snapshots;
mod stamps;
pub mod swarm;
mod truth;

pub use adversary::Adversary;
pub use books::DriveBooks;
pub use oracle::{Level, Oracle};
pub use report::OracleReport;
