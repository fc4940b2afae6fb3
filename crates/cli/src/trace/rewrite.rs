//! Writer that copies rows of a trace into another trace. The writer chooses the output form. In
//! one sentence, the writer reports everything that the conversion lost.

use std::path::{Path, PathBuf};
use vpass_workload::traces::shown;

use vpass_drive::base::request::Op;
use vpass_lab::failure::Failure;
use vpass_lab::numbers::{count, plural};
use vpass_workload::traces::{
    Compressed, Epoch, Losses, Target, TraceEvent, TraceFile, TraceRow, TraceWriter, WriteError,
};

use super::args::WriteArgs;
use crate::out;
use crate::out_file::OutFile;
use crate::stdin;

/// Output trace that is being written.
pub(super) struct Rewrite {
    path: PathBuf,
    target: Target,
    writer: TraceWriter<Compressed<OutFile>>,
    skip_trims: bool,
    skipped_trims: u64,
    /// Number of flushes and failures in the input, and how many of them were written.
    events: u64,
    written_events: u64,
}

/// Returns the form of the output trace. The user names the form, or the ending of the output file
/// gives it.
///
/// # Errors
/// Returns an error if neither the user nor the ending of the file names a form, or if the file is
/// `-`.
pub(super) fn target(path: &Path, named: Option<Target>, option: &str) -> Result<Target, Failure> {
    if path == Path::new(stdin::DASH) {
        return Err(Failure::usage(
            "OUT is `-`, but a trace is written only to a file; give the name of a file, such as \
             out.vpt (for a file with the name `-`, give ./-)",
        ));
    }
    named.or_else(|| Target::of_path(path)).ok_or_else(|| {
        Failure::usage(format!(
            "{}: unknown ending; .vpt (compact) or .csv (msr) is expected, or {option} compact or \
             msr",
            path.display()
        ))
    })
}

impl Rewrite {
    /// Begins the output trace. `clock` is the origin of the times in its rows.
    pub(super) fn begin(
        path: &Path,
        target: Target,
        clock: Epoch,
        args: &WriteArgs,
    ) -> Result<Self, Failure> {
        let out = OutFile::begin(path, args.force)?;
        let out = Compressed::new(path, out).map_err(|e| unwritable(path, &e))?;
        Ok(Self {
            path: path.to_owned(),
            target,
            writer: TraceWriter::new(target, out, clock),
            skip_trims: args.skip_trims,
            skipped_trims: 0,
            events: 0,
            written_events: 0,
        })
    }

    /// Tells the writer that the following rows come from another input file.
    pub(super) fn begin_file(&mut self) {
        self.writer.begin_file();
    }

    /// Writes a row to the output trace. The row was read from the trace file `file`, which also
    /// knows the name of the row's device.
    pub(super) fn row(&mut self, row: &TraceRow, file: &TraceFile) -> Result<(), Failure> {
        self.flushes(file)?;
        if self.skip_trims && row.op == Op::Trim {
            self.skipped_trims += 1;
            return Ok(());
        }
        self.writer.row(row, |device| file.device_name(device)).map_err(|e| match e {
            WriteError::Io(e) => unwritable(&self.path, &e),
            WriteError::Unwritable(what) => {
                let hint = if row.op == Op::Trim {
                    "; --skip-trims leaves trims out; the compact form keeps trims"
                } else {
                    ""
                };
                Failure::usage(format!(
                    "{}, {}: the row {what}{hint}",
                    shown(file.path()),
                    file.place()
                ))
            }
        })
    }

    /// Writes the flushes before the current row of a file, or those at its end.
    fn flushes(&mut self, file: &TraceFile) -> Result<(), Failure> {
        let is_flush = |event: &&TraceEvent| matches!(event, TraceEvent::Flush(_));
        file.events().iter().filter(is_flush).try_for_each(|event| self.event(event))
    }

    fn event(&mut self, event: &TraceEvent) -> Result<(), Failure> {
        let written = self.writer.event(event).map_err(|e| unwritable(&self.path, &e))?;
        self.written_events += u64::from(written);
        Ok(())
    }

    /// Counts the events of a file that was read, and reports those that were not written.
    pub(super) fn count_events(&mut self, file: &TraceFile) {
        self.events += file.flushes() + file.failures().len() as u64;
    }

    /// Ends the rows of a file. If the output is a `copy` of this file, it has the file's failures.
    pub(super) fn end_file(&mut self, file: &TraceFile, copy: bool) -> Result<(), Failure> {
        if let Some(end) = file.ends_at() {
            self.writer.end_at(end);
        }
        self.count_events(file);
        self.flushes(file)?;
        // Failures before a request are right only if all requests are there.
        let failures = if copy && !self.skip_trims { file.failures() } else { &[] };
        failures.iter().try_for_each(|failure| self.event(&TraceEvent::Failure(*failure)))
    }

    /// Returns the number of rows written.
    pub(super) fn rows(&self) -> u64 {
        self.writer.rows()
    }

    /// Ends the output trace, renames it to its final path, and reports the result.
    ///
    /// # Errors
    /// Returns an error if no row was written, or if the disk cannot be written.
    pub(super) fn finish(self, nothing: &str) -> Result<(), Failure> {
        let Self { path, target, writer, skipped_trims, events, written_events, .. } = self;
        let rows = writer.rows();
        if rows == 0 {
            return Err(Failure::usage(nothing.to_owned()));
        }
        let failed = |e: std::io::Error| unwritable(&path, &e);
        let (out, losses) = writer.finish().map_err(failed)?;
        out.finish().map_err(failed)?.finish()?;
        let size = std::fs::metadata(&path).map_err(failed)?.len();
        let mut sentence = format!(
            "{}: {rows} in {form} form, {} bytes",
            path.display(),
            count(size),
            rows = plural(rows, "row"),
            form = target.name()
        );
        for loss in losses_in_words(losses, skipped_trims, events - written_events) {
            sentence.push_str("; ");
            sentence.push_str(&loss);
        }
        out::say(&sentence);
        Ok(())
    }
}

fn unwritable(path: &Path, e: &std::io::Error) -> Failure {
    Failure::failed(format!("{} cannot be written: {e}", path.display()))
}

fn losses_in_words(losses: Losses, skipped_trims: u64, skipped_events: u64) -> Vec<String> {
    let mut words = vec![];
    if losses.rounded > 0 {
        words.push(format!(
            "this output form stores times in steps of {} ns, so {n_were} rounded down",
            losses.time_unit_ns,
            n_were = count(losses.rounded) + if losses.rounded == 1 { " was" } else { " were" }
        ));
    }
    if skipped_trims > 0 {
        words.push(format!("{} left out", plural(skipped_trims, "trim")));
    }
    if skipped_events > 0 {
        words.push(format!("{} left out (flushes or failures)", plural(skipped_events, "event")));
    }
    words
}
