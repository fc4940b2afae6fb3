//! The oracle: watches a drive from outside and knows the truth about its data.
//!
//! It hears what the drive does through `vpass_core::watch::observer::Observer` and keeps its own
//! books: which version of which page lies where ([`Oracle`]), what every wordline has really
//! endured, whether the rules of flash were kept, and how often each operation happened. It shares
//! the vocabulary and the nature of the flash with the drive (units, geometry, limits) and nothing
//! of what it checks.
//!
//! Data loss is a result where the drive reported it. Whatever else is wrong is a bug
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
