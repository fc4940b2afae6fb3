//! Results on disk and on standard output. A folder appears whole or not at all: it is written beside its place under
//! another name and moved there at the end.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use serde::Serialize;
use serde_json::{Map, Value};
use vpass_core::flash::block::BlockState;

use crate::exit::Failure;
use crate::plan::Plan;
use crate::progress::{self, Unfinished};
use crate::results::{Simulation, Summary};
use crate::run::Outcome;

/// Prints to standard output. A reader that has seen enough (`vpass list | head`) is no failure.
///
/// # Errors
/// Standard output cannot be written to.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Says something to the user, beside the results.
pub(crate) fn say(text: &str) {
    // Nothing can be done where standard error is closed, and nothing needs to.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Says some sentences, a line each.
pub(crate) fn say_all(sentences: &[String]) {
    for sentence in sentences {
        say(&format!("vpass: {sentence}"));
    }
}

/// JSON with indents and a newline at the end.
///
/// # Errors
/// A value that has no JSON.
pub(crate) fn json(what: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(what).map_err(Failure::failed)?;
    Ok(text + "\n")
}

/// Anything of ours as a JSON value.
pub(crate) fn to_value(what: &impl Serialize) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(what).map_err(Failure::failed)
}

/// Keys of a summary that two runs of the same seed do not share.
const TIMING: [&str; 3] = ["wall_s", "requests_per_s", "peak_rss_bytes"];

/// A results folder that is being written.
pub(crate) struct Folder {
    place: PathBuf,
    unfinished: Unfinished,
    finished: bool,
}

impl Folder {
    /// Makes sure that the folder can be written.
    ///
    /// # Errors
    /// Something is there already, or the place cannot be written to.
    pub(crate) fn begin(place: &Path) -> Result<Self, Failure> {
        // Behind a link: what is moved to its place at the end cannot take that of a link.
        let behind = fs::canonicalize(place).ok().filter(|_| place.is_symlink());
        let place = behind.as_deref().unwrap_or(place);
        let name = place.file_name().ok_or_else(|| Failure::usage(format!("--out {}: this names no folder", place.display())))?;
        refuse_existing(place)?;
        let parent = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made: Vec<_> = parent.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists()).map(Path::to_owned).collect();
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".unfinished-{}", std::process::id()));
        let unfinished = Unfinished { temporary: parent.join(hidden), place: place.to_owned(), made };
        unfinished.register();
        let folder = Self { place: place.to_owned(), unfinished, finished: false };
        let io_failure = |e: io::Error| Failure::usage(format!("--out {} cannot be written: {e}", place.display()));
        fs::create_dir_all(parent).map_err(io_failure)?;
        fs::create_dir(&folder.unfinished.temporary).map_err(io_failure)?;
        folder.probe().map_err(io_failure)?;
        Ok(folder)
    }

    /// Where to write in the meantime.
    pub(crate) fn path(&self) -> &Path {
        &self.unfinished.temporary
    }

    /// Does with an empty folder what will be done with the results: a place that cannot be taken costs no run.
    fn probe(&self) -> io::Result<()> {
        if self.place.is_dir() {
            self.take_place()?;
            fs::create_dir(self.path())?;
        }
        Ok(())
    }

    fn take_place(&self) -> io::Result<()> {
        if self.place.is_dir() {
            fs::remove_dir(&self.place)?;
        }
        fs::rename(self.path(), &self.place)
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// Something has appeared there meanwhile; the results stay where they were written.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        // From here on the folder is whole, and so it stays.
        self.finished = true;
        self.unfinished.keep();
        let moved = refuse_existing(&self.place).and_then(|()| self.take_place().map_err(|e| failure(&self.place, &e)));
        moved.map_err(|e| Failure::failed(format!("{}; the results are in {}", e.sentence, self.path().display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.finished {
            self.unfinished.remove();
        }
    }
}

fn refuse_existing(place: &Path) -> Result<(), Failure> {
    let what = match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Ok(false) => "is not empty",
        Err(e) if e.kind() == io::ErrorKind::NotFound && place.is_symlink() => "is a link to nothing",
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && !place.exists() => "lies below a file",
        Err(_) => "exists and is no folder that could be read",
    };
    Err(Failure::usage(format!("--out {} {what}; a new or empty folder is expected", place.display())))
}

/// Writes the files of one run into a folder that exists.
///
/// # Errors
/// The disk's.
pub(crate) fn write_run(folder: &Path, plan: &Plan, outcome: &Outcome, command: &'static str) -> Result<(), Failure> {
    write_summary(folder, &outcome.summary)?;
    write_file(folder, "manifest.json", json(&outcome.manifest(plan, command)?)?.as_bytes())?;
    write_file(folder, "blocks.csv", blocks_csv(outcome).as_bytes())?;
    write_file(folder, "series.csv", outcome.series.csv().as_bytes())?;
    if let Some(engine) = &outcome.engine {
        let m = engine.metrics();
        let seconds = engine.last_completion() as f64 / 1e9;
        for (name, latency) in [("read", &m.read), ("write", &m.write), ("read_during_reclaim", &m.read_during_reclaim)] {
            if latency.count() > 0 {
                write_file(folder, &format!("{name}.hlog"), &histogram_log(name, &latency.histogram(), seconds)?)?;
            }
        }
    }
    Ok(())
}

/// Writes a summary, and apart from it what two runs of the same seed do not share, so that folders can be compared byte by byte.
fn write_summary(folder: &Path, summary: &Summary) -> Result<(), Failure> {
    let simulation = Simulation { wall_s: None, requests_per_s: None, peak_rss_bytes: None, ..summary.simulation.clone() };
    let timeless = Summary { simulation, ..summary.clone() };
    write_file(folder, "summary.json", json(&timeless)?.as_bytes())?;
    write_timing(folder, &mut to_value(summary)?)
}

/// Writes `timing.json`: what of these results two runs of the same seed do not share, each at its place. It is null in them then.
///
/// # Errors
/// The disk's.
pub(crate) fn write_timing(folder: &Path, results: &mut Value) -> Result<(), Failure> {
    let timing = take_timing(results).unwrap_or_else(|| Map::new().into());
    write_file(folder, "timing.json", json(&timing)?.as_bytes())
}

fn take_timing(results: &mut Value) -> Option<Value> {
    match results {
        Value::Object(map) => {
            let of_key = |(key, value): (&String, &mut Value)| {
                let taken = if TIMING.contains(&key.as_str()) { Some(value.take()) } else { take_timing(value) };
                taken.map(|taken| (key.clone(), taken))
            };
            let taken: Map<String, Value> = map.iter_mut().filter_map(of_key).collect();
            (!taken.is_empty()).then_some(Value::Object(taken))
        }
        Value::Array(values) => {
            let taken: Vec<Option<Value>> = values.iter_mut().map(take_timing).collect();
            taken.iter().any(Option::is_some).then(|| taken.into_iter().map(Option::unwrap_or_default).collect())
        }
        _ => None,
    }
}

/// Makes a folder within one of [`Folder`].
///
/// # Errors
/// The disk's.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir(path).map_err(|e| failure(path, &e))
}

/// Writes one file.
///
/// # Errors
/// The disk's.
pub(crate) fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|e| failure(&path, &e))
}

/// The user knows the place, not what it is called until then.
fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("{} cannot be written: {e}", progress::place_of(path).display()))
}

/// The standard `HdrHistogram` log: one interval, the whole run; values in ns, their maximum printed in ms.
fn histogram_log(name: &str, histogram: &Histogram<u64>, seconds: f64) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![];
    let mut serializer = V2DeflateSerializer::new();
    let failed = |e: String| Failure::failed(format!("{name}.hlog: {e}"));
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&format!("vpass {}: {name} latencies in nanoseconds; times in simulated seconds", env!("CARGO_PKG_VERSION")))
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(|e| failed(e.to_string()))?;
    let duration = std::time::Duration::from_secs_f64(seconds);
    log.write_histogram(histogram, std::time::Duration::ZERO, duration, None).map_err(|e| failed(format!("{e:?}")))?;
    Ok(bytes)
}

fn blocks_csv(outcome: &Outcome) -> String {
    use std::fmt::Write;
    let geometry = outcome.drive.geometry();
    let mut csv = String::from("block,die,plane,state,pec_cycles,effective_pec_cycles,reads_dose_units,valid_pages,written_pages\n");
    for (block, row) in (0..).zip(outcome.drive.block_states()) {
        let state = match row.state {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
        };
        let _ = writeln!(
            csv,
            "{block},{},{},{state},{},{},{},{},{}",
            geometry.die_of(block),
            geometry.plane_of(block),
            row.pec,
            row.effective_milli as f64 / 1e3,
            row.reads,
            row.valid,
            row.written
        );
    }
    csv
}
