//! Integration tests of the oracle and of random drives. They are one program, which links once and
//! keeps all cores busy until its last test.

mod acceleration;
mod adversary;
mod deceived_counters;
mod density_extremes;
mod density_gears;
mod failures;
mod fluid;
mod recoding;
mod striped_starts;
mod swarm;
mod watched;
