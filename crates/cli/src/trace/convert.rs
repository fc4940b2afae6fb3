//! `vpass trace convert`: joins trace files one after the other, and writes one trace in another
//! format.

use std::fs;
use vpass_workload::traces::shown;

use vpass_lab::failure::Failure;
use vpass_workload::traces::{Epoch, TraceFile};

use super::args::ConvertArgs;
use super::rewrite::{self, Rewrite};
use super::{Go, for_each_row, progress_over, read_options, say_skipped};
use crate::out;

/// Reads all input traces and writes one output trace.
pub(super) fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    let target = rewrite::target(&args.out, args.to, "--to")?;
    let options = read_options(&args.read, true)?;
    for input in &args.inputs {
        // All file names are checked before any trace is read. The check opens no file, because a
        // pipe can be opened only once.
        fs::metadata(input)
            .map_err(|e| Failure::usage(format!("{}: cannot be opened: {e}", shown(input))))?;
    }
    let progress = progress_over(&args.inputs);
    let mut output: Option<(Rewrite, Epoch)> = None;
    let (mut skipped, mut doubts) = (vec![], vec![]);
    for input in &args.inputs {
        let mut file = TraceFile::open(input, &options)?;
        let mut begun = false;
        let seen = for_each_row(&mut file, &progress, |file, row| {
            if output.is_none() {
                output = Some((
                    Rewrite::begin(&args.out, target, file.clock(), &args.write)?,
                    file.clock(),
                ));
            }
            let (output, clock) = output.as_mut().expect("the output was begun");
            if !begun {
                check_clock(&args.inputs[0], *clock, file)?;
                output.begin_file();
                begun = true;
            }
            output.row(row, file)?;
            Ok(Go::On)
        })?;
        if let Some((output, _)) = &mut output {
            output.end_file(&file, args.inputs.len() == 1)?;
        }
        doubts.extend(seen.doubts(&file, options.time_unit));
        skipped.push((input, seen.skipped));
    }
    drop(progress);
    for (input, skipped) in skipped {
        say_skipped(input, &skipped);
    }
    out::say_all(&doubts);
    let (output, _) = output.expect("a trace without rows was refused before");
    output.finish("the input holds only trims; no trace was written")
}

/// Checks that a trace file counts time from the same kind of origin as the first file: a date, or
/// the start of the recording.
fn check_clock(first: &std::path::Path, clock: Epoch, file: &TraceFile) -> Result<(), Failure> {
    if file.clock() == clock {
        return Ok(());
    }
    let from =
        |clock| if clock == Epoch::Absolute { "a date" } else { "the start of the recording" };
    Err(Failure::usage(format!(
        "{one} counts time from {its_start}, but {other} counts time from {other_start}; convert \
         these files one by one",
        one = shown(first),
        its_start = from(clock),
        other = shown(file.path()),
        other_start = from(file.clock())
    )))
}
