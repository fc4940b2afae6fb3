//! Tests of live drives with clients, over nbdkit. A test is skipped if a program that it needs is
//! missing.

#[path = "all/client.rs"]
mod client;
#[path = "all/ends.rs"]
mod ends;
#[path = "all/fsx.rs"]
mod fsx;
#[path = "all/places.rs"]
mod places;
#[path = "all/programs.rs"]
mod programs;
#[path = "all/served.rs"]
mod served;
