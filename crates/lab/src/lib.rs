//! Library of vpass, which runs simulations without a command line.
//!
//! A [`setup::Setup`] names a drive, a workload and options. A [`plan::RunPlan`] is made from a
//! setup: vpass reads and checks the drive, the workload and the options. [`run::execute`] runs one
//! plan as a [`session::Session`], and [`pool::run_all`] runs many plans. [`results::Summary`] has
//! the results. [`files`] turns the results into files.
//!
//! ```
//! use vpass_lab::plan::{Chosen, RunPlan};
//! use vpass_lab::progress::{Unwatched, unwatched};
//! use vpass_lab::setup::{Base, Named, Setup};
//!
//! let base = Base { set: vec!["workload.requests=1000".into()], ..Base::new("tiny") };
//! let setup = Setup::new(base, Named::Workload("uniform-read".into()));
//! let plan = RunPlan::new(&setup, Chosen::default(), &unwatched)?;
//! let outcome = vpass_lab::run::execute(&plan, &Unwatched)?;
//! assert_eq!((outcome.summary.host.read_requests, outcome.summary.data_lost_pages), (1000, 0));
//! # Ok::<(), vpass_lab::failure::Failure>(())
//! ```
//!
//! This crate prints nothing and handles no signals. A caller passes a [`progress::Progress`] to
//! show progress or to stop a run. Functions return errors as a [`failure::Failure`]. A
//! [`phrase::Dialect`] determines how an error message names options.

pub mod as_json;
pub mod batch;
pub mod compare;
mod counts;
pub mod estimate;
pub mod experiment;
pub mod explain;
pub mod failure;
mod fault;
pub mod files;
pub mod hints;
pub mod kept;
pub mod keys;
pub mod life;
pub mod lines;
pub mod llm;
pub mod load;
pub mod manifest;
pub mod mean_ci95;
pub mod measured;
pub mod memory;
pub mod numbers;
pub mod overrides;
pub mod plain;
pub mod plan;
pub mod pool;
pub mod presets;
pub mod progress;
pub mod results;
pub mod run;
pub mod samples;
mod schema;
pub mod series;
pub mod session;
mod settled;
pub mod setup;
pub mod sheet;
pub mod suggest;

/// Sentences that contain options as data.
pub use vpass_drive::{base::phrase, phrase};
