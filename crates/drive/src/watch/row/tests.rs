//! Every kind has its own number and name, and reads are counted however they are reported.

use super::*;
use crate::base::failure::Unit;
use crate::base::geometry::Geometry;
use crate::drive::tests::tiny_config;
use crate::watch::observer::{BulkReads, Origin, PhysRead, ReadsOffFlash};

#[test]
fn each_kind_has_its_own_number_and_name() {
    let (block, lpn, ppn) = (BlockId::new(1), Lpn::new(2), Ppn::new(3));
    let (cause, wordline) = (Cause::Gc, WordlineInBlock::FIRST);
    let config = tiny_config().resolve().unwrap();
    // A block has 24 pages.
    let pages = Unit::Block(2).pages(&Geometry::new(&config));
    let events = [
        ("measured_phase", Event::MeasuredPhase),
        ("clock_restarted", Event::ClockRestarted { passed: 1 }),
        ("wrote", Event::Wrote { request: 7, lpn, whole: true }),
        ("trimmed", Event::Trimmed { lpn }),
        ("lost", Event::Lost { lpn }),
        ("rebuilt", Event::Rebuilt { lpn, number: 1 }),
        ("superseded", Event::Superseded { lpn }),
        ("programmed", Event::Programmed { ppn, lpn, seq: 1, origin: Origin::Host, cause }),
        ("padded", Event::Padded { ppn, seq: 1, cause }),
        ("merged", Event::Merged { block, wordline, mode: 1, cause }),
        ("recoded", Event::Recoded { block, wordline: None, mode: 1 }),
        ("alarm", Event::Alarm { block }),
        ("job_began", Event::JobBegan { block, pages: None, cause }),
        ("job_ended", Event::JobEnded { block }),
        ("erased", Event::Erased { block, cause }),
        ("failed", Event::Failed { pages }),
        ("rebuild_done", Event::RebuildDone),
        ("unprotected", Event::Unprotected { stripe: 1 }),
        ("awaits_parity", Event::AwaitsParity { stripe: 1 }),
        ("needs_no_parity", Event::NeedsNoParity { stripe: 1 }),
        ("lives_in", Event::LivesIn { stage: 2 }),
    ];
    let rows = events.map(|(_, event)| Row::of(&event).unwrap());
    let names = rows.map(|row| Row::KINDS[row.kind as usize]);
    assert_eq!(names, events.map(|(name, _)| name));
    assert_eq!(names, Row::KINDS);
    assert_eq!((rows[15].ppn, rows[15].value), (Some(Ppn::new(48)), 24));
}

#[test]
fn reads_are_counted_singly_and_in_bulk() {
    let (block, one) = (BlockId::new(0), PhysRead::good(Lpn::new(0), Ppn::new(0), Cause::Host));
    let bulk = BulkReads { block, since: 0, until: 1, reads: &[100, 300], retries: &[0, 1] };
    let events = [
        Event::Reads { batch: &[one; 3] },
        Event::ReadInBulk { block, reads: 40, doses: &[] },
        Event::ReadInBulkWithRetries(bulk),
        Event::ReadOffFlash(ReadsOffFlash { without_data: 1000, lost: 2000, buffered: 4000 }),
        Event::Trimmed { lpn: Lpn::new(0) },
    ];
    assert_eq!(events.iter().map(reads_of).sum::<u64>(), 7443);
}
