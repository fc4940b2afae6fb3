//! Error model that is in no list and has no table of limits. The drive uses it like its own
//! models, and refuses techniques that need a table.

use crate::common;

use common::{config, dies};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::units::{Cause, Lpn, PageInBlock, WordlineInBlock};
use vpass_drive::disturb::{Assessment, BlockView, Counts, ErrorModel};
use vpass_drive::drive::{Drive, Techniques};
use vpass_techniques::{all, card, usual};

/// Model in which every read of a block disturbs its data. A page decodes at once up to 100 reads,
/// and with one retry up to 200.
struct Plain;

const AT_ONCE: u32 = 100;

fn reads(count: u32) -> Quarters {
    Quarters::from_count(count * Quarters::UNIT.count())
}

impl ErrorModel for Plain {
    fn assess(&self, block: &BlockView) -> Assessment {
        if block.reads > reads(AT_ONCE) {
            Assessment::Suspect
        } else {
            Assessment::CleanUntil(reads(AT_ONCE))
        }
    }

    fn weighed_dose(&self, counts: &Counts, _alpha: Alpha) -> Dose {
        counts.reads.far()
    }

    fn limit(&self, _block: &BlockView, _page: PageInBlock, retries: u8) -> Dose {
        reads(AT_ONCE * (1 + u32::from(retries))).far()
    }

    fn max_retries(&self) -> u8 {
        1
    }

    fn base_at_program(&self, _block: &BlockView, _wordline: WordlineInBlock) -> Quarters {
        Quarters::ZERO
    }
}

fn drive(reclaim: &str) -> Result<Drive, vpass_drive::config::ConfigError> {
    let timing = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800";
    // The limit in the table is for models with a table: a single read.
    let text = dies(
        1,
        "slc",
        timing,
        "drive = { spare = 0.25 }\ndisturb = { model = \"count\", table = [{ pec = 0, limit = [1.0] }] }",
    );
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive = Drive::with_error_model(config(&text), Box::new(Plain), &techniques, false)?;
    drive.precondition(1);
    drive.begin_measurement();
    Ok(drive)
}

/// Data with doses of 0 to 100 decodes at once: 101 reads. From 101 on, a read is sensed twice, so
/// 101, 103, .. 199 are fifty more reads. A dose of 201 is above the limit.
#[test]
fn a_model_without_a_table_is_asked_at_each_read_of_tired_data() {
    let mut drive = drive("none").unwrap();
    let sensed = |drive: &Drive, cause| drive.flash_counts().reads[cause as usize];
    (0..101).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
    assert_eq!((sensed(&drive, Cause::Retry), drive.uncorrectable_reads()), (0, 0));
    (0..50).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
    assert_eq!((sensed(&drive, Cause::Retry), drive.uncorrectable_reads()), (50, 0));
    drive.read_pages(&[Lpn::new(0)]);
    assert_eq!(
        (sensed(&drive, Cause::Host), drive.uncorrectable_reads(), drive.lost_pages()),
        (152, 1, 1)
    );
}

#[test]
fn techniques_that_go_by_a_table_are_refused() {
    // Techniques that need retries are left out: by this drive's own tables, no read takes a retry.
    for card in all().reclaim.iter().filter(|card| !card.needs.retries) {
        let said = drive(card.name).err().map(|said| said.to_string());
        assert_eq!(said.is_some(), card.needs.limits, "{}: {said:?}", card.name);
        let sentence = format!(
            "`{}` needs a table of limits, but this drive's error model has none",
            card.name
        );
        assert!(said.is_none_or(|said| said.starts_with(&sentence)), "{}", card.name);
    }
}
