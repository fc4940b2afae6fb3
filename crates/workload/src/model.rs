//! A language model that is read from the drive: a dense part, experts, a host cache, updates, and
//! a key-value cache that the host spills.
//!
//! ```text
//! drive    | dense part | expert 0 | expert 1 | ... | window of the key-value cache |
//! a token  reads the dense part, and experts by chance, except what the host caches
//! ```
//!
//! - **Experts** (`law.rs`). Popularity gives each expert a probability that a token uses it.
//! - **Cache** (`cache.rs`). It first holds the dense part, and experts in the rest.
//! - **Requests** (`tokens.rs`, `writes.rs`). Each request lies between two multiples of
//!   `request_size`.
//! - **Rates** (`fluid_model.rs`). A page has the mean rate of the requests that touch it.

mod cache;
mod fluid_model;
mod law;
mod model_config;
mod model_source;
mod tokens;
mod writes;

pub use fluid_model::FluidModel;
pub use law::ModelLaw;
pub use model_config::{ModelConfig, ModelFile, ModelWorkload, Placement};
pub use model_source::ModelSource;
