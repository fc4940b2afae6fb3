//! The command as its users meet it: exit codes, messages, files and numbers.

mod attack;
mod basics;
mod common;
mod compare;
mod config;
mod csv;
mod docs;
mod failures;
mod files;
mod fio;
mod life;
mod limits;
mod paper;
mod paper_da_raid5;
mod paper_spans;
mod parity_words;
mod reads_first;
mod results;
mod samples;
mod stages_of_life;
mod tired;
mod trace_files;
mod traces;
mod units;
mod workload;
mod years;
