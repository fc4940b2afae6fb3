//! Makes the requests that fio(1) would send to a drive, from unchanged job files. Start with
//! [`JobFile`] and [`FioSource`].
//!
//! The code follows the manual page of fio 3.33. Where the manual is silent, it follows fio 3.33
//! itself. `tests/fio_real.rs` compares vpass with fio if fio is installed.
//!
//! Options about the host are ignored and listed. Options that would change the workload in an
//! unsupported way stop the run. The error names the option.
//!
//! | file | what it does |
//! |---|---|
//! | `grammar` | splits the text into sections and options |
//! | `options` | role of each option |
//! | `values` | bytes, times, shares |
//! | `draft`, `job` | values of a section, collected and checked |
//! | `file` | whole file, checked against the gear |
//! | `layout` | files on the drive |
//! | `sizes`, `skew`, `random_map` | size and address of a request |
//! | `worker`, `in_file`, `file_cycle`, `service` | requests of one clone, in each of its files |
//! | `rate_clocks`, `queues` | arrivals: by a rate, or after completions and pauses |
//! | `fio_source`, `record` | one stream of all requests, and its record in the results |

mod draft;
mod file;
mod file_cycle;
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
mod values;
mod worker;

pub use file::{FioOptions, JobFile};
pub use fio_source::FioSource;
pub use record::{JobCounts, JobRecord};
