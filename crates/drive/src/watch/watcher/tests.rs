//! Every fact has its own number and name, and reads are counted however they are reported.

use super::*;
use crate::base::failure::Unit;
use crate::base::geometry::Geometry;
use crate::drive::tests::tiny_config;
use std::sync::mpsc::{Sender, channel};

struct Sends(Sender<Event>);

impl Watcher for Sends {
    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            self.0.send(*event).unwrap();
        }
    }
}

/// Calls every callback that is a fact, in the order of [`Fact::NAMES`].
fn call_all(o: &mut dyn Observer, failed: Stretch) {
    let (block, lpn, ppn) = (BlockId::new(1), Lpn::new(2), Ppn::new(3));
    o.measured_phase();
    o.clock_restarts(1);
    o.host_wrote(7, lpn, true);
    o.trimmed(lpn);
    o.lost(lpn);
    o.rebuilt(lpn, 1);
    o.superseded(lpn);
    o.programmed(ppn, lpn, 1, Origin::Host, Cause::Host);
    o.padded(ppn, 1, Cause::Host);
    o.merged(block, WordlineInBlock::FIRST, 1, Cause::Host);
    o.recoded(block, None, 1);
    o.alarm(block);
    o.moving(block, None, Cause::Gc);
    o.job_ended(block);
    o.erased(block, Cause::Gc);
    o.failed(failed);
    o.rebuild_done();
    o.unprotected(1);
    o.awaits_parity(1);
    o.needs_no_parity(1);
    o.lives_in(2);
}

#[test]
fn each_fact_has_its_own_number_and_name() {
    let (send, take) = channel();
    let mut batches = Batches::new(Box::new(Sends(send)));
    let config = tiny_config().resolve().unwrap();
    call_all(&mut batches, Unit::Block(2).pages(&Geometry::new(&config)));
    drop(batches);
    let events: Vec<Event> = take.iter().collect();
    let names: Vec<_> = events.iter().map(|event| event.fact.name()).collect();
    assert_eq!(names, Fact::NAMES);
    // A block has 24 pages.
    assert_eq!(events[15].fact, Fact::Failed { first: Ppn::new(48), pages: 24 });
}

#[test]
fn reads_are_counted_singly_and_in_bulk() {
    let (send, take) = channel();
    let mut batches = Batches::new(Box::new(Sends(send)));
    batches.reads(&[PhysRead::good(Lpn::new(0), Ppn::new(0), Cause::Host); 3]);
    batches.read_in_bulk(BlockId::new(0), 40, &[]);
    let (reads, retries) = ([100, 300], [0, 1]);
    let block = BlockId::new(0);
    batches.read_in_bulk_with_retries(&BulkReads {
        block,
        since: 0,
        until: 1,
        reads: &reads,
        retries: &retries,
    });
    batches.read_off_flash(ReadsOffFlash { without_data: 1000, lost: 2000, buffered: 4000 });
    batches.now(7);
    batches.trimmed(Lpn::new(0));
    batches.flush();
    let fact = Fact::Trimmed { lpn: Lpn::new(0) };
    assert_eq!(take.try_recv(), Ok(Event { at: 7, requests: 0, reads: 7443, fact }));
}

#[test]
fn a_full_batch_is_reported_at_once() {
    let (send, take) = channel();
    let mut batches = Batches::new(Box::new(Sends(send)));
    for _ in 1..BATCH {
        batches.trimmed(Lpn::new(0));
    }
    assert_eq!(take.try_iter().count(), 0);
    batches.trimmed(Lpn::new(0));
    assert_eq!(take.try_iter().count(), BATCH);
}
