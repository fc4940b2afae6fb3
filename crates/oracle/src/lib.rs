//! The oracle watches a drive from outside and knows the truth about its data.
//!
//! It receives the drive's operations through `vpass_drive::watch::observer::Observer` and keeps its
//! own records. It knows the place of each version of each page ([`Oracle`]) and the true dose of
//! every wordline. It checks the rules of flash and counts the operations. It shares with the drive
//! the units, the geometry and the configured limits of the flash, but no code that it checks.
//!
//! Data loss that the drive reported is a result. Everything else that is wrong is a bug
//! ([`OracleReport::is_bug`]).

mod acceleration;
mod addresses;
mod adversary;
mod ageing;
mod bch;
mod begun;
mod bits;
mod books;
mod clock;
mod codings;
mod dice;
mod doses;
mod endurance;
mod error_rates;
mod medium;
mod noise;
mod oracle;
mod protocol;
mod questions;
mod reference;
mod report;
mod requests;
mod sample_wear;
pub mod snapshots;
mod stamps;
mod start_reads;
mod start_wear;
mod stripe;
pub mod swarm;
mod time_check;
mod wear;

pub use adversary::Adversary;
pub use books::DriveBooks;
pub use oracle::mapping::MapEntry;
pub use oracle::{Level, Oracle};
pub use reference::ReferenceDrive;
pub use report::OracleReport;
pub use time_check::TimeCheck;
