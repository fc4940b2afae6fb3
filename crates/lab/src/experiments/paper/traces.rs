//! Real traces for the workloads of a recipe. vpass searches the user's folder for files with the
//! names that the recipe lists.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vpass_drive::base::phrase::Opt;
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;
use vpass_workload::traces::{Fit, Survey, TraceOptions};

use super::recipe::{NamedWorkload, Recipe};
use crate::failure::Failure;
use crate::plan::{self, Workload};
use crate::progress::Begin;

/// Endings that the names of trace files may have.
const ENDINGS: [&str; 9] = ["gz", "zst", "zstd", "csv", "spc", "txt", "vpt", "ascii", "trace"];

/// Real traces that were found in the folder, each with the name of its workload.
#[derive(Default)]
pub(super) struct Traces(Vec<Found>);

struct Found {
    workload: String,
    is_beside: bool,
    survey: Arc<Survey>,
}

impl Traces {
    /// Searches a folder for traces of the recipe's workloads.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read or has no trace for the recipe's workloads.
    /// Also returns an error if a trace is invalid.
    pub(super) fn find(recipe: &Recipe, folder: &Path, begin: Begin) -> Result<Self, Failure> {
        let place = || phrase![Opt::Traces.to(folder.display())];
        let unreadable = |e| Failure::usage(format!("the folder cannot be read: {e}")).at(place());
        let mut files: Vec<PathBuf> = vec![];
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            files.push(entry.map_err(unreadable)?.path());
        }
        files.sort();
        let mut found = vec![];
        for workload in &recipe.workloads {
            let is_of_it = |path: &&PathBuf| {
                stem(path).is_some_and(|stem| {
                    workload.traces.iter().any(|name| name.to_lowercase() == stem)
                })
            };
            let paths: Vec<PathBuf> = files.iter().filter(is_of_it).cloned().collect();
            if !paths.is_empty() {
                let survey = Arc::new(plan::survey(&paths, &options(Fit::Error), begin)?);
                found.push(Found {
                    workload: workload.name.clone(),
                    is_beside: workload.is_beside(),
                    survey,
                });
            }
        }
        if found.is_empty() {
            let names: Vec<&str> =
                recipe.workloads.iter().flat_map(|w| &w.traces).map(String::as_str).collect();
            let known = if names.is_empty() {
                "this recipe names none".into()
            } else {
                format!("names known: {}", names.join(", "))
            };
            let none = format!("no trace of this recipe is in the folder ({known})");
            return Err(Failure::usage(none).at(place()));
        }
        Ok(Self(found))
    }

    /// Returns the trace that was found for a workload.
    pub(super) fn of(&self, workload: &NamedWorkload) -> Option<&Arc<Survey>> {
        self.0.iter().find(|found| found.workload == workload.name).map(|found| &found.survey)
    }

    /// Returns a text about the sources of the requests. The text lists the real traces that
    /// replace workloads or run beside them. Without traces, the text is "every workload is
    /// generated".
    pub(super) fn in_words(&self) -> String {
        let all = |is_beside: bool| {
            let found = self.0.iter().filter(|found| found.is_beside == is_beside);
            let words = found.map(|of| {
                format!(
                    "{} ({})",
                    of.workload,
                    crate::numbers::plural(of.survey.files().len() as u64, "file")
                )
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let beside = match all(true).as_str() {
            "" => String::new(),
            all => format!(
                "; these real traces ran beside the generated workloads and are not part of the \
                 means: {all}"
            ),
        };
        match all(false).as_str() {
            "" => format!("every workload is generated{beside}"),
            all => format!("real traces: {all}; the other workloads are generated{beside}"),
        }
    }
}

/// Returns a workload that replays a trace on a drive. If the trace has addresses beyond the end of
/// the drive, all addresses are scaled down.
pub(super) fn replayed(survey: Arc<Survey>, drive: &DriveConfig) -> Workload {
    let fits = drive.drive.capacity.is_some_and(|capacity| survey.space() <= capacity.0);
    Workload::Trace { survey, options: options(if fits { Fit::Error } else { Fit::Scale }) }
}

fn options(fit: Fit) -> TraceOptions {
    TraceOptions { fit, ..TraceOptions::default() }
}

/// Returns the name of a file in lower case, without endings for format and compression.
fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let mut stem = name.as_str();
    while let Some((rest, ending)) = stem.rsplit_once('.')
        && ENDINGS.contains(&ending)
    {
        stem = rest;
    }
    Some(stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_however_it_is_packed() {
        for (name, expected) in [
            ("src1_2.csv.gz", "src1_2"),
            ("WebSearch1.spc", "websearch1"),
            ("hm_0.vpt", "hm_0"),
            ("a.b", "a.b"),
            (".csv", ""),
        ] {
            assert_eq!(stem(Path::new(name)).as_deref(), Some(expected));
        }
    }
}
