//! What each reclaim technique is combined with where several are compared: the techniques of the
//! other slots.

use clap::Args;
use vpass_core::slots::parity::NO_PARITY;
use vpass_lab::plan::{Chosen, RunPlan};

#[derive(Debug, Args)]
pub(crate) struct Combined {
    /// Garbage collection policies, separated by commas; each is combined with each reclaim
    /// technique.
    #[arg(long, value_delimiter = ',', default_value = "greedy", value_name = "NAME,..")]
    gc: Vec<String>,
    /// Refresh techniques, separated by commas (see `vpass list refresh`); each is combined with
    /// each of the others. Where absent, none or what the parity technique brings.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    refresh: Vec<String>,
    /// Parity techniques, separated by commas (see `vpass list parity`); each is combined with each
    /// of the others, on a drive of one capacity.
    #[arg(long, value_delimiter = ',', default_value = "none", value_name = "NAME,..")]
    parity: Vec<String>,
}

impl Combined {
    /// A reclaim technique beside every combination of a name of each list: GC, refresh where any
    /// is named, and parity, which changes first.
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

    /// How many that are.
    pub(crate) fn len(&self) -> usize {
        self.gc.len() * self.refresh.len().max(1) * self.parity.len()
    }

    /// The parity techniques.
    pub(crate) fn parities(&self) -> impl Iterator<Item = &str> {
        self.parity.iter().map(|name| name.trim())
    }

    /// "parity raid5, " where all have this one; nothing where they differ, which their labels say,
    /// or have none.
    pub(crate) fn of_one_parity(&self) -> String {
        let mut parities = self.parities();
        match (parities.next(), parities.next()) {
            (Some(parity), None) if parity != NO_PARITY => format!("parity {parity}, "),
            _ => String::new(),
        }
    }

    /// The technique of each slot of which several are compared, reclaim's in any case.
    pub(crate) fn label(&self, plan: &RunPlan) -> String {
        self.label_of(Chosen {
            reclaim: plan.reclaim,
            gc: plan.gc,
            refresh: Some(plan.refresh),
            parity: plan.parity,
        })
    }

    /// The label of techniques that need not go with a drive.
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
