//! Foundations of all other modules: units, geometry, requests, counts, fast arithmetic and memory.
//! This module does not depend on flash.

pub mod coding;
pub mod codings;
pub mod course;
pub mod daily;
pub mod dose;
pub mod failure;
pub mod geometry;
pub mod in_words;
pub mod latency;
pub mod mem;
pub mod metrics;
mod named;
pub mod page_set;
pub mod phrase;
pub mod rates;
pub mod reciprocal;
pub mod request;
pub mod search;
pub mod span;
pub mod splitmix;
pub mod steady;
pub mod streams;
pub mod stripes;
pub mod thinned;
pub mod units;
pub mod window;
pub mod written;
