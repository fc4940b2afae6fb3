//! Finished run of an experiment as it is kept on disk: its summary and its files.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::File;
use crate::kept::{Bytes, Ended};
use crate::results::{Batch, Summary};
use crate::run::Outcome;

/// Files of a run. Each file is a pair of its name and its content.
type Files = Vec<(String, Bytes)>;

/// Finished run with its files. If the drive stopped, the reason is stored instead.
#[derive(Serialize, Deserialize)]
pub(super) struct RunRecord(Ended<(Box<Summary>, Option<Vec<Batch>>, Files)>);

impl RunRecord {
    /// Makes the record of a finished run from its outcome and files.
    pub(super) fn of(outcome: &Outcome, files: Vec<File>) -> Self {
        let files = files.into_iter().map(|(name, content)| (name, Bytes(content))).collect();
        let summary = &outcome.summary;
        Self(Ended::Done((Box::new(summary.clone()), summary.batches.clone(), files)))
    }

    /// Makes the record of a drive that stopped.
    pub(super) fn stopped(why: String) -> Self {
        Self(Ended::Stopped(why))
    }

    /// Returns the summary and the files of the run. If the drive stopped, the error has the
    /// reason.
    pub(super) fn into_parts(self) -> Result<(Summary, Vec<File>), Failure> {
        match self.0 {
            Ended::Done((summary, batches, files)) => {
                let files = files.into_iter().map(|(name, Bytes(content))| (name, content));
                Ok((Summary { batches, ..*summary }, files.collect()))
            }
            Ended::Stopped(why) => Err(Failure::stopped(why)),
        }
    }
}
