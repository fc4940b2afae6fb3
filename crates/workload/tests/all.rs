//! Integration tests of workloads. They are one program, which links once and keeps all cores busy
//! to its end.

mod common;

mod compression;
mod corners;
mod errors;
mod fio_fuzz;
mod fio_jobs;
mod fio_real;
mod formats;
mod replay;
mod rows;
mod samples;
mod several;
mod synthetic;
mod writing;
