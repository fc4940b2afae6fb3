//! What makes a run, without a command line: drives and workloads by name or file ([`load`]). It prints nothing and reads no arguments; why
//! something could not be done comes back as a [`failure::Failure`].

mod counts;
pub mod failure;
pub mod keys;
pub mod load;
pub mod numbers;
pub mod overrides;
pub mod presets;
mod schema;
pub mod suggest;
