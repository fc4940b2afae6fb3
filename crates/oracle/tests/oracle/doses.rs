//! Arithmetic of doses, checked by hand on four wordlines and against the definition on random
//! events.

use proptest::prelude::*;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::{DisturbConfig, DisturbModel, DoseUnit, PerPec};
use vpass_drive::watch::observer::{Event, Observer, PhysRead};

use crate::common::{Scene, UNIT, config, false_loss, wordline_model};
use crate::script::{after, play};

#[test]
fn neighbours_take_alpha_the_rest_one_and_the_wordline_itself_nothing() {
    play(
        Scene::tiny,
        "
        write 0..12 at 0; 2 x read 3 at 3
        doses: 18 0 18 2
        read 0 at 0
        doses: 18 9 19 3
        read 9 at 9
        doses: 19 10 28 3
        clean

        // Blocks do not disturb each other. The first wordline of block 1 is numbered next to the
        // last one of block 0.
        write 0..24 at 0; read 12 at 12
        doses: 0 0 0 0 0 9 1 1
        read 11 at 11
        doses: 1 1 9 0 0 9 1 1
        clean

        // A wordline starts with its first page. Its later pages change nothing. The read of its
        // neighbour before does not count.
        write 0..3 at 0; 5 x read 0 at 0; write 3 at 3; read 0 at 0; write 4 5 at 4
        doses: 0 9
        read 3 at 3; write 6..9 at 6
        doses: 9 9 0
        read 3 at 3
        doses: 18 9 9
        clean
        ",
    );
}

#[test]
fn the_model_of_the_drive_decides_who_takes_what() {
    let scene = |disturb, stride| {
        let mut c = config(4, 4, disturb);
        c.geometry.neighbour_stride = stride;
        Scene::new(&c)
    };
    let wordlines = || wordline_model(1000.0, 9.0);
    play(
        || scene(DisturbConfig { preprogram_weight: 0.5, ..wordlines() }, 1),
        "
        // Reads before programming count their weight. Wordline 2 has (9 * 4 + 2) / 2, and wordline 3
        // has (2 + 4) / 2.
        write 0..6 at 0; 2 x read 0 at 0; 4 x read 3 at 3; write 6..12 at 6
        doses: 36 18 19 3
        read 3 at 3
        doses: 45 18 28 4
        clean
        ",
    );
    play(
        || scene(wordlines(), 2),
        "
        // Neighbours lie a stride away.
        write 0..12 at 0; read 0 at 0
        doses: 0 1 9 1
        read 9 at 9
        doses: 1 10 10 1
        clean
        ",
    );
    play(
        || scene(DisturbConfig { dose: DoseUnit::Sensings, ..wordlines() }, 1),
        "
        // Sensings weigh by page kind: an LSB page half a unit, and an MSB page 7 quarters.
        write 0..12 at 0; read 0 at 0; read 2 at 2
        doses: 0 20.25 2.25 2.25
        clean
        ",
    );
}

#[test]
fn an_erase_forgets_and_ages() {
    let mut disturb = wordline_model(1000.0, 9.0);
    disturb.table.push(PerPec { pec: 4, limit: vec![600.0], alpha: vec![9.5] });
    let mut c = config(4, 4, disturb);
    c.start.pec = 1;
    let s = after(Scene::new(&c), "write 0..12 at 0; 2 x read 3 at 3");
    assert_eq!(s.truth(0), Some((2 * (9 * 1024 + 128), 900 * UNIT)), "alpha 9.125 at one cycle");
    let s = after(s, "erase 0; write 0..12 at 0");
    assert_eq!(s.truth(0), Some((0, 800 * UNIT)));
    let mut s = after(s, "2 x read 3 at 3");
    assert_eq!(s.truth(0), Some((2 * (9 * 1024 + 256), 800 * UNIT)));
    for _ in 0..5 {
        s = after(s, "erase 0; write 0..12 at 0");
    }
    assert_eq!(
        s.truth(0),
        Some((0, 420 * UNIT)),
        "at 7 cycles: three quarters of the way from 600 at 4 to 600 x 0.6 at 8"
    );
    s.clean();
}

#[test]
fn each_page_kind_has_a_limit_of_its_own() {
    let disturb = DisturbConfig { kind_factor: vec![2.0, 1.5, 1.0], ..wordline_model(100.0, 9.0) };
    let s = after(Scene::new(&config(4, 4, disturb)), "write 0..12 at 0");
    let limits: Vec<u64> = (3..6).map(|ppn| s.truth(ppn).unwrap().1 / UNIT).collect();
    assert_eq!(limits, [200, 150, 100]);
    // Wordlines 0 and 2 have a dose of 108, above the limit of MSB pages but not above that of CSB
    // pages.
    let s = after(s, "12 x read 3 at 3");
    assert_eq!(s.oracle.finish().limit_violations, 2, "two MSB pages that nobody has reported");
    let mut s = after(s, "fail 2 at 2; fail 8 at 8; read 1 at 1");
    s.clean();
    s.fail(7, 7);
    s.caught(false_loss, &["lpn 7", "of a limit of 150"]);
}

#[test]
fn count_is_the_blocks_reads_since_the_programming() {
    let table = vec![PerPec { pec: 0, limit: vec![3.0], alpha: vec![] }];
    let count = DisturbConfig { model: DisturbModel::Count, table, ..DisturbConfig::default() };
    let steps = "write 0..3 at 0; 2 x read 0 at 0; write 3..6 at 3; read 0 at 0";
    let s = after(Scene::new(&config(4, 4, count)), steps);
    assert_eq!([0, 3].map(|ppn| s.truth(ppn).unwrap().0), [3 * UNIT, UNIT]);
    let s = after(s, "read 3 at 3");
    assert_eq!((s.oracle.finish().limit_violations, s.oracle.report().limit_violations), (3, 0));
}

#[test]
fn nothing_disturbs_in_the_model_none() {
    let s = Scene::new(&config(4, 4, DisturbConfig::default()));
    let s = after(s, "write 0..12 at 0; 50 x read 3 at 3");
    assert_eq!(s.clean().reads_checked, 50);
    let s = after(s, "fail 3 at 3");
    assert_eq!(s.oracle.report().false_losses, 1, "so nothing can be lost");
    let s = after(s, "erase 0");
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
