//! The record of doses: whole blocks at their worst moments. The scene is 4 blocks of 4 wordlines
//! of 3 pages, limit 100, alpha 9.

use vpass_drive::base::units::{BlockId, Cause};
use vpass_drive::watch::observer::{BulkReads, Event, Observer};
use vpass_oracle::snapshots::{DoseRecord, State, WordlineDose};

use crate::common::Scene;
use crate::script::after;

/// Returns a scene with a record, and host pages 0 to 11 in block 0.
fn recorded() -> Scene {
    let mut s = Scene::tiny();
    s.oracle.record_doses();
    after(s, "write 0..12 at 0")
}

/// Begins a job that moves block 0.
fn job(s: &mut Scene, cause: Cause) {
    s.oracle.take(Event::JobBegan { block: BlockId::new(0), pages: None, cause });
}

fn end(s: &mut Scene) -> DoseRecord {
    s.oracle.end_record(0).unwrap()
}

/// Returns the doses of the first snapshot's wordlines.
fn doses(record: &DoseRecord) -> Vec<f64> {
    record.snapshots[0].wordlines.iter().map(|wordline| wordline.dose).collect()
}

fn close(ratio: f64, expected: f64) -> bool {
    (ratio - expected).abs() < 1e-12
}

#[test]
fn a_snapshot_is_of_the_last_moment_before_data_moves() {
    let mut s = recorded();
    s.oracle.take(Event::Now { at: 5 });
    // Wordline 1 is read 4 times and wordline 3 twice. So wordline 0 has 4 x 9 + 2, and wordline 2
    // has 54.
    s = after(s, "4 x read 4 at 4; 2 x read 9 at 9");
    s.oracle.take(Event::Now { at: 7 });
    job(&mut s, Cause::Reclaim);
    let used = s.oracle.threshold_used().unwrap();
    assert!(close(used, 0.54), "{used}");
    for page in 0..12 {
        s.copy(page, 12 + page, page);
    }
    s.oracle.take(Event::Now { at: 8 });
    s.erase(BlockId::new(0));
    let report = s.oracle.finish();
    let record = end(&mut s);
    // The worst moment is when the job reads wordline 2. It has read 3 pages of wordline 0 and 3 of
    // wordline 1, and moved them: 54 + 3 x 1 + 3 x 9 = 84.
    let snapshot = &record.snapshots[0];
    assert_eq!((snapshot.block, snapshot.at), (BlockId::new(0), 7));
    assert_eq!(doses(&record), [38.0 + 27.0, 2.0 + 27.0, 84.0, 4.0 + 6.0]);
    let of = |number: fn(&WordlineDose) -> f64| -> Vec<f64> {
        snapshot.wordlines.iter().map(number).collect()
    };
    assert_eq!(of(|wordline| wordline.reads), [3.0, 7.0, 0.0, 2.0]);
    assert_eq!(of(|wordline| wordline.valid.into()), [0.0, 0.0, 3.0, 3.0]);
    assert_eq!(of(|wordline| wordline.alpha), [9.0; 4]);
    let worst = record.blocks[0];
    assert!(close(worst.worst, 0.84), "{worst:?}");
    assert!(worst.worst.to_bits() == report.worst_dose_ratio.to_bits());
    assert!((worst.wordline, worst.erases, worst.past_limit) == (Some(2), 1, 0), "{worst:?}");
    assert_eq!((worst.at, worst.share_at_erase), (7, Some(worst.worst)));
    assert_eq!(record.shares.kept(), [worst.worst]);
    // The end of the run shows almost nothing of this.
    let at_end = record.maps.iter().find(|map| map.block == BlockId::new(0)).unwrap();
    assert!(at_end.at_end.iter().all(Option::is_none), "the block is empty at the end");
}

#[test]
fn wordlines_without_data_do_not_count() {
    let mut s = recorded();
    // Wordlines 0 and 2 are written again elsewhere, so only wordline 3 remains beside wordline 1.
    s = after(s, "write 0..3 6..9 at 12; 5 x read 4 at 4");
    job(&mut s, Cause::Gc);
    assert_eq!(s.oracle.threshold_used(), None, "reclaim has not moved anything");
    let record = end(&mut s);
    let block = record.blocks[0];
    assert!(close(block.worst, 0.05) && block.wordline == Some(3), "{block:?}");
    let states: Vec<State> = record.maps[0].bins.iter().map(|bin| bin.state).collect();
    assert_eq!(states, [State::None, State::Data, State::None, State::Data]);
    assert_eq!(doses(&record), [45.0, 0.0, 45.0, 5.0], "they have their doses all the same");
    let limits: Vec<f64> = record.snapshots[0].wordlines.iter().map(|w| w.limit).collect();
    assert_eq!(limits, [100.0; 4]);
}

#[test]
fn lost_pages_show_by_how_much_they_are_past_the_limit() {
    let mut s = after(recorded(), "12 x read 4 at 4; fail 0 at 0; lose 0; 3 x read 4 at 4");
    let record = end(&mut s);
    let block = record.blocks[0];
    // Wordline 1 is read 15 times and wordline 0 once. So wordline 0 has 135 and wordline 2 has
    // 136.
    assert!(close(block.worst, 1.36), "{block:?}");
    assert_eq!(block.past_limit, 2);
    let first = &record.snapshots[0].wordlines[0];
    assert_eq!((first.valid, first.lost), (2, 1));
    assert!(close(first.dose, 135.0), "{first:?}");
    assert_eq!(record.maps[0].bins[0].state, State::Lost);
    assert!(close(record.maps[0].bins[0].worst.unwrap(), 1.35));
}

#[test]
fn the_measured_phase_begins_the_record_anew() {
    let mut s = after(recorded(), "5 x read 4 at 4");
    job(&mut s, Cause::Reclaim);
    s = after(s, "write 0..12 at 12; erase 0; measure");
    assert_eq!(s.oracle.threshold_used(), None);
    let record = end(&mut s);
    assert!(record.blocks.iter().all(|block| block.worst == 0.0 && block.erases == 0));
    assert!(record.snapshots.is_empty() && record.shares.kept().is_empty());
}

#[test]
fn reads_in_bulk_are_recorded_as_single_reads_are() {
    let (mut single, mut bulk, mut retried) = (recorded(), recorded(), recorded());
    (0..5).for_each(|_| {
        single.read(3, 3);
        (0..7).for_each(|_| single.read(0, 0));
    });
    bulk.oracle.take(Event::ReadInBulk {
        block: BlockId::new(0),
        reads: 40,
        doses: &[4 * 35, 4 * 5, 0, 0],
    });
    retried.oracle.take(Event::ReadInBulkWithRetries(BulkReads {
        block: BlockId::new(0),
        since: 0,
        until: 1,
        reads: &[35, 5, 0, 0],
        retries: &[0; 4],
    }));
    let [single, bulk, retried] = [&mut single, &mut bulk, &mut retried].map(end);
    assert_eq!(doses(&single), [45.0, 315.0, 80.0, 40.0]);
    assert_eq!((&single.maps, &single.snapshots), (&bulk.maps, &bulk.snapshots));
    assert_eq!((&single.blocks, &single.snapshots), (&retried.blocks, &retried.snapshots));
}

#[test]
fn without_a_record_there_is_none_but_the_threshold_is_known() {
    let mut s = after(Scene::tiny(), "write 0..12 at 0; 5 x read 4 at 4");
    job(&mut s, Cause::Reclaim);
    assert!(close(s.oracle.threshold_used().unwrap(), 0.45));
    assert!(s.oracle.end_record(0).is_none());
}
