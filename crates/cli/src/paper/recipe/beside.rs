//! `[[trace]]`: a real trace that stands beside generated workloads. It takes the place of none of
//! them, and no mean counts it.

use serde::Deserialize;
use vpass_lab::failure::Failure;
use vpass_workload::synthetic::WorkloadConfig;

use super::{NamedWorkload, Recipe};

/// A trace that a user may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealTrace {
    name: String,
    /// File names, without endings.
    files: Vec<String>,
    /// The generated workloads; each group that runs one of them runs the trace as well, where its
    /// files are there.
    beside: Vec<String>,
    /// Other values for keys of the drive, under this trace.
    #[serde(default)]
    set: Vec<String>,
}

impl Recipe {
    /// Its traces as workloads, behind the generated ones.
    ///
    /// # Errors
    /// A name that is taken, a workload that nobody knows, or a group in which nothing can be
    /// replayed.
    pub(super) fn with_traces(mut self) -> Result<Self, Failure> {
        for RealTrace { name, files, beside, set } in std::mem::take(&mut self.beside) {
            let wrong = |what: &str| Err(Failure::usage(format!("trace {name}: {what}")));
            if self.workloads.iter().any(|known| known.name == name) {
                return wrong("a workload or trace has this name already; another one is expected");
            }
            if files.is_empty() || beside.is_empty() {
                return wrong(
                    "at least one name of `files` and one workload of `beside` are expected",
                );
            }
            beside.iter().try_for_each(|of| self.check_workload(of))?;
            let is_beside = |of: &&NamedWorkload| beside.contains(&of.name);
            for group in
                self.groups.iter().filter(|group| group.periods.is_some() || group.span.is_some())
            {
                if self.generated_of(group)?.iter().any(is_beside) {
                    return wrong(&format!(
                        "group {} goes by days and not by requests; a workload of another group is \
                         expected",
                        group.name
                    ));
                }
            }
            let config = WorkloadConfig::default();
            self.workloads.push(NamedWorkload {
                name,
                config,
                set,
                traces: files,
                passes: None,
                warm_up_passes: None,
                beside,
            });
        }
        Ok(self)
    }
}
