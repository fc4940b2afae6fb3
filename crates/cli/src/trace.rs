//! `vpass trace`: what is in a trace, and traces made from traces.

pub(crate) mod args;
mod blocks;
mod convert;
mod cut;
mod duration;
mod info;
mod picture;
mod render;
mod rewrite;

use std::path::Path;

use vpass_workload::traces::{MissingClock, ReadOptions, Row, Skipped, TraceFile, format_named};

use crate::exit::Failure;
use crate::numbers::plural;
use crate::out;
use crate::progress::Progress;
use args::{ReadArgs, TraceCommand};

/// Runs one of them.
pub(crate) fn run(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Info(args) => info::info(args),
        TraceCommand::Convert(args) => convert::convert(args),
        TraceCommand::Cut(args) => cut::cut(args),
    }
}

/// How files are read. A trace without a clock is taken as one at which all requests come at once, unless `needs_clock`.
fn read_options(args: &ReadArgs, needs_clock: bool) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        format: args.format.as_deref().map(format_named).transpose()?,
        assume_op: args.assume_op.map(Into::into),
        clock: match args.assume_rate {
            Some(iops) => MissingClock::Rate(iops),
            None if needs_clock => MissingClock::Refuse,
            None => MissingClock::Ignore,
        },
        blk_action: args.blk_action.map(Into::into),
        skip_bad_lines: args.skip_bad_lines,
    })
}

/// Rows between two looks at the clock and at Ctrl-C.
const ROWS_AT_ONCE: u64 = 4096;

/// Does something with each row until that says stop; gives what was skipped.
fn for_each_row(
    file: &mut TraceFile,
    progress: &Progress,
    mut work: impl FnMut(&TraceFile, &Row) -> Result<Go, Failure>,
) -> Result<Skipped, Failure> {
    let mut rows = 0u64;
    while let Some(row) = file.next_row()? {
        if let Go::Stop = work(file, &row)? {
            break;
        }
        rows += 1;
        if rows.is_multiple_of(ROWS_AT_ONCE) && !progress.advance(ROWS_AT_ONCE) {
            return Err(Failure::interrupted());
        }
    }
    if progress.may_go_on() { Ok(file.skipped().clone()) } else { Err(Failure::interrupted()) }
}

/// Whether more rows are wanted.
enum Go {
    On,
    Stop,
}

/// Says which lines were passed over.
fn say_skipped(path: &Path, skipped: &Skipped) {
    if let Some(first) = &skipped.first {
        let lines = plural(skipped.count, "line");
        out::say(&format!("vpass: {}: {lines} could not be read and were passed over, the first: {first}", path.display()));
    }
}
