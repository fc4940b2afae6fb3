//! Stages of a drive's life under `da-raid5`, on a small drive that is written until its blocks are
//! worn. The tests check which stripes have parity and which blocks are recycled in each stage, and
//! which data a failing die takes.

use crate::common;

use std::collections::BTreeSet;

use common::striped::{Asked, PAGE, config, operations};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::drive::failing::{FailureBooks, TakenByFailures};
use vpass_drive::drive::{Drive, Stage, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_drive::watch::observer::NO_PPN;
use vpass_techniques::{card, resolve, usual};

/// Number of P/E cycles above which a block is worn, and number of stripes above which all have
/// parity.
const T_P: u32 = 2;
const L: u64 = 60;

/// Creates a drive with stripes of three pages, 1000 reads per block, and reclaim `block`.
fn drive(timed: bool) -> Drive {
    drive_of((4, 0.5), 0, timed)
}

/// Creates such a drive with this number of dies, this spare, and this number of pages rebuilt per
/// request.
fn drive_of((dies, spare): (u32, f64), rebuild: u32, timed: bool) -> Drive {
    let more = format!(
        "parity.t_p = {T_P}\nparity.l = {L}\nparity.rebuild = {rebuild}\ndrive.write_buffer = \"24KiB\"\n\
         disturb = {{ model = \"count\", table = [{{ pec = 0, limit = [1000.0] }}] }}"
    );
    let techniques = Techniques { reclaim: card("block"), parity: card("da-raid5"), ..usual() };
    let mut config = config(&more);
    (config.geometry.channels, config.drive.spare) = (dies, Some(spare));
    let mut drive = Drive::new(resolve(config).unwrap(), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Writes pages in various places until a condition holds.
fn write_until(drive: &mut Drive, is_so: impl Fn(&Drive) -> bool) {
    let pages = u64::from(drive.geometry().host_pages);
    let mut n = 0;
    while !is_so(drive) {
        n += 1;
        operations(drive, vec![(Op::Write, n * 7919 % pages, 1)]);
        assert!(n < 100_000, "stage {} is never left", stage(drive).number());
    }
}

fn stage(drive: &Drive) -> Stage {
    drive.lifetime().unwrap().stage()
}

fn is_worn(drive: &Drive, lpn: u64) -> Option<bool> {
    let row =
        drive.all_map_rows().find(|row| u64::from(row.lpn.number()) == lpn && !row.buffered)?;
    drive
        .block_states()
        .nth(drive.geometry().block_of(row.ppn).index())
        .map(|block| block.pec > T_P)
}

/// Returns the number of stripes with a host page in a worn block.
fn marked(drive: &Drive) -> u64 {
    let (stripes, pec) = (
        drive.geometry().stripes.unwrap(),
        drive.block_states().map(|block| block.pec).collect::<Vec<_>>(),
    );
    let rows = drive.all_map_rows().filter(|row| !stripes.is_parity(row.lpn));
    let worn = rows.filter(|row| pec[drive.geometry().block_of(row.ppn).index()] > T_P);
    worn.map(|row| stripes.of(row.lpn)).collect::<BTreeSet<u32>>().len() as u64
}

#[test]
fn stripes_get_parity_stage_by_stage() {
    let mut drive = drive(false);
    assert_eq!(stage(&drive), Stage::Young);
    assert_eq!(
        operations(&mut drive, (0..60).map(|n| (Op::Write, n * 7, 1)).collect()).2,
        0,
        "no parity"
    );
    assert!(drive.block_states().all(|block| block.pec <= T_P) && drive.stripes_with_parity() == 0);
    write_until(&mut drive, |drive| stage(drive) == Stage::Worn);
    assert!(drive.block_states().any(|block| block.pec > T_P));
    assert!(
        marked(&drive) <= L && drive.stripes_with_parity() == marked(&drive),
        "of the stripes in worn blocks"
    );
    assert!(drive.parity_window().is_none(), "parity does not wait yet");
    write_until(&mut drive, |drive| stage(drive) == Stage::Last);
    let stripes = drive.geometry().stripes.unwrap().count();
    assert_eq!(
        (drive.stripes_with_parity(), drive.lifetime().unwrap().watermark()),
        (stripes.into(), stripes),
        "all of them"
    );
    let began = drive.lifetime().unwrap().began().map(|began| began.unwrap().0);
    assert!(began[0] < began[1]);
    operations(
        &mut drive,
        vec![(Op::Write, 0, 1), (Op::Write, 30, 1), (Op::Write, 60, 1), (Op::Write, 90, 1)],
    );
    assert!(drive.parity_window().unwrap().stripes > 0, "as `hc` has it");
}

/// A page is read 1100 times, but its block endures 1000. A block that is not worn is moved in
/// time. If the block is worn, the page is rebuilt when it cannot be read. In the last stage no
/// block is moved.
#[test]
fn worn_blocks_are_left_to_parity() {
    let mut drive = drive(false);
    let read = |drive: &mut Drive, lpn: u64| {
        let before = (drive.reclaim_counts().invocations, drive.parity_counts().rebuilt);
        run_untimed(
            drive,
            &mut Asked((0..1100).map(|_| (Op::Read, lpn, 1)).collect()),
            &mut |_, _| true,
        )
        .unwrap();
        (drive.reclaim_counts().invocations - before.0, drive.parity_counts().rebuilt - before.1)
    };
    let page = |drive: &Drive, worn: bool| {
        (0..u64::from(drive.geometry().host_pages))
            .find(|lpn| is_worn(drive, *lpn) == Some(worn))
            .unwrap()
    };
    let young = page(&drive, false);
    assert_eq!(read(&mut drive, young), (1, 0));
    // A worn block is used when no other block is free.
    write_until(&mut drive, |drive| marked(drive) > 0);
    assert_eq!(stage(&drive), Stage::Worn);
    let (young, worn) = (page(&drive, false), page(&drive, true));
    assert_eq!(read(&mut drive, young), (1, 0));
    assert_eq!(read(&mut drive, worn), (0, 1));
    write_until(&mut drive, |drive| stage(drive) == Stage::Last);
    for worn in [false, true] {
        let lpn = page(&drive, worn);
        assert_eq!(read(&mut drive, lpn), (0, 1));
    }
    assert_eq!(drive.lost_pages(), 0);
}

/// In the timed gear, the last stage begins before all stripes have parity. They get it one after
/// the other, behind the host's requests.
#[test]
fn in_time_stripes_are_formed_one_after_the_other() {
    let after = |writes: u64| {
        let mut drive = drive(true);
        let pages = u64::from(drive.geometry().host_pages);
        let asked = (0..writes).map(|n| (Op::Write, n * 7919 % pages, 1)).collect();
        Replay::new(&drive).run(&mut drive, &mut Asked(asked), &mut |_, _| true).unwrap();
        drive
    };
    let long = after(6000);
    let stripes = long.geometry().stripes.unwrap().count();
    let lifetime = long.lifetime().unwrap();
    assert_eq!(
        (lifetime.stage(), lifetime.watermark(), long.stripes_with_parity()),
        (Stage::Last, stripes, stripes.into())
    );
    let (writes, _) = lifetime.began()[1].unwrap();
    let early = after(writes + 20);
    let watermark = early.lifetime().unwrap().watermark();
    assert!(stage(&early) == Stage::Last && watermark < stripes, "{watermark} of {stripes}");
}

/// Contents of a drive's flash: the places of host pages without data in the write buffer. Also the
/// stripes with a page in a worn block, and the stripes with parity.
struct Content {
    pages: Vec<(u64, u32, u32)>,
    marked: BTreeSet<u32>,
    protected: BTreeSet<u32>,
    /// Stripes with a host page.
    all: BTreeSet<u32>,
}

fn content(drive: &Drive) -> Content {
    let (stripes, pec) = (
        drive.geometry().stripes.unwrap(),
        drive.block_states().map(|block| block.pec).collect::<Vec<_>>(),
    );
    let mut found = Content {
        pages: vec![],
        marked: BTreeSet::new(),
        protected: BTreeSet::new(),
        all: BTreeSet::new(),
    };
    for row in drive.all_map_rows().filter(|row| row.ppn < NO_PPN) {
        let (stripe, block) = (stripes.of(row.lpn), drive.geometry().block_of(row.ppn));
        if stripes.is_parity(row.lpn) {
            found.protected.insert(stripe);
            continue;
        }
        found.all.insert(stripe);
        found.marked.extend((pec[block.index()] > T_P).then_some(stripe));
        if !row.buffered {
            found.pages.push((
                row.lpn.number().into(),
                stripe,
                drive.geometry().die_of(block).into(),
            ));
        }
    }
    found
}

/// Die that fails.
const DIE: u32 = 2;

impl Content {
    /// Returns the number of pages on the die in stripes for which a condition holds.
    fn on_die(&self, is_so: impl Fn(&u32) -> bool) -> u64 {
        self.pages.iter().filter(|(_, stripe, die)| *die == DIE && is_so(stripe)).count() as u64
    }
}

/// Makes the die fail now, and lets the host read page 0 until everything is rebuilt.
fn fail(drive: &mut Drive, replay: Option<&mut Replay>) -> FailureBooks {
    drive.expect_failures(&[format!("die:{DIE}@r0").parse().unwrap()]);
    let mut reads = Asked((0..300).map(|_| (Op::Read, 0, 1)).collect());
    match replay {
        Some(replay) => replay.run(drive, &mut reads, &mut |_, _| true).unwrap(),
        None => run_untimed(drive, &mut reads, &mut |_, _| true).unwrap(),
    };
    drive.failure_books().unwrap()
}

/// A die fails in each stage. In the first two, stripes without a page in a worn block lose their
/// data there. All other data is rebuilt. On four dies, rebuilt pages take the places of parity, so
/// no stripe that needs parity gets it or waits for it. On six dies there is space for everything.
#[test]
fn a_die_takes_what_has_no_parity_in_each_stage() {
    for (dies, spare) in [(4, 0.5), (6, 0.65)] {
        for due in [Stage::Young, Stage::Worn, Stage::Last] {
            let mut drive = drive_of((dies, spare), 16, false);
            write_until(&mut drive, |drive| {
                stage(drive) == due && (due != Stage::Worn || marked(drive) > L / 2)
            });
            let before = content(&drive);
            let has_parity = |stripe: &u32| due == Stage::Last || before.marked.contains(stripe);
            let (kept, gone) =
                (before.on_die(has_parity), before.on_die(|stripe| !has_parity(stripe)));
            assert!(
                (kept > 10) == (due > Stage::Young) && (gone > 10) == (due < Stage::Last),
                "{due:?}: {kept} and {gone}"
            );
            let books = fail(&mut drive, None);
            let what = format!(
                "{dies} dies, {due:?}: {kept} of {} pages to be rebuilt, {books:?}",
                kept + gone
            );
            let lost = TakenByFailures {
                pages: gone,
                unprotected: gone,
                not_worn: gone,
                ..TakenByFailures::default()
            };
            assert_eq!(
                (books.taken, drive.lost_pages(), drive.pages_to_rebuild()),
                (lost, gone, 0),
                "{what}"
            );
            assert_eq!(books.happened[0].stage, Some(due));
            let after = content(&drive);
            assert_eq!(
                (after.on_die(|_| true), after.pages.len() as u64),
                (0, before.pages.len() as u64 - gone),
                "{what}"
            );
            let calling = if due == Stage::Last { after.all.clone() } else { after.marked.clone() };
            let (protected, unprotected) =
                if dies == 4 { (BTreeSet::new(), calling) } else { (calling, BTreeSet::new()) };
            assert_eq!(
                (&after.protected, drive.unprotected_stripes()),
                (&protected, unprotected.len() as u64),
                "{what}"
            );
            assert_eq!(drive.forming_window().unwrap().stripes, 0, "{what}");
            assert_eq!(drive.lifetime().unwrap().stage(), due, "{what}");
        }
    }
}

/// Returns a drive in the timed gear whose last stage has handled some of the stripes, and its
/// replay.
fn in_the_sweep(dies: (u32, f64), rebuild: u32) -> (Drive, Replay) {
    let mut drive = drive_of(dies, rebuild, true);
    let mut replay = Replay::new(&drive);
    let pages = u64::from(drive.geometry().host_pages);
    let mut n = 0;
    while stage(&drive) != Stage::Last || drive.lifetime().unwrap().watermark() < 40 {
        n += 1;
        replay
            .run(&mut drive, &mut Asked(vec![(Op::Write, n * 7919 % pages, 1)]), &mut |_, _| true)
            .unwrap();
    }
    assert!(drive.lifetime().unwrap().watermark() < drive.geometry().stripes.unwrap().count());
    (drive, replay)
}

/// A die fails in the timed gear while the last stage handles the stripes. Data with parity at that
/// time is rebuilt. The other stripes had no parity yet. Then all stripes are handled, including
/// those that stay without parity.
#[test]
fn a_die_that_fails_during_the_sweep_takes_what_was_not_formed() {
    let (mut drive, mut replay) = in_the_sweep((4, 0.5), 16);
    let before = content(&drive);
    let gone = before.on_die(|stripe| !before.protected.contains(stripe));
    assert!(gone > 10 && before.on_die(|stripe| before.protected.contains(stripe)) > 10);
    let books = fail(&mut drive, Some(&mut replay));
    let lost = TakenByFailures {
        pages: gone,
        unprotected: gone,
        waiting: gone,
        ..TakenByFailures::default()
    };
    assert_eq!((books.taken, drive.lost_pages(), drive.pages_to_rebuild()), (lost, gone, 0));
    // This gives time for the remaining stripes.
    replay
        .run(
            &mut drive,
            &mut Asked((0..20_000).map(|_| (Op::Read, 0, 1)).collect()),
            &mut |_, _| true,
        )
        .unwrap();
    let stripes = drive.geometry().stripes.unwrap().count();
    assert_eq!(
        (drive.lifetime().unwrap().watermark(), drive.stripes_with_parity()),
        (stripes, 0),
        "a page took each parity's place"
    );
    assert_eq!(
        (drive.unprotected_stripes(), drive.forming_window().unwrap().stripes),
        (content(&drive).all.len() as u64, 0)
    );
}

/// Source of one read of page 0 at this time.
struct ReadAt(Option<u64>);

impl RequestSource for ReadAt {
    fn fill(&mut self, out: &mut Vec<Request>, _: usize) -> Result<(), SourceError> {
        out.extend(self.0.take().map(|at| Request {
            at,
            offset: 0,
            bytes: PAGE as u32,
            op: Op::Read,
            origin: 0,
            hint: None,
        }));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

/// In pauses, pages of failed flash are rebuilt while other stripes get their parity. The rebuild
/// does not wait until all stripes have it.
#[test]
fn a_rebuild_does_not_wait_for_the_sweep() {
    let (mut drive, mut replay) = in_the_sweep((6, 0.65), 0);
    drive.expect_failures(&[format!("die:{DIE}@0s").parse().unwrap()]);
    let is_swept = |drive: &Drive| {
        drive.lifetime().unwrap().watermark() == drive.geometry().stripes.unwrap().count()
    };
    let rebuilt = |drive: &Drive| drive.failure_books().unwrap().rebuilt_in_background;
    while !is_swept(&drive) {
        let at = replay.last_completion() + 2_000_000;
        replay.run(&mut drive, &mut ReadAt(Some(at)), &mut |_, _| true).unwrap();
    }
    let (before, left) = (rebuilt(&drive), drive.pages_to_rebuild());
    // Both take the time in which the dies rest.
    assert!(2 * before > left && before > 20, "{before} are rebuilt, {left} are left");
}
