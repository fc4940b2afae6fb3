//! Cost per read of techniques that count by wordlines. Their drives run in turn, so that a slow
//! phase of the machine slows all of them. Results are medians of the rounds' differences.
//! `--small` runs the bench at a size that fits a test.

#[expect(dead_code, reason = "every bench uses its own part")]
mod shared;

use shared::{Size, Skewed, Uniform, config, prepared_under, say, straw, untimed_s};
use vpass_drive::drive::Drive;

const TECHNIQUES: [&str; 4] = ["block", "straw-wl", "straw-ss", "straw-ss-sound"];

/// Measures at 2 TiB, where every access misses the cache and few blocks are checked, and on 30
/// blocks that wear out again and again.
fn main() {
    let size = Size::of_arguments();
    let (rounds, reads) = (size.pick(9, 3), size.pick(6_000_000, 50_000));
    let even = |drive: &mut Drive, round| {
        untimed_s(drive, Uniform::new(drive, reads, 16_384, 0, 1).of_round(round))
    };

    let mut drives = TECHNIQUES.map(|technique| prepared_under(straw(&size), technique));
    report("even", "goal +40 ns", &in_turns(&mut drives, rounds, reads, even));
    let pages = Skewed::table(&drives[0], size.pick(1 << 24, 1 << 16));
    let skewed =
        |drive: &mut Drive, round| untimed_s(drive, Skewed::of_round(drive, &pages, reads, round));
    report("skewed", "goal +30 %", &in_turns(&mut drives, rounds, reads, skewed));
    drop(drives);
    let mut drives =
        TECHNIQUES.map(|technique| prepared_under(config(FEW_BLOCKS, |_| {}), technique));
    report("30 blocks", "no goal", &in_turns(&mut drives, rounds, reads, even));
}

/// Returns the nanoseconds per read of every drive, round by round.
fn in_turns(
    drives: &mut [Drive; 4],
    rounds: u64,
    reads: u64,
    seconds: impl Fn(&mut Drive, u64) -> f64,
) -> Vec<[f64; 4]> {
    (0..rounds)
        .map(|round| drives.each_mut().map(|drive| 1e9 * seconds(drive, round) / reads as f64))
        .collect()
}

fn report(workload: &str, goal: &str, rounds: &[[f64; 4]]) {
    let median = |of: &dyn Fn(&[f64; 4]) -> f64| {
        let mut of_rounds: Vec<f64> = rounds.iter().map(of).collect();
        of_rounds.sort_by(f64::total_cmp);
        of_rounds[of_rounds.len() / 2]
    };
    for (n, technique) in TECHNIQUES.iter().enumerate() {
        let (ns, over, ratio) =
            (median(&|r| r[n]), median(&|r| r[n] - r[0]), median(&|r| r[n] / r[0]));
        say(&format!(
            "{workload:<10} {technique:<15} {ns:>6.1} ns a read: {over:+.1} ns, {:+.0} % over block ({goal})",
            100.0 * (ratio - 1.0)
        ));
    }
}

/// Full blocks of `straw-2t-tlc` with its limits at 2,000 cycles.
const FEW_BLOCKS: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 2568, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 40, program_us = 380, erase_us = 3500, channel_mb_s = 2000 }
    drive = { spare = 0.5 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [405000], alpha = [9.15] }] }
"#;
