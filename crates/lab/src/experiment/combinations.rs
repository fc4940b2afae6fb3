//! Combinations of reclaim, GC, refresh and parity techniques that an experiment runs.

use vpass_drive::api::parity::{NO_PARITY, Parity};
use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_techniques::{all, named};

use crate::compare;
use crate::plan::Chosen;

/// Names of techniques. An experiment runs each combination of them.
#[derive(Clone, Debug, Default)]
pub struct Combinations {
    /// Read-reclaim techniques. If the list is empty, all techniques run.
    pub reclaim: Vec<String>,
    /// Garbage collection policies.
    pub gc: Vec<String>,
    /// Refresh techniques. If the list is empty, the parity technique determines the refresh.
    pub refresh: Vec<String>,
    /// Parity techniques.
    pub parity: Vec<String>,
}

impl Combinations {
    /// Returns all combinations. The innermost loop is over the parity techniques. A parity
    /// technique that includes a reclaim technique runs only with it, unless reclaim techniques are
    /// named.
    pub fn all(&self) -> Vec<Chosen<'_>> {
        let named: Vec<Option<&str>> = self.refresh.iter().map(|name| Some(&**name)).collect();
        let refreshes = if named.is_empty() { vec![None] } else { named };
        let mut all = vec![];
        for reclaim in self.reclaims() {
            for gc in &self.gc {
                for refresh in &refreshes {
                    let parities = self.parity.iter().filter(|parity| self.suits(reclaim, parity));
                    let chosen = |parity| Chosen { reclaim, gc, refresh: *refresh, parity };
                    all.extend(parities.map(|parity| chosen(&**parity)));
                }
            }
        }
        all
    }

    /// Returns the first combination, without parity.
    pub(super) fn first(&self) -> Chosen<'_> {
        Chosen { parity: NO_PARITY, ..self.all()[0] }
    }

    fn reclaims(&self) -> Vec<&str> {
        if self.reclaim.is_empty() {
            return all().reclaim.iter().map(|technique| technique.name).collect();
        }
        self.reclaim.iter().map(|name| &**name).collect()
    }

    /// Returns whether a combination of these two techniques runs.
    fn suits(&self, reclaim: &str, parity: &str) -> bool {
        let parts = named::<dyn Parity>(parity).and_then(|card| card.parts.as_ref());
        let own = parts.filter(|_| self.reclaim.is_empty()).map(|parts| parts.reclaim);
        own.is_none_or(|own| *own == *reclaim)
    }

    /// Returns whether a combination that does not suit the settings is left out without a row. The
    /// user did not name the reclaim technique, and the combination without it `runs`.
    pub(super) fn may_leave_out(&self, named: Chosen, runs: impl Fn(Chosen) -> bool) -> bool {
        self.reclaim.is_empty() && runs(Chosen { reclaim: NO_RECLAIM, ..named })
    }

    /// Returns the label of these techniques, which begins with the reclaim technique. The label
    /// includes the GC technique only if there are several GC techniques. The same rule holds for
    /// refresh and for parity.
    pub fn label(&self, named: Chosen) -> String {
        let others = [
            (self.gc.len(), Some(named.gc)),
            (self.refresh.len(), named.refresh),
            (self.parity.len(), Some(named.parity)),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 1);
        compare::label(named.reclaim, others.filter_map(|(_, name)| name))
    }

    /// Returns a text such as "parity raid5, " if all runs use the parity technique raid5. The text
    /// is empty without parity. With several parity techniques, the text is empty too, because each
    /// row is labelled with a parity technique.
    pub fn of_one_parity(&self) -> String {
        match &self.parity[..] {
            [parity] if *parity != NO_PARITY => format!("parity {parity}, "),
            _ => String::new(),
        }
    }
}
