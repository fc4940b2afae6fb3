//! Reading of a trace from standard input, for `--trace -`.
//!
//! vpass reads a trace several times, so it first copies standard input into a temporary folder.
//! The folder is removed when the command ends.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::builder::{PathBufValueParser, TypedValueParser};

use vpass_workload::traces::show_as_standard_input;

use crate::progress::Unfinished;

/// File name on the command line that stands for standard input.
pub(crate) const DASH: &str = "-";

/// Copy of standard input; `None` if standard input was not read.
static COPY: Mutex<Option<Unfinished>> = Mutex::new(None);

/// Returns a parser for a command-line argument with the path of a trace. For the path `-`, the
/// parser copies standard input into a file and returns the path of this file.
pub(crate) fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(
        |path| {
            if path == Path::new(DASH) { copied() } else { Ok(path) }
        },
    )
}

/// Returns a parser like [`trace_file`], for a command that reads a trace more than once. The
/// parser refuses a pipe that is not `-`.
pub(crate) fn replayed_file() -> impl TypedValueParser<Value = PathBuf> {
    trace_file().try_map(|path| {
        let is_file = std::fs::metadata(&path).map_or(true, |of| of.is_file() || of.is_dir());
        if is_file { Ok(path) } else { Err(NOT_A_FILE) }
    })
}

/// Message about a pipe or a device as a trace.
const NOT_A_FILE: &str = "it is a pipe or a device; a trace is read more than once, so a file on a \
    disk is expected. `--trace -` reads a pipe from standard input";

/// Copies standard input into a file and returns the path of the file. Standard input can be copied
/// only once, so a second call returns an error.
fn copied() -> Result<PathBuf, String> {
    let mut copy = COPY.lock().map_err(|e| e.to_string())?;
    if copy.is_some() {
        return Err("standard input can hold only one trace; give `-` only once".into());
    }
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return Err("standard input is a terminal; pipe a trace into vpass".into());
    }
    let folder = tempfile::Builder::new()
        .prefix("vpass-")
        .tempdir()
        .map_err(|e| format!("a temporary folder for standard input cannot be made: {e}"))?
        .keep();
    let file = folder.join("stdin");
    show_as_standard_input(&file);
    let unfinished = Unfinished { place: file.clone(), temporary: folder, made: vec![] };
    unfinished.register();
    *copy = Some(unfinished);
    drop(copy);
    let copying = File::create(&file).and_then(|mut to| io::copy(&mut input, &mut to));
    copying.map_err(|e| format!("standard input cannot be copied to {}: {e}", file.display()))?;
    Ok(file)
}

/// Removes the copy of standard input, if it exists.
pub(crate) fn remove_copy() {
    if let Some(copy) = COPY.lock().ok().and_then(|mut copy| copy.take()) {
        copy.remove();
    }
}
