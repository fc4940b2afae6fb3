//! `vpass trace`: describes traces, converts traces to another format, and writes parts of traces.

pub(crate) mod args;
mod blocks;
mod convert;
mod cut;
mod duration;
mod info;
mod rewrite;
mod times;

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use vpass_drive::base::phrase::Phrase;
use vpass_workload::traces::shown;

use vpass_lab::failure::Failure;
use vpass_lab::numbers::plural;
use vpass_lab::progress::Progress;
use vpass_workload::traces::{
    Format, MissingClock, Oddities, Skipped, TimeUnit, TraceFile, TraceOptions, TraceRow, doubts,
};

use crate::dialect;
use crate::out;
use crate::progress::Bar;
use args::{ReadArgs, TraceCommand};

/// Runs a subcommand of `vpass trace`.
pub(crate) fn run(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Info(args) => info::info(args),
        TraceCommand::Convert(args) => convert::convert(args),
        TraceCommand::Cut(args) => cut::cut(args),
    }
}

/// Returns the options for reading trace files. If a trace has no times and the user gives no rate,
/// all its requests get the same time. With `needs_clock`, such a trace is refused.
fn read_options(args: &ReadArgs, needs_clock: bool) -> Result<TraceOptions, Failure> {
    Ok(TraceOptions {
        format: Format::chosen(args.format.as_deref(), args.columns.as_deref())?,
        assume_op: args.assume_op,
        clock: match args.assume_rate {
            Some(iops) => MissingClock::Rate(iops),
            None if needs_clock => MissingClock::Refuse,
            None => MissingClock::Ignore,
        },
        blk_action: args.blk_action,
        time_unit: args.time_unit,
        skip_bad_lines: args.skip_bad_lines,
        ..TraceOptions::default()
    })
}

/// Number of trace rows between two checks for Ctrl-C.
const ROWS_AT_ONCE: u64 = 4096;

/// Makes a progress bar for reading trace files. If the sizes of all files are known, the bar shows
/// the percentage of bytes that have been read.
fn progress_over(paths: &[PathBuf]) -> Bar {
    let size = |path: &PathBuf| fs::metadata(path).ok().filter(Metadata::is_file).map(|m| m.len());
    Bar::new(paths.iter().map(size).sum(), "bytes")
}

/// Facts about the rows that were read from a trace file.
#[derive(Default)]
struct Seen {
    skipped: Skipped,
    rows: u64,
    earliest_ns: Option<u64>,
    latest_ns: u64,
    oddities: Oddities,
}

impl Seen {
    /// Returns warnings about a trace file: times or sizes were probably read wrongly, or some
    /// events were ignored.
    fn doubts(&self, file: &TraceFile, said: Option<TimeUnit>) -> Vec<Phrase> {
        let span_ns = self.latest_ns.saturating_sub(self.earliest_ns.unwrap_or(0));
        let (path, format) = (shown(file.path()), file.format());
        let found = [
            doubts(&path, format, said, self.rows, span_ns),
            self.oddities.of_clock(&path),
            self.oddities.of_sizes(&path, format),
        ];
        found.into_iter().flatten().chain(file.note()).collect()
    }
}

/// Passes each row of a trace to `work`, until `work` returns [`Go::Stop`]. Returns facts about the
/// rows that were read.
fn for_each_row(
    file: &mut TraceFile,
    progress: &dyn Progress,
    mut work: impl FnMut(&TraceFile, &TraceRow) -> Result<Go, Failure>,
) -> Result<Seen, Failure> {
    let (mut seen, mut bytes) = (Seen::default(), 0);
    while file.advance()? {
        let at_ns = file.row().at_ns;
        seen.earliest_ns = Some(seen.earliest_ns.map_or(at_ns, |earliest| earliest.min(at_ns)));
        seen.latest_ns = seen.latest_ns.max(at_ns);
        seen.rows += 1;
        seen.oddities.add(file.row());
        if let Go::Stop = work(file, file.row())? {
            break;
        }
        if seen.rows.is_multiple_of(ROWS_AT_ONCE) {
            let read = file.bytes_read();
            if !progress.advance(read - bytes) {
                return Err(Failure::interrupted());
            }
            bytes = read;
        }
    }
    seen.skipped = file.skipped().clone();
    if progress.advance(file.bytes_read() - bytes) { Ok(seen) } else { Err(Failure::interrupted()) }
}

/// Decision whether to read more rows of a trace.
enum Go {
    On,
    Stop,
}

/// Prints how many lines of a trace file were skipped.
fn say_skipped(path: &Path, skipped: &Skipped) {
    if let Some(first) = &skipped.first {
        let lines = plural(skipped.count, "line");
        out::say(&format!(
            "vpass: {}: skipped {lines} that cannot be read; the first: {}",
            shown(path),
            dialect::words(first)
        ));
    }
}
