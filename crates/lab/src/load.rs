//! Loading of drives and workloads by name or file. vpass finds the file, reads it, applies the
//! overrides, and checks the result. An error names the file and the line.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;
use toml::de::DeTable;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;
use vpass_techniques::resolve;
use vpass_workload::model::ModelFile;
use vpass_workload::nearest::nearest;
use vpass_workload::parts::PartsFile;
use vpass_workload::phases::PhasesFile;
use vpass_workload::presets as workloads;
use vpass_workload::synthetic::WorkloadFile;

use crate::failure::Failure;
use crate::keys::{self, Key, wrong};
use crate::lines::line_of;
use crate::overrides::{Override, make_room, oust_other_names, oust_rivals};
use crate::schema::{self, Section};
use crate::{counts, presets, suggest};

/// Configuration of a drive or a workload, and the text of the file from which it was read.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// Name of a preset or path of a file, as the user gave it.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// Configuration after the overrides have been applied.
    pub config: T,
}

/// Generated workload. Each kind of workload has its own table in the workload file.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Generated {
    /// Workload in which all requests are of one kind, in the table `[workload]`.
    Workload(WorkloadFile),
    /// Workload of several phases, in the tables `[[workload.phase]]`.
    Phases(PhasesFile),
    /// Workload of several parts, in the tables `[[workload.part]]`.
    Parts(PartsFile),
    /// Workload of a language model, in the table `[workload.model]`.
    Model(Box<ModelFile>),
}

impl Generated {
    /// Returns the text of the key `description` in the workload file.
    pub fn description(&self) -> &str {
        match self {
            Self::Workload(file) => &file.description,
            Self::Phases(file) => &file.description,
            Self::Parts(file) => &file.description,
            Self::Model(file) => &file.description,
        }
    }
}

/// Largest accepted size of a configuration file. A larger file cannot be a configuration.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Reads the arguments of `--set`.
///
/// # Errors
/// Returns an error if an argument is not of the form `KEY=VALUE`, or if a key is unknown.
pub fn overrides(texts: &[String]) -> Result<Vec<Override>, Failure> {
    texts.iter().map(|text| with_known_key(Override::parse(text)?, Opt::Set)).collect()
}

/// Returns the setting if its key is known. `place` is the option or the file that has the key.
fn with_known_key(set: Override, place: impl Into<Phrase>) -> Result<Override, Failure> {
    let schemas = [schema::DRIVE, schema::WORKLOAD, schema::MODEL];
    if set.table.is_empty() {
        let places = schema::places(&schemas, &set.key);
        let hint = if places.is_empty() {
            "for instance drive.capacity".into()
        } else {
            format!("did you mean {}?", suggest::any_of(&places))
        };
        return Err(Failure::usage("a key is TABLE.KEY").at(set.said).with_remedy(hint));
    }
    match schema::find(&schemas, &set.table, set.technique.as_deref(), &set.key) {
        Ok(_) => Ok(set),
        Err(unknown) => {
            let what = of_files_only(&set).unwrap_or_else(|| unknown.sentence(place));
            Err(Failure::usage(what).about(&set.said))
        }
    }
}

/// Checks a key and a value that a command will set later. `place` is the option or the file that
/// has the key.
///
/// # Errors
/// Returns an error if the key is unknown, or if a value of this type is never right for the key.
pub fn require_possible(key: &str, value: &str, place: &str) -> Result<(), Failure> {
    let set = Override::parse_at(&format!("{key}={value}"), &place.to_owned().into())?;
    let set = with_known_key(set, place.to_owned())?;
    let wrong = set.value.as_ref().and_then(|value| never_right(key, &set, value));
    wrong.map_or(Ok(()), |wrong| Err(wrong.at_place(place.to_owned())))
}

/// Returns the value of a setting as a wrong value if no kind of file takes a value of this type.
fn never_right(path: &str, set: &Override, value: &toml::Value) -> Option<wrong::Wrong> {
    let (inner, key) = (set.technique.as_deref(), set.key.as_str());
    let rest = inner.map_or_else(|| key.to_owned(), |inner| format!("{inner}.{key}"));
    if let Some(param) = keys::param(&set.table, &rest) {
        return wrong::in_param(path, param, value);
    }
    let tables = schema::ALL.into_iter().flatten().filter(|section| section.name == set.table);
    let mut first = None;
    for section in tables.filter_map(|of| inner.map_or(Some(of), |inner| of.inner(inner))) {
        if section.own_keys().contains(&key) {
            // Another kind of file may have the same key with another type.
            first = Some(first.unwrap_or(wrong::in_setting(path, section, key, value)?));
        }
    }
    first
}

/// Returns the reason why `--set` does not accept a key; `None` for an accepted key. Some tables,
/// such as `workload.stripes`, can only be set in files.
fn of_files_only(set: &Override) -> Option<Phrase> {
    let table = set
        .technique
        .as_ref()
        .map_or_else(|| set.table.clone(), |inner| format!("{}.{inner}", set.table));
    let of_table = |key: &Key| key.path.rsplit_once('.').is_some_and(|(of, _)| of == table);
    let known: Vec<Key> =
        keys::all().into_iter().filter(|key| !key.settable && of_table(key)).collect();
    let names: Vec<&str> =
        known.iter().filter_map(|key| Some(key.path.rsplit_once('.')?.1)).collect();
    let path = format!("{table}.{}", set.key);
    let what = if names.contains(&set.key.as_str()) {
        phrase![Opt::Set, " does not take `{path}`"]
    } else if set.technique.is_some() {
        let near = nearest(&set.key, names);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{table}.{near}`"));
        phrase!["unknown key `{path}` in ", Opt::Set, "{hint}"]
    } else {
        return None;
    };
    let file = known.first()?.file;
    Some(phrase![
        what,
        ": keys of `{table}` belong in {file} files only; `vpass show {file} NAME` prints a file \
         to start from",
    ])
}

/// Loads a drive. Values that the drive file does not contain are computed from the other values.
///
/// # Errors
/// Returns an error if the name is unknown, or if the file cannot be read. Also returns an error if
/// a key or a value is wrong, or if the values contradict each other.
pub fn drive(name: &str, sets: &[Override]) -> Result<Loaded<DriveConfig>, Failure> {
    let names = presets::DRIVES.map(|(name, _)| name);
    let text = text_of("drive", name, &names, presets::drive(name))?;
    drive_of(name, text, sets)
}

/// Loads a drive from the text of a drive file. Values that the text does not contain are computed
/// from the other values.
///
/// # Errors
/// Returns an error if a key or a value is wrong, or if the values contradict each other.
pub fn drive_of(
    name: &str,
    text: String,
    sets: &[Override],
) -> Result<Loaded<DriveConfig>, Failure> {
    let sets: Vec<_> = sets.iter().filter(|s| !s.is_of_workload()).cloned().collect();
    let plain = counts::expanded(name, &text, schema::DRIVE)?;
    let file = parse(name, &plain, schema::DRIVE)?;
    let mut table = file.clone();
    let resolved = file.try_into::<DriveConfig>().ok().and_then(|d| resolve(d).ok());
    make_room(&mut table, resolved.as_ref(), &sets);
    oust_other_names(&mut table, &sets);
    let config: DriveConfig = read(name, &plain, table, schema::DRIVE, &sets)?;
    let config = resolve(config).map_err(|e| Failure::usage(e).at(format!("drive {name}")))?;
    Ok(Loaded { name: name.into(), text, config })
}

/// Returns a note about the capacity if settings changed it without naming it.
pub(crate) fn resize_note(drive: &Loaded<DriveConfig>, sets: &[Override]) -> Option<String> {
    if sets.iter().any(|set| set.table == "drive" && set.key == "capacity") {
        return None;
    }
    let before = drive_of(&drive.name, drive.text.clone(), &[]).ok()?.config.drive.capacity?;
    let now = drive.config.drive.capacity.filter(|now| *now != before)?;
    Some(format!(
        "drive.capacity is {now} instead of the {before} of drive {}, because it follows from the \
         geometry that you set",
        drive.name
    ))
}

/// Loads the configuration of a workload that vpass generates. If `queue_depth` is given, it
/// replaces the queue depth in the workload file.
///
/// # Errors
/// Returns an error if the name is unknown, if the file cannot be read, or if a key or a value is
/// wrong.
pub fn workload(
    name: &str,
    sets: &[Override],
    queue_depth: Option<u32>,
) -> Result<Loaded<Generated>, Failure> {
    let names: Vec<_> = workloads::names().collect();
    let text = text_of("workload", name, &names, workloads::preset(name))?;
    workload_of(name, text, sets, queue_depth)
}

/// Loads the configuration of a workload that vpass generates, from the text of the workload file.
///
/// # Errors
/// Returns an error if a key or a value is wrong.
pub fn workload_of(
    name: &str,
    text: String,
    sets: &[Override],
    queue_depth: Option<u32>,
) -> Result<Loaded<Generated>, Failure> {
    let (kind, schema) = kind_of(&text);
    let plain = counts::expanded(name, &text, schema)?;
    let mut file = parse(name, &plain, schema)?;
    let mut sets: Vec<_> = sets.iter().filter(|s| s.is_of_workload()).cloned().collect();
    if let Some(depth) = queue_depth {
        sets.retain(|s| s.key != "queue_depth");
        let own = match kind {
            schema::MODEL_TABLE => Some("a model, whose rate is workload.model.tokens_per_second"),
            "part" => Some("parts, each with its own rate"),
            _ => None,
        };
        if let Some(own) = own {
            return Err(Failure::usage(format!("{name} holds {own}"))
                .at(Opt::QueueDepth.to(depth))
                .with_remedy(phrase!["leave out ", Opt::QueueDepth]));
        }
        sets.push(Override::queue_depth(depth));
    }
    oust_rivals(&mut file, &sets)?;
    let config = match kind {
        "phase" => Generated::Phases(read(name, &plain, file, schema, &sets)?),
        schema::MODEL_TABLE => Generated::Model(Box::new(read(name, &plain, file, schema, &sets)?)),
        "part" => Generated::Parts(read(name, &plain, file, schema, &sets)?),
        _ => Generated::Workload(read(name, &plain, file, schema, &sets)?),
    };
    Ok(Loaded { name: name.into(), text, config })
}

/// Returns the kind of a workload file, and the tables that such a file may have. The kind is the
/// key of `[workload]` that no other kind has, or empty. A file with invalid keys is accepted, too.
fn kind_of(text: &str) -> (&'static str, &'static [Section]) {
    let file = toml::from_str::<Table>(text).unwrap_or_default();
    let own = file.get("workload").and_then(toml::Value::as_table);
    let kinds =
        [("phase", schema::PHASES), (schema::MODEL_TABLE, schema::MODEL), ("part", schema::PARTS)];
    let has = |(key, _): &(&str, _)| own.is_some_and(|own| own.contains_key(*key));
    kinds.into_iter().find(has).unwrap_or(("", schema::WORKLOAD))
}

/// Returns the text of a preset, or the text of a file.
fn text_of(
    what: &str,
    name: &str,
    names: &[&str],
    preset: Option<&str>,
) -> Result<String, Failure> {
    if let Some(text) = preset {
        return Ok(text.into());
    }
    let path = Path::new(name);
    let looks_like_a_path = name.contains(['/', '\\']) || path.extension().is_some();
    if !path.exists() && !looks_like_a_path {
        let sentence = suggest::unknown(what, name, names.iter().copied());
        return Err(Failure::usage(format!("{sentence}; a TOML file is possible too"))
            .with_entry(what, name));
    }
    read_file(what, path)
}

/// Reads the text of a drive, workload, hint or sweep file.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, or is too large.
pub fn read_file(what: &str, path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |e| Failure::usage(format!("{what} file {name} cannot be read: {e}"));
    let about = fs::metadata(path).map_err(failed)?;
    // A pipe or a device such as /dev/zero may have no end, so vpass reads only regular files.
    if !about.is_file() && !about.is_dir() {
        return Err(Failure::usage(format!(
            "{name} is not a regular file; a {what} file, a few kilobytes of TOML, is expected"
        )));
    }
    if about.len() > MAX_FILE_BYTES {
        return Err(Failure::usage(format!(
            "{name} is larger than 4 MiB; a {what} file, a few kilobytes of TOML, is expected"
        )));
    }
    fs::read_to_string(path).map_err(failed)
}

/// Checks the keys of a file, and the type of each value. Returns the tables of the file.
fn parse(name: &str, text: &str, schema: &[Section]) -> Result<Table, Failure> {
    let document = DeTable::parse(text).map_err(|e| complaint(name, text, &e))?;
    if let Some((at, unknown)) = schema::unknown_key(schema, document.get_ref()) {
        return Err(unknown.in_file(format!("{name} line {}", line_of(text, at))));
    }
    if let Some(wrong) = wrong::in_document(schema, document.get_ref()) {
        let line = line_of(text, wrong.at);
        return Err(wrong.at_place(format!("{name} line {line}")));
    }
    toml::from_str(text).map_err(|e| complaint_of(schema, name, text, &e))
}

/// First words of the TOML reader's error message about a missing key.
const MISSING: &str = "missing field `";

/// Applies the overrides to the tables of a file, and reads the result. Each override is also
/// checked separately, so that an error message can name the wrong override.
fn read<T: DeserializeOwned>(
    name: &str,
    text: &str,
    mut table: Table,
    schema: &[Section],
    sets: &[Override],
) -> Result<T, Failure> {
    // For an error in the file itself, the error message gives the line. A required key that is
    // missing in the file is not an error if `--set` gives the key.
    let plain = toml::from_str::<T>(text);
    match plain {
        Ok(config) if sets.is_empty() => return Ok(config),
        Err(e) if sets.is_empty() || !e.message().starts_with(MISSING) => {
            return Err(complaint_of(schema, name, text, &e));
        }
        _ => {}
    }
    for set in sets {
        let section = schema.iter().find(|s| s.name == set.table).expect("its key was found");
        let value = set.value.as_ref().filter(|_| set.technique.is_none());
        let path = format!("{}.{}", set.table, set.key);
        let wrong = value.and_then(|value| wrong::in_setting(&path, section, &set.key, value));
        if let Some(wrong) = wrong {
            return Err(wrong.at_place(set.said.clone()));
        }
        set.apply(&mut table);
        if let Some(part) = table.get(&set.table).and_then(toml::Value::as_table)
            && let Err(e) = (section.check)(part.clone())
            && (set.value.is_none() && section.requires(&set.key)
                || !e.message().starts_with(MISSING))
        {
            return Err(said_by_reader(schema, &set.table, &e).at(set.said.clone()));
        }
    }
    table.try_into().map_err(|e: toml::de::Error| {
        said_by_reader(schema, "", &e).at(phrase!["{name} with ", Opt::Set])
    })
}

/// Returns the error message about a mistake in a file. The message gives the line of the mistake.
pub fn complaint(name: &str, text: &str, e: &toml::de::Error) -> Failure {
    complaint_of(&[], name, text, e)
}

/// Returns the error message about a mistake in a file. `schema` lists the keys that are allowed in
/// the file.
fn complaint_of(schema: &[Section], name: &str, text: &str, e: &toml::de::Error) -> Failure {
    let Some(span) = e.span() else { return said_by_reader(schema, "", e).at(name.to_owned()) };
    let failure = if e.message() == "duplicate key" {
        let key = text.get(span.clone()).map_or_else(String::new, |key| format!(" `{key}`"));
        Failure::usage(format!("duplicate key{key}"))
    } else {
        said_by_reader(schema, table_at(text, span.start).unwrap_or_default(), e)
    };
    failure.at(format!("{name} line {}", line_of(text, span.start)))
}

/// Returns the error message about an error that the TOML reader found. `header` is the header of
/// the table that contains the error.
fn said_by_reader(schema: &[Section], header: &str, e: &toml::de::Error) -> Failure {
    let table = header.trim_matches(['[', ']']).trim();
    let field = e.message().strip_prefix(MISSING).and_then(|rest| rest.strip_suffix('`'));
    let known = field.and_then(|field| wrong::missing(schema, table, field));
    known.or_else(|| unknown(table, e.message())).unwrap_or_else(|| {
        let which = if field.is_some() && !header.is_empty() {
            format!(" in {header}")
        } else {
            String::new()
        };
        Failure::usage(in_one_line(e.message()) + &which)
    })
}

/// Returns the error message about a key that the table `table` cannot have. Returns `None` if the
/// TOML reader's message is not about an unknown key.
fn unknown(table: &str, message: &str) -> Option<Failure> {
    let (key, known) = message.strip_prefix("unknown field `")?.split_once('`')?;
    let known: Vec<String> = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let whose =
        if table.is_empty() { "this file".into() } else { format!("[{table}] of this file") };
    let failure = Failure::usage(format!("{whose} cannot have the key `{key}`"));
    Some(match &known[..] {
        [] => failure,
        known => failure.with_remedy(format!("it can have {}", suggest::any_of(known))),
    })
}

/// Returns the header, such as `[geometry]`, of the table at the position `at` in the text.
fn table_at(text: &str, at: usize) -> Option<&str> {
    let end = text.get(at..)?.find('\n').map_or(text.len(), |length| at + length);
    let header =
        text[..end].lines().rev().map(str::trim_start).find(|line| line.starts_with('['))?;
    Some(&header[..=header.rfind(']')?])
}

/// Joins the lines of an error message into one line.
fn in_one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
