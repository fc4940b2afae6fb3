//! Arithmetic of doses, checked by hand on four wordlines and against the definition on random
//! events.

use proptest::prelude::*;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::{DisturbConfig, DisturbModel, DoseUnit, PerPec};
use vpass_drive::watch::observer::{Event, Observer, PhysRead};

use crate::common::{Scene, UNIT, config, wordline_model};

impl Scene {
    /// Returns the doses of the first wordlines from block 0 on, in dose units.
    fn doses(&self, wordlines: u32) -> Vec<f64> {
        (0..wordlines).map(|w| self.truth(w * 3).unwrap().0 as f64 / UNIT as f64).collect()
    }

    /// Reads the LSB page of a wordline of block 0, whose pages hold lpn = ppn.
    fn read_wordline(&mut self, wordline: u32, times: u32) {
        for _ in 0..times {
            self.read(wordline * 3, wordline * 3);
        }
    }
}

#[test]
fn neighbours_take_alpha_the_rest_one_and_the_wordline_itself_nothing() {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    s.read_wordline(1, 2);
    assert_eq!(s.doses(4), [18.0, 0.0, 18.0, 2.0]);
    s.read_wordline(0, 1);
    assert_eq!(s.doses(4), [18.0, 9.0, 19.0, 3.0]);
    s.read_wordline(3, 1);
    assert_eq!(s.doses(4), [19.0, 10.0, 28.0, 3.0]);
    s.clean();
}

#[test]
fn blocks_do_not_disturb_each_other() {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    s.write(12, 12..24);
    s.read(12, 12); // the first wordline of block 1, numbered next to the last one of block 0
    assert_eq!(s.doses(8), [0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 1.0, 1.0]);
    s.read(11, 11);
    assert_eq!(s.doses(8), [1.0, 1.0, 9.0, 0.0, 0.0, 9.0, 1.0, 1.0]);
    s.clean();
}

#[test]
fn a_wordline_starts_with_its_first_page() {
    let mut s = Scene::tiny();
    s.write(0, 0..3);
    s.read_wordline(0, 5);
    s.write(3, 3..4); // wordline 1 begins here ..
    s.read_wordline(0, 1);
    s.write(4, 4..6); // .. and its later pages change nothing
    assert_eq!(s.doses(2), [0.0, 9.0]);
    s.read_wordline(1, 1);
    s.write(6, 6..9); // wordline 2: the read of its neighbour before does not count
    assert_eq!(s.doses(3), [9.0, 9.0, 0.0]);
    s.read_wordline(1, 1);
    assert_eq!(s.doses(3), [18.0, 9.0, 9.0]);
    s.clean();
}

#[test]
fn reads_before_programming_count_their_weight() {
    let disturb = DisturbConfig { preprogram_weight: 0.5, ..wordline_model(1000.0, 9.0) };
    let mut s = Scene::new(&config(4, 4, disturb));
    s.write(0, 0..6);
    s.read_wordline(0, 2);
    s.read_wordline(1, 4);
    s.write(6, 6..12);
    // Wordline 2 has (9 * 4 + 2) / 2, and wordline 3 has (2 + 4) / 2.
    assert_eq!(s.doses(4), [36.0, 18.0, 19.0, 3.0]);
    s.read_wordline(1, 1);
    assert_eq!(s.doses(4), [45.0, 18.0, 28.0, 4.0]);
    s.clean();
}

#[test]
fn neighbours_lie_a_stride_away() {
    let mut c = config(4, 4, wordline_model(1000.0, 9.0));
    c.geometry.neighbour_stride = 2;
    let mut s = Scene::new(&c);
    s.write(0, 0..12);
    s.read_wordline(0, 1);
    assert_eq!(s.doses(4), [0.0, 1.0, 9.0, 1.0]);
    s.read_wordline(3, 1);
    assert_eq!(s.doses(4), [1.0, 10.0, 10.0, 1.0]);
    s.clean();
}

#[test]
fn an_erase_forgets_and_ages() {
    let mut disturb = wordline_model(1000.0, 9.0);
    disturb.table.push(PerPec { pec: 4, limit: vec![600.0], alpha: vec![9.5] });
    let mut c = config(4, 4, disturb);
    c.start.pec = 1;
    let mut s = Scene::new(&c);
    s.write(0, 0..12);
    s.read_wordline(1, 2);
    assert_eq!(s.truth(0), Some((2 * (9 * 1024 + 128), 900 * UNIT)), "alpha 9.125 at one cycle");
    s.erase(BlockId::new(0));
    s.write(0, 0..12);
    assert_eq!(s.truth(0), Some((0, 800 * UNIT)));
    s.read_wordline(1, 2);
    assert_eq!(s.truth(0), Some((2 * (9 * 1024 + 256), 800 * UNIT)));
    for _ in 0..5 {
        s.erase(BlockId::new(0));
        s.write(0, 0..12);
    }
    assert_eq!(
        s.truth(0),
        Some((0, 420 * UNIT)),
        "at 7 cycles: three quarters of the way from 600 at 4 to 600 x 0.6 at 8"
    );
    s.clean();
}

#[test]
fn sensings_weigh_by_page_kind() {
    let mut s = Scene::new(&config(
        4,
        4,
        DisturbConfig { dose: DoseUnit::Sensings, ..wordline_model(1000.0, 9.0) },
    ));
    s.write(0, 0..12);
    s.read(0, 0); // LSB: half a unit
    s.read(2, 2); // MSB: 7 quarters
    assert_eq!(s.doses(4), [0.0, 9.0 * 2.25, 2.25, 2.25]);
    s.clean();
}

#[test]
fn each_page_kind_has_a_limit_of_its_own() {
    let disturb = DisturbConfig { kind_factor: vec![2.0, 1.5, 1.0], ..wordline_model(100.0, 9.0) };
    let mut s = Scene::new(&config(4, 4, disturb));
    s.write(0, 0..12);
    let limits: Vec<u64> = (3..6).map(|ppn| s.truth(ppn).unwrap().1 / UNIT).collect();
    assert_eq!(limits, [200, 150, 100]);
    // Wordlines 0 and 2 have a dose of 108, above the limit of MSB pages but not above that of CSB
    // pages.
    s.read_wordline(1, 12);
    assert_eq!(s.oracle.finish().limit_violations, 2, "two MSB pages that nobody has reported");
    s.fail(2, 2);
    s.fail(8, 8);
    s.read(1, 1);
    s.clean();
    s.fail(7, 7);
    s.caught(crate::common::false_loss, &["lpn 7", "of a limit of 150"]);
}

#[test]
fn count_is_the_blocks_reads_since_the_programming() {
    let table = vec![PerPec { pec: 0, limit: vec![3.0], alpha: vec![] }];
    let mut s = Scene::new(&config(
        4,
        4,
        DisturbConfig { model: DisturbModel::Count, table, ..DisturbConfig::default() },
    ));
    s.write(0, 0..3);
    s.read_wordline(0, 2);
    s.write(3, 3..6);
    s.read_wordline(0, 1);
    assert_eq!(s.doses(2), [3.0, 1.0]);
    s.read_wordline(1, 1);
    assert_eq!((s.oracle.finish().limit_violations, s.oracle.report().limit_violations), (3, 0));
}

#[test]
fn nothing_disturbs_in_the_model_none() {
    let mut s = Scene::new(&config(4, 4, DisturbConfig::default()));
    s.write(0, 0..12);
    s.read_wordline(1, 50);
    assert_eq!(s.clean().reads_checked, 50);
    s.fail(3, 3);
    assert_eq!(s.oracle.report().false_losses, 1, "so nothing can be lost");
    s.erase(BlockId::new(0));
    assert_eq!(s.truth(0), None);
    let worst = s.oracle.finish().worst_dose_ratio;
    assert!(worst == 0.0, "{worst}");
}

/// Step in a block: a program of the next page, or a read of a programmed page.
#[derive(Clone, Copy, Debug)]
enum Step {
    Program,
    Read(u32),
}

/// Returns the dose of a wordline by the definition, in 1/1024. It counts every read of the block's
/// life singly.
fn from_definition(
    events: &[Step],
    wordline: u32,
    stride: u32,
    alpha_256: u64,
    half_before: bool,
) -> Option<u64> {
    let mut programmed = 0;
    let (mut before, mut after) = (0, 0);
    for event in events {
        match event {
            Step::Program => programmed += 1,
            Step::Read(page) => {
                let (read, kind) = (page / 3, page % 3);
                let quarters = [2, 3, 7][kind as usize];
                let dose = match read.abs_diff(wordline) {
                    0 => 0,
                    d if d == stride => quarters * alpha_256,
                    _ => quarters * 256,
                };
                let began = programmed > wordline * 3;
                *(if began { &mut after } else { &mut before }) += dose;
            }
        }
    }
    (programmed > wordline * 3).then_some(after + if half_before { before / 2 } else { 0 })
}

const WORDLINES: u32 = 6;

proptest! {
    #[test]
    fn doses_are_those_of_the_definition(
        choices in prop::collection::vec((0u32..4, 0u32..1000), 1..200),
        stride in 1u32..4,
        half_before: bool,
    ) {
        let disturb = DisturbConfig {
            dose: DoseUnit::Sensings,
            preprogram_weight: if half_before { 0.5 } else { 0.0 },
            ..wordline_model(1e6, 9.25)
        };
        let mut c = config(4, WORDLINES, disturb);
        c.geometry.neighbour_stride = stride;
        let mut s = Scene::new(&c);
        // Block 1 has been used and erased before.
        let first = WORDLINES * 3;
        s.write(first, 0..first);
        s.read(first - 1, 2 * first - 1);
        s.erase(BlockId::new(1));
        let mut events = vec![];
        let mut programmed = 0;
        for (what, where_) in choices {
            if (what == 0 || programmed == 0) && programmed < first {
                s.write(first + programmed, [programmed]);
                events.push(Step::Program);
                programmed += 1;
            } else {
                let page = where_ % programmed;
                s.read(page, first + page);
                events.push(Step::Read(page));
            }
            for wordline in 0..programmed.div_ceil(3) {
                let naive = from_definition(&events, wordline, stride, 9 * 256 + 64, half_before).unwrap();
                prop_assert_eq!(s.truth(first + wordline * 3).unwrap().0, naive, "wordline {}", wordline);
            }
        }
        s.clean();
    }

    /// The oracle skips the neighbours whose doses cannot change the result. Its verdict must be
    /// the same as that of all exact doses.
    #[test]
    fn every_read_is_judged_by_its_exact_dose(
        choices in prop::collection::vec((0u32..6, 0u32..1000), 1..400),
        limit in 20u32..600,
        alpha in 1u32..12,
        stride in 1u32..4,
        weight in 0u32..3,
        count: bool,
    ) {
        let mut disturb = DisturbConfig {
            dose: DoseUnit::Sensings,
            preprogram_weight: f64::from(weight) / 2.0,
            kind_factor: vec![1.75, 1.5, 1.0],
            ..wordline_model(limit.into(), f64::from(alpha) + 0.125)
        };
        if count {
            disturb.model = DisturbModel::Count;
        }
        let mut c = config(4, WORDLINES, disturb);
        c.geometry.neighbour_stride = stride;
        let (mut s, mut in_batches, mut batch) = (Scene::new(&c), Scene::new(&c), vec![]);
        let (mut worst, mut past, mut programmed) = (0.0f64, 0, 0);
        for (what, where_) in choices {
            if (what == 0 || programmed == 0) && programmed < WORDLINES * 3 {
                in_batches.oracle.take(Event::Reads { batch: &std::mem::take(&mut batch) });
                s.write(programmed, [programmed]);
                in_batches.write(programmed, [programmed]);
                programmed += 1;
                continue;
            }
            let page = where_ % programmed;
            batch.push(PhysRead::good(Lpn::new(page), Ppn::new(page), Cause::Host));
            if batch.len() == 32 {
                in_batches.oracle.take(Event::Reads { batch: &std::mem::take(&mut batch) });
            }
            let (dose, limit) = s.truth(page).unwrap();
            past += u64::from(dose > limit);
            worst = worst.max(dose as f64 / limit as f64);
            s.read(page, page);
            let report = s.oracle.report();
            prop_assert_eq!(report.limit_violations, past);
            prop_assert!(report.worst_dose_ratio.to_bits() == worst.to_bits(), "{} {}", report.worst_dose_ratio, worst);
        }
        in_batches.oracle.take(Event::Reads { batch: &batch });
        let report = in_batches.oracle.report();
        prop_assert_eq!((report.limit_violations, report.worst_dose_ratio.to_bits()), (past, worst.to_bits()), "in batches");
    }
}
