//! Cost of parity in the simulator: seconds for each flash operation of random writes and of random
//! reads, under each parity technique and without parity. Also the number of operations per host
//! page. The drives run in turn, so that a slow phase of the machine slows all of them. Ratios are
//! medians over the rounds. `--small` runs the bench at a size that fits a test.

#[expect(dead_code, reason = "every bench uses its own part")]
mod shared;

use shared::{Size, Uniform, config, say, untimed_s};
use vpass_drive::drive::{Drive, Techniques};
use vpass_techniques::{card, usual};

const TECHNIQUES: [&str; 4] = ["none", "raid5", "ppc", "hc"];

fn main() {
    let size = Size::of_arguments();
    let mut drives = TECHNIQUES.map(|parity| drive(&size, parity));
    let (rounds, pages) = (size.pick(9, 3), size.pick(1_000_000, 10_000));
    // This runs until garbage collection has reached blocks that hold parity.
    turn(&mut drives, size.pick(8_000_000, 20_000), 256, 0);
    let writes: Vec<_> = (1..=rounds).map(|round| turn(&mut drives, pages, 256, round)).collect();
    report("writes", "goal 1.20", &writes);
    let reads: Vec<_> = (1..=rounds).map(|round| turn(&mut drives, 4 * pages, 0, round)).collect();
    report("reads", "goal 1.00", &reads);
}

/// Creates a drive of sixteen dies with 30 % spare. With a parity page for eight host pages, half
/// of the spare is left.
fn drive(size: &Size, parity: &str) -> Drive {
    let blocks = size.pick(512, 48);
    let text = format!(
        r#"
        geometry = {{ channels = 8, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = {blocks}, wordlines_per_block = 128, cell = "tlc", page_size = "16KiB" }}
        timing = {{ sense_us = 40, program_us = 380, erase_us = 3500, channel_mb_s = 2000 }}
        drive = {{ spare = 0.3 }}
        disturb = {{ model = "wordline", table = [{{ pec = 0, limit = [405000], alpha = [9.15] }}] }}
        "#
    );
    let techniques = Techniques { parity: card(parity), ..usual() };
    let mut drive =
        Drive::new(config(&text, |_| {}), &techniques, false).expect("the techniques exist");
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Nanoseconds per flash operation, and operations per host page.
type Cost = [(f64, f64); TECHNIQUES.len()];

fn turn(
    drives: &mut [Drive; TECHNIQUES.len()],
    pages: u64,
    writes_of_256: u64,
    round: u64,
) -> Cost {
    drives.each_mut().map(|drive| {
        let before = operations(drive);
        let page_bytes = drive.geometry().page_bytes;
        let seconds = untimed_s(
            drive,
            Uniform::new(drive, pages, page_bytes, writes_of_256, 1).of_round(round),
        );
        let done = (operations(drive) - before) as f64;
        (1e9 * seconds / done, done / pages as f64)
    })
}

fn operations(drive: &Drive) -> u64 {
    let counts = drive.flash_counts();
    counts.reads.iter().chain(&counts.programs).chain(&counts.erases).sum()
}

fn report(workload: &str, goal: &str, rounds: &[Cost]) {
    let median = |of: &dyn Fn(&Cost) -> f64| {
        let mut of_rounds: Vec<f64> = rounds.iter().map(of).collect();
        of_rounds.sort_by(f64::total_cmp);
        of_rounds[of_rounds.len() / 2]
    };
    for (n, technique) in TECHNIQUES.iter().enumerate() {
        let (ns, ratio) = (median(&|r| r[n].0), median(&|r| r[n].0 / r[0].0));
        let (operations, more) = (median(&|r| r[n].1), median(&|r| r[n].1 / r[0].1));
        say(&format!(
            "{workload:<7} {technique:<6} {ns:>6.1} ns a flash operation, {ratio:.2} of none ({goal}); {operations:.2} operations a host page, {more:.2} of none"
        ));
    }
}
