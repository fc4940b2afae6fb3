//! What do techniques that count by wordlines cost a read? Nanoseconds over `block`, the median of three rounds.
//! `--small` runs it at a size that fits a test.

#[expect(dead_code, reason = "every bench uses its own part")]
mod shared;

use shared::{Size, Skewed, config, prepared_under, say, straw, untimed, untimed_from};

/// At 2 TiB, where everything misses the cache and few blocks are looked at, and on 30 blocks that are worn out again and again.
fn main() {
    let size = Size::of_arguments();
    let reads = size.pick(60_000_000, 200_000);
    let table = size.pick(1 << 24, 1 << 16);
    let few_blocks = || config(FEW_BLOCKS, |_| {});
    let mut block = [0.0; 3];
    for technique in ["block", "straw-wl", "straw-ss", "straw-ss-sound"] {
        let mut drive = prepared_under(straw(&size), technique);
        let even = 1e9 / untimed(&mut drive, reads, 16_384, 0);
        let pages = Skewed::table(&drive, table);
        let skewed = 1e9 / untimed_from(&mut drive, reads, |drive| Skewed::new(drive, &pages, reads));
        drop(drive);
        let mut drive = prepared_under(few_blocks(), technique);
        let worn = 1e9 / untimed(&mut drive, reads, 16_384, 0);
        let figures = [even, skewed, worn];
        if technique == "block" {
            block = figures;
        }
        let [even, skewed, worn] = figures;
        say(&format!(
            "{technique:<15} ns a read: even {even:>5.1} ({:+.1} over block, goal +40), skewed {skewed:>5.1} ({:+.0} %, goal +30), 30 blocks {worn:>5.1} ({:+.1})",
            even - block[0],
            100.0 * (skewed / block[1] - 1.0),
            worn - block[2]
        ));
    }
}

/// Full blocks of `straw-2t-tlc` with the limits that it has at 2,000 cycles.
const FEW_BLOCKS: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 2568, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 40, program_us = 380, erase_us = 3500, channel_mb_s = 2000 }
    drive = { spare = 0.5 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [405000], alpha = [9.15] }] }
"#;
