//! Every text either describes a possible drive or is refused with a message: changed presets never
//! panic.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_techniques::{resolve, usual};

const PRESETS: [&str; 4] = [
    include_str!("../../../presets/drives/tiny.toml"),
    include_str!("../../../presets/drives/straw-2t-tlc.toml"),
    include_str!("../../../presets/drives/ipr-128g-tlc.toml"),
    include_str!("../../../presets/drives/modern-qlc.toml"),
];

/// Replacements for numbers.
const ODD: [&str; 14] = [
    "0",
    "1",
    "-1",
    "3",
    "65535",
    "4294967295",
    "9223372036854775807",
    "1e308",
    "nan",
    "inf",
    "0.5",
    "\"16KiB\"",
    "[]",
    "true",
];

fn mutate(text: &str, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut lines: Vec<String> =
        text.lines().filter(|l| !l.trim_start().starts_with('#')).map(str::to_owned).collect();
    for _ in 0..=rng.next_u64() % 3 {
        let i = rng.next_u64() as usize % lines.len();
        match rng.next_u64() % 8 {
            0 => drop(lines.remove(i)),
            1 => lines.insert(i, lines[i].clone()),
            2 => {
                let cut = rng.next_u64() as usize % (lines[i].len() + 1);
                lines[i] = lines[i].chars().take(cut).collect();
            }
            _ => {
                if let Some((key, _)) = lines[i].split_once('=') {
                    lines[i] = format!("{key}= {}", ODD[rng.next_u64() as usize % ODD.len()]);
                }
            }
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_presets_are_refused_in_words_or_work() {
    let cases: u64 = std::env::var("VPASS_FUZZ_EXECS")
        .map_or(20_000, |n| n.parse().expect("a number of mutants"));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut refused, mut resolved, mut made) = (0, 0, 0);
    for case in 0..cases {
        let text = mutate(PRESETS[case as usize % PRESETS.len()], &mut rng);
        let config = toml::from_str::<DriveConfig>(&text)
            .map_err(|e| e.to_string())
            .and_then(|c| resolve(c).map_err(|e| e.to_string()));
        match config {
            Err(words) => {
                assert!(words.len() > 10, "{words}");
                refused += 1;
            }
            Ok(config) => {
                resolved += 1;
                // Small drives are also made and filled.
                let pages = u64::from(config.geometry.planes())
                    * u64::from(config.geometry.blocks_per_plane.unwrap_or(0))
                    * u64::from(config.geometry.pages_per_block());
                if pages < 200_000
                    && config.drive.write_buffer.0 < 1 << 30
                    && config.start.overwrite <= 2.0
                    && made < 40
                {
                    made += 1;
                    Drive::new(config, &usual(), false)
                        .expect("the techniques exist")
                        .precondition(case);
                }
            }
        }
    }
    assert!(
        refused > cases / 10 && resolved > cases / 10 && made > 0,
        "{refused} refused, {resolved} resolved, {made} made"
    );
}
