//! Finished run of a comparison: the summary for the table, and the files for the results folder.

use std::path::Path;

use serde::{Deserialize, Serialize};
use vpass_lab::failure::Failure;
use vpass_lab::files::File;
use vpass_lab::kept::{Bytes, Ended};
use vpass_lab::results::{Batch, Summary};
use vpass_lab::run::Outcome;

use crate::out;

/// Files of a run. Each file is a pair of its name and its content.
type Files = Vec<(String, Bytes)>;

/// Finished run with its files. If the drive stopped, the reason is stored instead.
#[derive(Serialize, Deserialize)]
pub(crate) struct Row(pub(super) Ended<(Box<Summary>, Vec<Batch>, Files)>);

impl Row {
    /// Makes the row of a finished run from its outcome and files.
    pub(crate) fn of(outcome: &Outcome, files: Vec<File>) -> Self {
        let files = files.into_iter().map(|(name, content)| (name, Bytes(content))).collect();
        let summary = &outcome.summary;
        Self(Ended::Done((Box::new(summary.clone()), summary.batches.clone(), files)))
    }

    /// Makes the row of a drive that stopped.
    pub(crate) fn stopped(why: String) -> Self {
        Self(Ended::Stopped(why))
    }

    /// Writes the files of the run into a subfolder with this name, and returns the summary. If the
    /// drive stopped, the inner `Err` has the reason.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written. A stopped drive is not an error.
    pub(crate) fn put_into(
        self,
        folder: Option<&Path>,
        name: &str,
    ) -> Result<Result<Summary, Failure>, Failure> {
        let (summary, batches, files) = match self.0 {
            Ended::Done(done) => done,
            Ended::Stopped(why) => return Ok(Err(Failure::stopped(why))),
        };
        if let Some(folder) = folder {
            let folder = folder.join(name);
            out::make_folder(&folder)?;
            out::write_files(&folder, files.into_iter().map(|(name, content)| (name, content.0)))?;
        }
        Ok(Ok(Summary { batches, ..*summary }))
    }
}
