//! Integration tests of workloads, in one program: one link, and all cores are busy until the last test.

mod common;

mod compression;
mod corners;
mod fio_fuzz;
mod fio_jobs;
mod fio_messages;
mod fio_real;
mod format_messages;
mod formats;
mod messages;
mod replay;
mod samples;
mod several;
mod statistics;
mod statistics_messages;
mod synthetic;
mod writing;
