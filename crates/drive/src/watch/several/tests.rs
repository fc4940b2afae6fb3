//! Every callback reaches every observer.

use super::*;
use crate::base::failure::Unit;
use crate::base::geometry::Geometry;
use crate::config::DriveConfig;
use crate::drive::{Drive, Techniques};

/// Observer that records the callbacks that it got.
#[derive(Default)]
struct Heard {
    names: Vec<&'static str>,
    pages: u64,
}

/// Observer of another type, which does not want to know of time.
#[derive(Default)]
struct Timeless(Heard);

macro_rules! writes_down {
    ($($name:ident($($argument:ty),*);)*) => {
        #[deny(clippy::missing_trait_methods)]
        impl Observer for Heard {
            $(fn $name(&mut self, $(_: $argument),*) {
                self.names.push(stringify!($name));
            })*

            fn reads(&mut self, batch: &[PhysRead]) {
                self.names.push("reads");
                self.pages += batch.len() as u64;
            }

            fn wants_time(&self) -> bool {
                true
            }

            fn hears_alarms(&self) -> bool {
                true
            }
        }

        #[deny(clippy::missing_trait_methods)]
        impl Observer for Timeless {
            $(fn $name(&mut self, $(_: $argument),*) {
                self.0.names.push(stringify!($name));
            })*

            fn reads(&mut self, batch: &[PhysRead]) {
                self.0.reads(batch);
            }

            fn wants_time(&self) -> bool {
                false
            }

            fn hears_alarms(&self) -> bool {
                false
            }
        }
    };
}

writes_down! {
    now(Ns);
    requests(u64, &[Request]);
    read_in_bulk(BlockId, u64, &[u32]);
    read_in_bulk_with_retries(&BulkReads);
    read_off_flash(ReadsOffFlash);
    quiet_until(Ns);
    host_wrote(u64, Lpn, bool);
    took_in(Lpn, u64);
    filled(Lpn);
    trimmed(Lpn);
    lost(Lpn);
    gathered(Lpn, Ppn);
    xored(u32, XorSource);
    recovering(Lpn, u32);
    rebuilt(Lpn, u32);
    superseded(Lpn);
    unprotected(u32);
    delayed(u32, u32, u64, u64);
    lives_in(u8);
    failed(Stretch);
    rebuild_done();
    awaits_parity(u32);
    needs_no_parity(u32);
    padded(Ppn, Seq, Cause);
    programmed(Ppn, Lpn, Seq, Origin, Cause);
    merged(BlockId, WordlineInBlock, u8, Cause);
    recoded(BlockId, Option<WordlineInBlock>, u8);
    alarm(BlockId);
    asks_at(BlockId, Reads);
    job_ended(BlockId);
    moving(BlockId, Option<&PageSet>, Cause);
    erased(BlockId, Cause);
    preloaded(BlockId, &[Lpn]);
    begins_in_order(&[Order], u32);
    preloaded_in_order(BlockId, u32, Order, u32);
    worn_before(BlockId, u32);
    served_before(BlockId, &[Quarters]);
    clock(Ns);
    aged(BlockId, Moment);
    renewed(BlockId, Moment);
    clock_restarts(Ns);
    measured_phase();
    cycles_skipped(u32);
    occupied(&[(u32, Ns, Ns)]);
    run_began(Ns, &TimedMetrics);
    time(&[TimeEvent]);
    run_ended(&[OpId], &TimedMetrics);
}

/// Callbacks that only observers of time get.
const OF_TIME: [&str; 3] = ["run_began", "time", "run_ended"];

/// Calls every callback once.
fn call_all(o: &mut dyn Observer, failed: Stretch) {
    let (block, lpn, ppn) = (BlockId::new(1), Lpn::new(2), Ppn::new(3));
    let (wordline, metrics) = (WordlineInBlock::FIRST, TimedMetrics::default());
    o.now(1);
    o.requests(0, &[]);
    o.reads(&[PhysRead::good(lpn, ppn, Cause::Host)]);
    o.read_in_bulk(block, 1, &[]);
    let bulk = BulkReads { block, since: 0, until: 1, reads: &[], retries: &[] };
    o.read_in_bulk_with_retries(&bulk);
    o.read_off_flash(ReadsOffFlash::default());
    o.quiet_until(1);
    o.host_wrote(7, lpn, true);
    o.took_in(lpn, 1);
    o.filled(lpn);
    o.trimmed(lpn);
    o.lost(lpn);
    o.gathered(lpn, ppn);
    o.xored(1, XorSource::Page(ppn));
    o.recovering(lpn, 1);
    o.rebuilt(lpn, 1);
    o.superseded(lpn);
    o.unprotected(1);
    o.delayed(1, 1, 1, 1);
    o.lives_in(2);
    o.failed(failed);
    o.rebuild_done();
    o.awaits_parity(1);
    o.needs_no_parity(1);
    o.padded(ppn, 1, Cause::Host);
    o.programmed(ppn, lpn, 1, Origin::Host, Cause::Host);
    o.merged(block, wordline, 1, Cause::Host);
    o.recoded(block, None, 1);
    o.alarm(block);
    o.asks_at(block, Reads(1));
    o.job_ended(block);
    o.moving(block, None, Cause::Gc);
    o.erased(block, Cause::Gc);
    o.preloaded(block, &[]);
    o.begins_in_order(&[], 0);
    o.preloaded_in_order(block, 0, Order { pages: 1, keys: [0; 4] }, 0);
    o.worn_before(block, 1);
    o.served_before(block, &[]);
    o.clock(1);
    o.aged(block, 1);
    o.renewed(block, 1);
    o.clock_restarts(1);
    o.measured_phase();
    o.cycles_skipped(2);
    o.occupied(&[]);
    o.run_began(1, &metrics);
    o.time(&[]);
    o.run_ended(&[], &metrics);
}

/// Returns the names of the trait's callbacks from its source.
fn callbacks() -> Vec<&'static str> {
    let source = include_str!("../observer.rs");
    let (_, body) = source.split_once("pub trait Observer: Any + Send {").expect("the trait");
    let names = body.lines().filter_map(|line| line.strip_prefix("    fn ")?.split('(').next());
    names.filter(|name| !["wants_time", "hears_alarms"].contains(name)).collect()
}

fn sorted(mut names: Vec<&'static str>) -> Vec<&'static str> {
    names.sort_unstable();
    names
}

fn config() -> DriveConfig {
    let text = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 200, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.4 }
        disturb = { model = "count", table = [{ pec = 0, limit = [60] }] }
    "#;
    toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap()
}

#[test]
fn every_callback_reaches_every_observer() {
    let timed: Box<dyn Observer> = Box::new(Heard::default());
    let mut several = Several::with(timed, Box::new(Timeless::default()));
    assert!(several.wants_time() && several.hears_alarms());
    call_all(&mut several, Unit::Page(0).pages(&Geometry::new(&config())));
    let all = callbacks();
    assert!(all.len() > 40 && all.contains(&"reads"), "{all:?}");
    let heard = find::<Heard>(&mut several).unwrap().names.clone();
    assert_eq!(sorted(heard.clone()), sorted(all.clone()), "each of them once");
    let timeless = &find::<Timeless>(&mut several).unwrap().0.names;
    let expected: Vec<_> = heard.into_iter().filter(|name| !OF_TIME.contains(name)).collect();
    assert_eq!(*timeless, expected, "in the same order, without time");
}

#[test]
fn observers_of_one_drive_hear_the_same_events_and_all_come_back() {
    let mut drive = Drive::new(config(), &Techniques::default(), false).unwrap();
    drive.observe(Box::new(Heard::default()));
    drive.observe(Box::new(Heard::default()));
    drive.observe(Box::new(Timeless::default()));
    for lpn in Lpn::range(0..300) {
        drive.write_page(lpn, u64::MAX);
    }
    drive.drain_buffer();
    // A block has 24 pages and a limit of 60 reads, so that reclaim rewrites blocks.
    for n in 0..2000u32 {
        drive.read_page(Lpn::new(n % 7));
    }
    assert!(drive.reclaim_counts().invocations > 0);
    assert!(drive.observer::<Timeless>().unwrap().0.pages > 2000);
    let third = drive.end_observation_of::<Timeless>().expect("it watches").0;
    // Only the other two observers get this event.
    drive.trim_page(Lpn::new(3));
    let mut back = vec![];
    while let Some(observer) = drive.end_observation() {
        let observer: Box<dyn Any> = observer;
        back.push(*observer.downcast::<Heard>().expect("its own type"));
    }
    let [second, first] = back.try_into().ok().expect("two observers");
    assert_eq!((&first.names, first.pages), (&second.names, second.pages));
    assert!(first.pages > 2000 && first.names.contains(&"erased"));
    assert_eq!(first.names[..third.names.len()], third.names);
    assert_eq!(first.names[third.names.len()..], ["trimmed"]);
    assert!(drive.end_observation().is_none());
}
