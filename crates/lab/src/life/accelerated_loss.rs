//! Losses of data under techniques that guarantee to lose no data. In an accelerated life, a loss
//! may be an effect of acceleration.
//!
//! If each erase counts as K cycles, the most worn blocks may exceed the rated P/E cycles long
//! before the drive is worn out. Read limits beyond the rated P/E cycles are not known. A loss in
//! an accelerated life is therefore no evidence against the technique, and the years of the life
//! are not valid. Only a life with a smaller K can give valid years.

use std::num::NonZeroU32;

use vpass_drive::api::card::Protection;

use super::Lived;
use crate::plan::RunPlan;

/// Returns the acceleration K of an accelerated life that lost data although the technique
/// guarantees to lose no data. K is the number of P/E cycles for which each erase counts. Returns
/// `None` for all other lives.
pub(super) fn of(plan: &RunPlan, lived: &Lived) -> Option<NonZeroU32> {
    let is_sound = plan.reclaim.protects == Protection::Sound;
    let is_accelerated = lived.accelerated_from.is_some() && lived.acceleration.get() > 1;
    (is_sound && is_accelerated && lived.data_lost_pages > 0).then_some(lived.acceleration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::tests::lived;
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Gear, Named, Setup};

    #[test]
    fn only_accelerated_losses_of_sound_techniques_count() {
        let set = vec!["workload.rate=1000".into()];
        let base = Base { gear: Gear::Fluid, set, ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("zipf-read".into()));
        let plan = |reclaim| {
            RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap()
        };
        let k = NonZeroU32::new(100).unwrap();
        let lost = Lived {
            acceleration: k,
            accelerated_from: Some(9.0),
            data_lost_pages: 3,
            ..lived(1.0)
        };
        assert_eq!(of(&plan("block"), &lost), Some(k));
        assert_eq!(of(&plan("none"), &lost), None, "it guarantees nothing");
        let kept = Lived { data_lost_pages: 0, ..lost.clone() };
        assert_eq!(of(&plan("block"), &kept), None);
        let in_warm_up = Lived { accelerated_from: None, ..lost };
        assert_eq!(of(&plan("block"), &in_warm_up), None, "without acceleration a loss is real");
    }
}
