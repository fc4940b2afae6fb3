//! Reads unchanged job files of fio(1), and makes the requests that fio would send to a drive. The
//! main types are [`JobFile`] and [`FioSource`].
//!
//! The code follows the manual page of fio 3.33. For details that are not in the manual page, the
//! code follows the behaviour of fio 3.33. The test `tests/fio_real.rs` compares vpass with fio if
//! fio is installed.
//!
//! vpass ignores options that affect only the host, and lists these options. An option that would
//! change the workload in an unsupported way stops the run, and the error names the option.
//!
//! | file | what it does |
//! |---|---|
//! | `grammar` | splits the text of a job file into sections and options |
//! | `options` | options of fio that do not describe the workload |
//! | `values` | parses bytes, times and shares |
//! | `draft`, `job` | options of a section: collected, then checked |
//! | `file` | whole job file, checked against the gear |
//! | `layout` | positions of the jobs' files on the drive |
//! | `sizes`, `skew`, `random_map` | size and address of each request |
//! | `worker`, `in_file` | requests of one clone in each of its files |
//! | `rate_clocks`, `queues` | times of requests: from a rate, or after completions |
//! | `fio_source`, `record` | one stream of all requests, and its record in the results |

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
mod sizes;
mod skew;
mod values;
mod worker;

pub use file::{FioOptions, JobFile};
pub use fio_source::FioSource;
pub use record::{JobCounts, JobRecord};
