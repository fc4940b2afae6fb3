//! Integration tests of runs and lives. They are one program, which links once and keeps all cores
//! busy.

mod common;

mod by_value;
mod by_value_workloads;
mod doses;
mod estimate;
mod fluid;
mod fluid_hints;
mod fluid_sources;
mod life_by_hand;
mod life_consumed;
mod life_rungs;
mod life_samples;
mod models;
mod parts;
mod samples_of_whole;
mod verdicts;
mod waiting;
mod watchers;
