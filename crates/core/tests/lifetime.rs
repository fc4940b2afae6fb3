//! The stages of a drive's life under `da-raid5`, on a small drive that is written until its blocks are worn: which stripes have parity in each, and
//! which blocks are recycled.

mod common;

use std::collections::BTreeSet;

use common::striped::{Asked, config, operations};
use vpass_core::base::request::Op;
use vpass_core::drive::{Drive, Stage, Techniques};
use vpass_core::time::{Replay, run_untimed};

/// P/E cycles beyond which a block is worn, and stripes beyond which all have parity.
const T_P: u32 = 2;
const L: u64 = 60;

/// Stripes of three, 1000 reads of a block, and reclaim `block`.
fn drive(timed: bool) -> Drive {
    let more = format!(
        "parity.t_p = {T_P}\nparity.l = {L}\ndrive.write_buffer = \"24KiB\"\n\
         disturb = {{ model = \"count\", table = [{{ pec = 0, limit = [1000.0] }}] }}"
    );
    let techniques = Techniques { reclaim: "block".into(), parity: "da-raid5".into(), ..Techniques::default() };
    let mut config = config(&more);
    config.drive.spare = Some(0.5);
    let mut drive = Drive::new(config.resolve().unwrap(), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Writes pages here and there until something is so.
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
    let row = drive.all_map_rows().find(|row| u64::from(row.lpn.number()) == lpn && !row.buffered)?;
    drive.block_states().nth(drive.geometry().block_of(row.ppn).index()).map(|block| block.pec > T_P)
}

/// Stripes with a page of the host in a worn block.
fn marked(drive: &Drive) -> u64 {
    let (stripes, pec) = (drive.geometry().stripes.unwrap(), drive.block_states().map(|block| block.pec).collect::<Vec<_>>());
    let rows = drive.all_map_rows().filter(|row| !stripes.is_parity(row.lpn));
    let worn = rows.filter(|row| pec[drive.geometry().block_of(row.ppn).index()] > T_P);
    worn.map(|row| stripes.of(row.lpn)).collect::<BTreeSet<u32>>().len() as u64
}

#[test]
fn stripes_get_parity_stage_by_stage() {
    let mut drive = drive(false);
    assert_eq!(stage(&drive), Stage::Young);
    assert_eq!(operations(&mut drive, (0..60).map(|n| (Op::Write, n * 7, 1)).collect()).2, 0, "no parity");
    assert!(drive.block_states().all(|block| block.pec <= T_P) && drive.stripes_with_parity() == 0);
    write_until(&mut drive, |drive| stage(drive) == Stage::Worn);
    assert!(drive.block_states().any(|block| block.pec > T_P));
    assert!(marked(&drive) <= L && drive.stripes_with_parity() == marked(&drive), "of the stripes in worn blocks");
    assert!(drive.parity_window().is_none(), "parity does not wait yet");
    write_until(&mut drive, |drive| stage(drive) == Stage::Last);
    let stripes = drive.geometry().stripes.unwrap().count();
    assert_eq!((drive.stripes_with_parity(), drive.lifetime().unwrap().watermark()), (stripes.into(), stripes), "all of them");
    let began = drive.lifetime().unwrap().began().map(|began| began.unwrap().0);
    assert!(began[0] < began[1]);
    operations(&mut drive, vec![(Op::Write, 0, 1), (Op::Write, 30, 1), (Op::Write, 60, 1), (Op::Write, 90, 1)]);
    assert!(drive.parity_window().unwrap().stripes > 0, "as `hc` has it");
}

/// A page is read 1100 times where its block endures 1000. A block that is not worn is moved in time; of a worn one the page is rebuilt when it cannot
/// be read. In the last stage no block is moved.
#[test]
fn worn_blocks_are_left_to_parity() {
    let mut drive = drive(false);
    let read = |drive: &mut Drive, lpn: u64| {
        let before = (drive.reclaim_counts().invocations, drive.parity_counts().rebuilt);
        run_untimed(drive, &mut Asked((0..1100).map(|_| (Op::Read, lpn, 1)).collect()), &mut |_, _| true).unwrap();
        (drive.reclaim_counts().invocations - before.0, drive.parity_counts().rebuilt - before.1)
    };
    let page =
        |drive: &Drive, worn: bool| (0..u64::from(drive.geometry().host_pages)).find(|lpn| is_worn(drive, *lpn) == Some(worn)).unwrap();
    let young = page(&drive, false);
    assert_eq!(read(&mut drive, young), (1, 0));
    // A worn block is taken when no other is left to write.
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

/// In time the last stage begins before all stripes have their parity: they get it one after the other, behind the host's requests.
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
    assert_eq!((lifetime.stage(), lifetime.watermark(), long.stripes_with_parity()), (Stage::Last, stripes, stripes.into()));
    let (writes, _) = lifetime.began()[1].unwrap();
    let early = after(writes + 20);
    let watermark = early.lifetime().unwrap().watermark();
    assert!(stage(&early) == Stage::Last && watermark < stripes, "{watermark} of {stripes}");
}
