//! Checks of a GC policy that was made at run time: every block that the policy picks must be
//! allowed.

use super::{Candidates, GcPolicy};
use crate::api::fault::{Fault, guarded};
use crate::base::units::BlockId;

/// Policy whose picks are checked.
pub(super) struct Checked {
    pub(super) technique: Box<dyn GcPolicy>,
    pub(super) name: &'static str,
}

const SLOT: &str = "gc";

impl GcPolicy for Checked {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        let Self { technique, name } = self;
        let picked = guarded(SLOT, name, "pick", || technique.pick(among))?;
        let is_listed =
            among.lists().any(|list| among.index.in_bucket(list).any(|(block, _)| block == picked));
        if !is_listed || !(among.allowed)(picked) {
            let what = format!(
                "the technique picked block {}, which may not be picked: a pick must be one of the \
                 allowed candidate blocks",
                picked.number()
            );
            Fault { slot: SLOT, technique: name, method: "pick", what }.end_run();
        }
        Some(picked)
    }
}
