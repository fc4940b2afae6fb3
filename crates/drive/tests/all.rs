//! Integration tests of the drive. One program links once, and uses all cores until its last test.

mod common;

mod addresses;
mod cards;
mod closed_forms;
mod config;
mod conservation;
mod delayed_parity;
mod density;
mod device;
mod endurance;
mod failures;
mod gc_choice;
mod gears;
mod lifetime;
mod merged_stripes;
mod own_age;
mod parity;
mod pool;
mod program_unit;
mod reactive;
mod read_hot;
mod reads_off_flash;
mod recoding;
mod reference;
mod refresh;
mod rest;
mod retries;
mod schedule;
mod stages;
mod start;
mod start_state;
mod straw;
mod timing;
