//! Parser of a sweep file. The file has options of `vpass compare`, and the values of the swept
//! keys.

use std::path::Path;

use clap::Parser;
use serde::Deserialize;
use toml::{Table, Value};
use vpass_lab::compare::sweep::Swept;
use vpass_lab::failure::Failure;
use vpass_lab::load::{complaint, read_file};

use super::axis::{Axis, grid};
use crate::args::CompareArgs;

/// Options of `vpass compare` that a sweep file cannot set, because they belong to the command
/// line.
const OF_COMMAND: [&str; 9] =
    ["out", "html", "force", "json", "csv", "markdown", "fresh", "threads", "sweep"];

/// Content of a sweep file.
#[derive(Deserialize)]
struct SweepFile {
    #[serde(default)]
    #[expect(dead_code, reason = "for readers of the file")]
    description: String,
    /// Table `[set]`: keys that have the same value at all points.
    #[serde(default)]
    set: Table,
    /// Table `[sweep]`: swept keys, each with its list of values.
    #[serde(default)]
    sweep: Table,
    /// Top-level keys that name options of `vpass compare`.
    #[serde(flatten)]
    options: Table,
}

/// Options of a comparison, parsed like those of a command line.
#[derive(Parser)]
#[command(name = "options", no_binary_name = true)]
struct Words {
    #[command(flatten)]
    args: CompareArgs,
}

/// Reads a sweep file. Returns the options of the comparisons, and the points of the sweep.
///
/// # Errors
/// Returns an error if the file cannot be read, has an invalid option, or has no swept key.
pub(super) fn read(path: &Path) -> Result<(CompareArgs, Vec<Swept>), Failure> {
    let name = path.display().to_string();
    let text = read_file("sweep", path)?;
    let file: SweepFile = toml::from_str(&text).map_err(|e| complaint(&name, &text, &e))?;
    let wrong = |what: String| Failure::usage(format!("{name}: {what}"));
    let mut words = vec![];
    for (key, value) in &file.options {
        if OF_COMMAND.contains(&key.as_str()) {
            return Err(wrong(format!("`{key}` is expected on the command line, not in the file")));
        }
        words.extend(words_of(key, value).map_err(&wrong)?);
    }
    for (key, value) in flat(&file.set) {
        words.extend(["--set".into(), format!("{key}={value}")]);
    }
    let parsed = Words::try_parse_from(&words);
    let args = parsed.map_err(|e| wrong(said(&e)))?.args;
    Ok((args, points(&file).map_err(wrong)?))
}

/// Returns clap's error message about a wrong option. The message becomes one line, and ends with a
/// note on how a sweep file names options.
fn said(e: &clap::Error) -> String {
    let text = e.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage"));
    let all: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let line = all.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line).to_owned();
    format!("{line} (the option --some-name of vpass compare is the key some_name in this file)")
}

/// Returns the command-line arguments that stand for an option of the file.
fn words_of(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let option = format!("--{}", key.replace('_', "-"));
    Ok(match value {
        Value::Boolean(true) => vec![option],
        Value::Boolean(false) => vec![],
        Value::Array(all) if key == "trace" || key == "only" => {
            all.iter().flat_map(|one| [option.clone(), plain(one)]).collect()
        }
        Value::Array(all) => {
            vec![option, all.iter().map(plain).collect::<Vec<_>>().join(",")]
        }
        Value::Table(_) if key == "draw" => {
            return Err("[draw] is not supported; list the values in [sweep], or draw points in \
                        Python with vpass.draws"
                .into());
        }
        Value::Table(_) => {
            return Err(format!("[{key}] is not known; [set] or [sweep] is expected"));
        }
        one => vec![option, plain(one)],
    })
}

/// Returns a TOML value as a command-line argument. The quotes around a string are left out.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns all keys of a table with their values. A key in a nested table gets the name of the
/// nested table in front, as in `start.pec`.
fn flat(table: &Table) -> Vec<(String, String)> {
    let of = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => {
            flat(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)).collect()
        }
        value => vec![(key.clone(), plain(value))],
    };
    table.iter().flat_map(of).collect()
}

/// Returns all points of a sweep file: each combination of the values in its lists.
fn points(file: &SweepFile) -> Result<Vec<Swept>, String> {
    let mut axes = vec![];
    for (key, value) in lists(&file.sweep) {
        let Value::Array(all) = value else {
            return Err(format!("[sweep] {key}: a list of values is expected"));
        };
        if all.is_empty() {
            return Err(format!(
                "[sweep] {key}: the list is empty; at least one value is expected"
            ));
        }
        axes.push(Axis { key, values: all.iter().map(plain).collect() });
    }
    if axes.is_empty() {
        return Err("the file names no key to sweep; [sweep] with lists is expected".into());
    }
    Ok(grid(&axes))
}

/// Returns the keys of a table, each with a list of values. Keys have their full names, such as
/// `start.pec`.
fn lists(table: &Table) -> Vec<(String, Value)> {
    let of = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => {
            lists(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)).collect()
        }
        value => vec![(key.clone(), value.clone())],
    };
    table.iter().flat_map(of).collect()
}
