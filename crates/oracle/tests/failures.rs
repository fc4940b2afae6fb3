//! Random drives that lose a die at a random time, under the oracle.

use vpass_drive::drive::failing::TakenByFailures;
use vpass_oracle::swarm::lost_die::{LostDie, LostDieCase};

use crate::swarm::number;

/// Sums over cases, and their number.
#[derive(Debug, Default)]
struct Sums {
    cases: u64,
    rebuilt: u64,
    mended: u64,
    lost: u64,
    stopped: u64,
    /// Cases by the stage of the drive's life at the first failure. The first number stands for
    /// drives without stages.
    stages: [u64; 4],
    taken: TakenByFailures,
}

impl Sums {
    fn add(&mut self, done: &LostDie) {
        let books = &done.books;
        self.rebuilt +=
            books.rebuilt_in_background + books.rebuilt_for_reads + books.rebuilt_for_writes;
        self.mended += u64::from(books.rebuild_done.is_some());
        self.lost += u64::from(done.lost > 0);
        self.stopped += u64::from(done.stopped.is_some());
        let stage = books.happened.first().and_then(|first| first.stage);
        self.stages[stage.map_or(0, |stage| usize::from(stage.number()))] += 1;
        self.taken.not_worn += books.taken.not_worn;
        self.taken.waiting += books.taken.waiting;
        self.taken.twice_failed += books.taken.twice_failed;
    }
}

/// Runs cases, all without an error.
fn run(by_wear: bool) -> Sums {
    let (from, cases) = (number("VPASS_SEED", 0), number("VPASS_CASES", 300));
    let (mut sums, mut wrong) = (Sums { cases, ..Sums::default() }, vec![]);
    for seed in from..from + cases {
        match (LostDieCase { seed, by_wear }).run() {
            Ok(done) => sums.add(&done),
            Err(said) => wrong.push(format!("{seed}: {said}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    sums
}

/// Each kind of case is common enough to show something.
#[test]
fn nothing_is_lost_that_parity_gives_back() {
    let sums = run(false);
    let Sums { cases, rebuilt, mended, lost, stopped, .. } = sums;
    let is_common = rebuilt > 20 * cases && mended > cases / 5 && lost > cases / 10 && stopped > 0;
    assert!(is_common, "{sums:?}");
}

/// Flash fails in each stage of a drive's life if wear decides on parity. Pages are lost because
/// they had no parity, and for no other reason.
#[test]
fn what_is_lost_for_want_of_parity_is_told_apart() {
    let sums = run(true);
    let Sums { cases, rebuilt, mended, stopped, stages, taken, .. } = &sums;
    assert!(*rebuilt > 10 * cases && *mended > cases / 20 && *stopped > 0, "{sums:?}");
    assert!(stages.iter().all(|times| *times > cases / 20), "{sums:?}");
    let TakenByFailures { not_worn, waiting, twice_failed, .. } = *taken;
    let is_common = not_worn > 10 * cases && waiting > cases / 40 && twice_failed > cases / 10;
    assert!(is_common, "{sums:?}");
}

/// Drives on which a second failure, or a page past its limit, once caused an error. The drive gave
/// up a page that its stripe could restore. Or the oracle demanded the report of a loss that could
/// not be known yet. In case 1962, a program waits for a read among the host's reads, and joins its
/// die as that read ends. The next read begins at the same time. Both may go first while writes
/// wait for a free page in the buffer.
#[test]
fn drives_on_which_losses_were_once_told_wrongly() {
    for seed in [1629, 1779, 1962, 3289, 6624, 7264, 8873, 8882, 40_526] {
        if let Err(said) = (LostDieCase { seed, by_wear: false }).run() {
            panic!("seed {seed}: {said}");
        }
    }
}
