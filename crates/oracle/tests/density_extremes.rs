//! Every technique of low density or shadow blocks, with each number of `[density]` at its
//! extremes. Reads are skewed, and writes do not follow them. No page is lost, no copy has wrong
//! data, and the drive always finds a free block.

use vpass_drive::base::units::Lpn;
use vpass_techniques::all;

use crate::watched::{self, Random, end_without_loss};

const EXTREMES: &[&str] = &[
    "",
    "limit_factor = 1",
    "limit_factor = 100",
    "pool = 0",
    "pool = 1",
    "keep_pool = false",
    "low_density = 0",
    "low_density = 1",
    "monitor = 0",
    "monitor = 1",
    "interval_average = \"refreshes\"",
    "interval_average = \"recent:1\"",
    "shadow = 0",
    "shadow = 1",
    "shadow = 1, shadow_pages = 1, monitor = 1",
    "shadow = 1, shadow_pages = 65535, monitor = 1",
    "spare_share = 0, shadow_pages = 5",
    "spare_share = 0.5, shadow = 1, low_density = 1, shadow_pages = 5, monitor = 1",
];

/// Serves operations of which nine in ten go to 40 pages, on a full drive of 60 blocks of 24 pages
/// on two dies. About 180 reads use up a block's limit. Every `write_every`th operation is a write.
/// Returns the technique's counts. No page may be lost.
fn run(reclaim: &str, density: &str, model: &str, write_every: u32) -> Vec<(&'static str, u64)> {
    let text = format!(
        r#"
        geometry = {{ channels = 2, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4 }}
        disturb = {{ {model} }}
        reclaim = {{ check_interval = 5 }}
        density = {{ {density} }}
        "#
    );
    let mut drive = watched::drive(&text, reclaim, false);
    let (pages, mut random) = (drive.geometry().host_pages, Random(0));
    let mut draw = |below: u32| random.below(below.into()) as u32;
    for n in 1..=60_000 {
        let lpn = Lpn::new(if draw(10) > 0 { draw(40) * 7 % pages } else { draw(pages) });
        if n % write_every == 0 {
            drive.write_page(lpn, u64::MAX);
        } else {
            drive.read_page(lpn);
        }
    }
    let counts = drive.technique_counts();
    let case = format!("{reclaim}, {density}, {model}, a write in {write_every}: {counts:?}");
    end_without_loss(&mut drive, &case);
    counts
}

#[test]
fn nothing_is_lost_at_any_extreme() {
    let count = r#"model = "count", table = [{ pec = 0, limit = [200] }]"#;
    let wordline = r#"model = "wordline", table = [{ pec = 0, limit = [800], alpha = [4.0] }]"#;
    for reclaim in
        all().reclaim.iter().filter(|t| t.keeps_apart || t.lowers_density).map(|t| t.name)
    {
        for density in EXTREMES {
            for (model, write_every) in [(count, 1000), (count, 5), (wordline, 1000), (wordline, 5)]
            {
                run(reclaim, density, model, write_every);
            }
        }
    }
}

/// The runs above use shadow blocks in all their ways.
#[test]
fn shadow_blocks_are_filled_used_again_and_sent_back() {
    let model = r#"model = "count", table = [{ pec = 0, limit = [200] }]"#;
    let density = "shadow_pages = 5, monitor = 1, spare_share = 0.1";
    let counts = run("read-leveling", density, model, 1000);
    let at_least_one = |wanted: &str| {
        assert!(counts.iter().any(|(name, n)| *name == wanted && *n > 0), "{wanted}: {counts:?}")
    };
    ["shadow_reuses", "shadow_erases", "shadow_evictions"].into_iter().for_each(at_least_one);
}
