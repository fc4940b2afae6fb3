//! Techniques for garbage collection, refresh and parity. A comparison combines them with each
//! reclaim technique.

use clap::Args;
use vpass_drive::api::parity::NO_PARITY;
use vpass_lab::plan::{Chosen, RunPlan};

#[derive(Debug, Args)]
pub(crate) struct Combined {
    /// Garbage collection policies, separated by commas. Each policy runs with each reclaim
    /// technique.
    #[arg(long, value_delimiter = ',', default_value = "greedy", value_name = "NAME,..")]
    gc: Vec<String>,
    /// Refresh techniques, separated by commas (see `vpass list refresh`). Each refresh technique
    /// runs with each reclaim, GC and parity technique. Default: the refresh technique that the
    /// parity technique includes, if any; otherwise none.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    refresh: Vec<String>,
    /// Parity techniques, separated by commas (see `vpass list parity`). Each parity technique runs
    /// with each reclaim, GC and refresh technique, on a drive of the same capacity.
    #[arg(long, value_delimiter = ',', default_value = "none", value_name = "NAME,..")]
    parity: Vec<String>,
}

impl Combined {
    /// Returns all combinations of this reclaim technique with the chosen GC, refresh and parity
    /// techniques. The innermost loop is over the parity techniques. If the user names no refresh
    /// technique, `refresh` is `None`.
    pub(crate) fn with<'a>(&'a self, reclaim: &'a str) -> Vec<Chosen<'a>> {
        let named: Vec<Option<&str>> = self.refresh.iter().map(|name| Some(name.trim())).collect();
        let refreshes = if named.is_empty() { vec![None] } else { named };
        let mut all = vec![];
        for gc in self.gc.iter().map(|name| name.trim()) {
            for refresh in &refreshes {
                all.extend(self.parities().map(|parity| Chosen {
                    reclaim,
                    gc,
                    refresh: *refresh,
                    parity,
                }));
            }
        }
        all
    }

    /// Returns the number of combinations of a GC, a refresh and a parity technique.
    pub(crate) fn len(&self) -> usize {
        self.gc.len() * self.refresh.len().max(1) * self.parity.len()
    }

    /// Returns the names of the parity techniques.
    pub(crate) fn parities(&self) -> impl Iterator<Item = &str> {
        self.parity.iter().map(|name| name.trim())
    }

    /// Returns a text such as "parity raid5, " if all runs use the parity technique raid5. The text
    /// is empty without parity. With several parity techniques, the text is empty too, because each
    /// row is labelled with a parity technique.
    pub(crate) fn of_one_parity(&self) -> String {
        let mut parities = self.parities();
        match (parities.next(), parities.next()) {
            (Some(parity), None) if parity != NO_PARITY => format!("parity {parity}, "),
            _ => String::new(),
        }
    }

    /// Returns the label of a plan, which begins with the reclaim technique. The label includes the
    /// GC technique only if the comparison has several GC techniques. The same rule holds for
    /// refresh and for parity.
    pub(crate) fn label(&self, plan: &RunPlan) -> String {
        self.label_of(plan.chosen())
    }

    /// Returns the label of these techniques, even if the drive cannot run the techniques.
    pub(crate) fn label_of(&self, named: Chosen) -> String {
        let others = [
            (self.gc.len(), Some(named.gc)),
            (self.refresh.len(), named.refresh),
            (self.parity.len(), Some(named.parity)),
        ];
        let others =
            others.into_iter().filter(|(count, _)| *count > 1).filter_map(|(_, name)| name);
        others.fold(named.reclaim.to_owned(), |label, name| format!("{label} + {name}"))
    }
}
