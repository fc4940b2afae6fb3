//! Table `[[trace]]` of a recipe: a real trace that runs beside generated workloads. Such a trace
//! does not replace a workload, and is left out of averages.
use serde::Deserialize;
use vpass_workload::synthetic::WorkloadConfig;

use super::{NamedWorkload, Recipe};
use crate::failure::Failure;

/// Real trace that runs if the user has its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealTrace {
    name: String,
    /// Names of the trace's files, without endings.
    files: Vec<String>,
    /// Names of generated workloads. A group that runs one of these workloads also runs the trace,
    /// if the trace's files are found.
    beside: Vec<String>,
    /// Values for keys of the drive. The values apply only to runs of this trace.
    #[serde(default)]
    set: Vec<String>,
}

impl Recipe {
    /// Adds the recipe's traces at the end of the list of workloads.
    ///
    /// # Errors
    /// Returns an error if a trace's name is already used, if a workload is unknown, or if a group
    /// cannot replay a trace.
    pub(super) fn with_traces(mut self) -> Result<Self, Failure> {
        for RealTrace { name, files, beside, set } in std::mem::take(&mut self.beside) {
            let wrong = |what: &str| Err(Failure::usage(format!("trace {name}: {what}")));
            if self.workloads.iter().any(|known| known.name == name) {
                return wrong(
                    "a workload or trace already has this name; another name is expected",
                );
            }
            if files.is_empty() || beside.is_empty() {
                return wrong("`files` and `beside` must each have at least one name");
            }
            beside.iter().try_for_each(|of| self.check_workload(of))?;
            let is_beside = |of: &&NamedWorkload| beside.contains(&of.name);
            for group in
                self.groups.iter().filter(|group| group.periods.is_some() || group.span.is_some())
            {
                if self.generated_of(group)?.iter().any(is_beside) {
                    return wrong(&format!(
                        "group {} has `periods` or a `span` and cannot replay a trace; name a \
                         workload of another group",
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
