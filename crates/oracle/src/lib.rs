//! The oracle: watches a drive from outside and knows the truth about its data.
//!
//! It hears what the drive does through `vpass_core::watch::observer::Observer` and keeps its own books: which version of which
//! page lies where ([`Oracle`]), what every wordline has really endured, whether the rules of flash were kept, and how often
//! each operation happened. It shares the vocabulary and the nature of the flash with the drive (units, geometry, limits)
//! and nothing of what it checks.
//!
//! Data loss is a result where the drive reported it. Whatever else is wrong is a bug ([`OracleReport::is_bug`]).

mod addresses;
mod adjusted;
mod adversary;
mod ageing;
mod ask;
mod bch;
mod bits;
mod blame;
mod block_books;
mod books;
mod bulk;
mod causes;
mod claims;
mod cleaning;
mod clock;
mod codings;
mod conclude;
mod delay;
mod density;
mod density_books;
mod dice;
mod doses;
mod durable;
mod end_scan;
mod endurance;
mod error_rates;
mod expected;
mod failures;
mod fullness;
mod gathered;
mod hearsay;
mod hints;
mod jobs;
mod mapping;
mod medium;
mod need;
mod noise;
mod observe;
mod odd_reads;
mod older;
mod opening;
mod oracle;
mod page_read;
mod parity;
mod parts;
mod promises;
mod protocol;
mod questions;
mod reference;
mod report;
mod requests;
mod stamps;
mod start;
mod start_reads;
mod stripe;
pub mod swarm;
mod time_check;
mod wear;
mod worn;

pub use adversary::Adversary;
pub use books::DriveBooks;
pub use mapping::MapEntry;
pub use oracle::{Level, Oracle};
pub use reference::ReferenceDrive;
pub use report::OracleReport;
pub use time_check::TimeCheck;
