//! However a pause is cut into pieces, the drive is the same.

use vpass_drive::base::units::Ns;

use crate::common::cases::live;
use crate::common::host::Host;

/// Number of drives.
const CASES: u64 = 40;
/// Number of requests of a case.
const REQUESTS: u64 = 400;

/// State of a drive after a case: its completions, its map, and its counts.
type End = (Vec<(u64, Ns, bool)>, u64, String);

fn play(seed: u64, pieces: u64) -> Option<End> {
    let mut host = Host::new(live(seed)?, seed, pieces);
    host.run(REQUESTS);
    let log = host.log;
    let (drive, _) = host.actor.end();
    let map = drive.map_rows().fold(0u64, |sum, row| {
        sum.rotate_left(5) ^ u64::from(row.ppn.number()) << 24 ^ u64::from(row.lpn.number())
    });
    let counts = format!(
        "{:?} {:?} {:?} {}",
        drive.flash_counts(),
        drive.reclaim_counts(),
        drive.refresh_counts(),
        drive.lost_pages()
    );
    Some((log, map, counts))
}

#[test]
fn a_pause_in_pieces_has_the_effects_of_the_pause() {
    let mut drives = 0;
    for seed in 0..CASES {
        let Some(whole) = play(seed, 1) else { continue };
        drives += 1;
        for pieces in [2, 7, 100] {
            let cut = play(seed, pieces).expect("the drive was made before");
            assert_eq!(whole, cut, "seed {seed}, {pieces} pieces");
        }
    }
    assert!(drives * 2 > CASES, "{drives} of {CASES} drives could be made");
}
