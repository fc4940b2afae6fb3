//! Integration tests of workloads. They are one program, which links once and keeps all cores busy
//! to its end.

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
mod synthetic;
mod writing;
