//! Workload of a language model that is read from the drive. The model has a dense part, experts, a
//! host cache, updates, and a key-value cache that the host spills to the drive.
//!
//! ```text
//! drive    | dense part | expert 0 | expert 1 | ... | window of the key-value cache |
//! a token  reads the dense part, and experts by chance, except what the host caches
//! ```
//!
//! - **Experts** (`law.rs`). The popularity of an expert gives the probability that a token uses
//!   the expert.
//! - **Cache** (`cache.rs`). The host's cache holds the dense part first. The rest of the cache
//!   holds experts.
//! - **Requests** (`tokens.rs`, `writes.rs`). No request crosses a multiple of `request_size`.
//! - **Rates** (`fluid_model.rs`). The read rate of a page is the mean rate of the requests that
//!   touch the page.

mod cache;
mod fluid_model;
mod law;
mod model_config;
mod model_source;
mod tokens;
mod writes;

pub use law::ModelLaw;
pub use model_config::{ModelConfig, ModelFile, ModelWorkload, Placement};
pub use model_source::ModelSource;
