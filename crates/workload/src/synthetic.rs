//! Generates the requests that a `[workload]` table describes. A random seed decides the requests.
//! The same seed gives the same requests on every run.
//!
//! Addresses are uniform, zipf, sequential or hot-cold ([`Distribution`]).

mod addresses;
pub(crate) mod alias;
pub(crate) mod arrivals;
mod distribution;
mod drawn_writes;
mod fluid_source;
mod hot_cold;
mod page_law;
mod page_weights;
pub(crate) mod random;
pub(crate) mod scatter;
mod sizes;
mod synthetic_config;
mod synthetic_source;
pub(crate) mod zipf;

pub use distribution::Distribution;
pub(crate) use distribution::IN_WORDS;
pub use fluid_source::Sample;
pub(crate) use fluid_source::{GOLDEN, gcd, require_rate};
pub use page_law::PageLaw;
pub use synthetic_config::{
    Arrivals, HotSets, MAX_QUEUE_DEPTH, SizeShare, WorkloadConfig, WorkloadFile, WorkloadFileOf,
};
pub(crate) use synthetic_config::{
    HOURS, RATE, SECTOR_BYTES, arrival, check_arrival, check_hours, hours, require,
};
pub use synthetic_source::SyntheticSource;
