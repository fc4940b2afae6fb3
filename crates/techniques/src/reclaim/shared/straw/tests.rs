//! Tests of the common check of the straw-2024 techniques.

use super::{Budget, DoseEstimate, Straw};
use crate::{card, usual};
use vpass_drive::api::reclaim::Policy;
use vpass_drive::base::dose::{Alpha, Dose};
use vpass_drive::base::units::{BlockId, Lpn};
use vpass_drive::drive::{Drive, Techniques};

/// Creates a full drive under a technique with this estimate. `skips` says whether checks at which
/// no wordline can be due are skipped.
pub(crate) fn drive<E: DoseEstimate + 'static>(text: &str, name: &str, skips: bool) -> Drive {
    let config = crate::testing::config(text);
    let drive =
        Drive::new(config.clone(), &Techniques { reclaim: card(name), ..usual() }, false).unwrap();
    let card = card::<dyn Policy>(name);
    let straw = Straw::<E> { skips, ..Straw::new(&card.args(&config), &config) };
    let mut drive = drive.interpose(|_| Box::new(straw));
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Returns the file of a drive with one die, alpha 9, and blocks of one-page wordlines that endure
/// `limit`. `reclaim` has the keys of its `[reclaim]` table. Jobs run at once, unless these keys set
/// the schedule or the reads during a job.
pub(crate) fn one_page_wordlines(wordlines: u32, limit: u32, reclaim: &str) -> String {
    let waits = reclaim.contains("late_reads") || reclaim.contains("schedule");
    let at_once = if waits { "" } else { "reclaim.schedule = \"foreground\"" };
    let keys = reclaim.split(", ").filter(|key| !key.is_empty());
    let reclaim = keys.fold(String::new(), |text, key| text + "reclaim." + key + "\n");
    format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = {wordlines}, cell = "slc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.5 }}
        disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [{limit}], alpha = [9.0] }}] }}
        {at_once}
        {reclaim}
    "#
    )
}

/// Returns the budget of wordlines that may all have a dose of `keep` units.
pub(crate) fn budget(wordlines: u32, alpha: u32, keep: u32) -> Budget {
    let (all, alpha) = (wordlines as usize, Alpha::ONE * alpha);
    Budget {
        keep: vec![Dose::UNIT * keep; all],
        alpha: vec![alpha; all],
        gain: vec![Dose::ZERO; all],
        highest_alpha: alpha,
        fresh: Dose::ZERO,
    }
}

/// Returns the bounds that a new estimate computes for all wordlines, in whole dose units.
pub(crate) fn bounds<E: DoseEstimate>(drive: &mut Drive, block: BlockId, alpha: u32) -> Vec<i64> {
    // The arguments come from this technique, because it has the parameters of all estimates in
    // these tests.
    let card = card::<dyn Policy>("straw-ss");
    let mut estimate = E::new(&card.args(drive.config()), drive.config());
    bounds_of(&mut estimate, drive, block, alpha)
}

/// Returns the bounds that an existing estimate computes for all wordlines, in whole dose units.
pub(crate) fn bounds_of<E: DoseEstimate>(
    estimate: &mut E,
    drive: &mut Drive,
    block: BlockId,
    alpha: u32,
) -> Vec<i64> {
    let wordlines = drive.geometry().wordlines_per_block;
    let mut margins = vec![Dose::ZERO; wordlines as usize];
    estimate.margins(
        &drive.view(block),
        block,
        &budget(wordlines, alpha, 0),
        Dose::ZERO,
        &mut margins,
    );
    margins.iter().map(|m| (Dose::ZERO - *m).in_1024ths() / 1024).collect()
}

/// Serves reads that are skewed towards low pages, and some writes, with and without skipping. The
/// moves must be equal, and skipping must need fewer checks.
pub(crate) fn looks_left_out_find_nothing<E: DoseEstimate + 'static>(technique: &str) {
    let text = r#"
        geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 10, wordlines_per_block = 24, cell = "tlc", page_size = "16KiB", neighbour_stride = 2 }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.4, write_buffer = "128KiB" }
        reclaim = { check_interval = 16, counters = 6 }
        [disturb]
        model = "wordline"
        dose = "sensings"
        preprogram_weight = 0.5
        groups = ["good", "bad"]
        table = [{ pec = 0, limit = [4000, 2500], alpha = [8.0, 9.0] }, { pec = 40, limit = [3500, 2000], alpha = [8.5, 9.5] }]
    "#;
    let run = |skips| {
        let mut drive = drive::<E>(text, technique, skips);
        let pages = u64::from(drive.geometry().host_pages);
        let mut random = 0u64;
        for _ in 0..1_500_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
            let page = (unit * unit * unit * pages as f64) as u32;
            if (random >> 32).is_multiple_of(64) {
                drive.write_page(Lpn::new(page), u64::MAX);
            } else {
                drive.read_pages(&[Lpn::new(page)]);
            }
        }
        assert_eq!(drive.lost_pages(), 0);
        (*drive.flash_counts(), drive.reclaim_counts().pages_copied, drive.reclaim_counts().alarms)
    };
    let (counts, copied, looks) = run(true);
    let (every_counts, every_copied, every_look) = run(false);
    assert_eq!((counts, copied), (every_counts, every_copied));
    assert!(
        copied > 10_000 && looks * 5 < every_look * 4,
        "{copied} pages copied, {looks} looks of {every_look}"
    );
}
