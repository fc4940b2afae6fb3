//! fio job files: what fio(1) would ask of a drive, from the file as it is. Start with [`JobFile`]
//! and [`FioSource`].
//!
//! It follows the manual page of fio 3.33 and, where the manual is silent, what fio 3.33 does:
//! `tests/fio_real.rs` compares the two if fio is installed. Options that speak of the host are
//! left out and listed; options that would change the workload in a way that is not supported stop
//! the run, by name.
//!
//! | file | what it does |
//! |---|---|
//! | `grammar` | lines into sections and options |
//! | `options` | every option's name, and what becomes of it |
//! | `values` | bytes, times, shares |
//! | `draft`, `job` | a section's values, collected and checked |
//! | `file` | the whole file, and what it asks of a gear |
//! | `layout` | files on the drive |
//! | `sizes`, `skew`, `random_map` | size and place of a request |
//! | `worker`, `in_file`, `service`, `turns` | the requests of one clone, in each of its files |
//! | `rate_clocks`, `queues` | when they come: by a rate, after completions and pauses |
//! | `fio_source` | all of them as one stream |
//! | `record` | what the results say of jobs |

mod draft;
mod file;
mod fio_source;
mod grammar;
mod in_file;
mod job;
mod layout;
mod options;
mod queues;
mod random_map;
mod rate_clocks;
mod record;
mod service;
mod sizes;
mod skew;
mod turns;
mod values;
mod worker;

pub use file::{FioOptions, JobFile};
pub use fio_source::FioSource;
pub use record::{JobCounts, JobRecord};
