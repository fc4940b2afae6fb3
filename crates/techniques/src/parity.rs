//! Parity inside the drive: the list of parity techniques. Each technique has its own file.

mod da_raid5;
mod hc;
mod none;
mod pe_aware;
mod ppc;
mod raid5;
mod udl;

use vpass_drive::api::parity::{
    Change, Covering, Equation, Parity, ParityTechnique, REBUILD, Renewal, STRIPE,
};

/// All parity techniques of this crate.
pub(crate) const LIST: &[ParityTechnique] =
    &[none::CARD, udl::CARD, raid5::CARD, ppc::CARD, hc::CARD, pe_aware::CARD, da_raid5::CARD];

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::parity::drive;
    use vpass_drive::config::{ByWear, Number};

    const DRIVE: &str = r#"
        geometry = { channels = 9, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }
        timing = { sense_us = 400, program_us = 1600, erase_us = 1500, channel_mb_s = 0 }
        drive = { spare = 0.4 }
        disturb = { model = "count" }
        error = { model = "bch" }
        ecc = { codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }
        bch = { target = "stripe" }
        parity = { t_p = 9 }
    "#;

    /// Only `raid5` keeps the parity of all stripes on flash, so only `raid5` raises the limits of
    /// stripes.
    #[test]
    fn parity_that_may_be_late_or_missing_raises_no_limits() {
        let config = crate::testing::config(DRIVE);
        let limit = |technique: &ParityTechnique| {
            drive(config.clone(), technique).disturb.table[0].limit[0]
        };
        for technique in LIST {
            let is_raised = limit(technique) > limit(&none::CARD);
            assert_eq!(is_raised, technique.name == "raid5", "{technique}");
        }
    }

    #[test]
    fn the_worn_blocks_of_pe_aware_are_those_above_t_p() {
        let mut config = crate::testing::config(DRIVE);
        for as_printed in [false, true] {
            let published = Number::Whole(as_printed.into());
            config.parity.params.set(Some("pe-aware"), "published", published);
            let by_wear = pe_aware::CARD.make(&config, 0).by_wear();
            assert_eq!(by_wear, Some(ByWear { above: 9, as_printed, queue: 64, last: None }));
        }
    }
}
