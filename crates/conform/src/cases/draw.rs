//! Draws stored cases. The swarm of the oracle draws the drives, and this file draws the techniques,
//! the gear and the requests. Only cases that can be played are kept.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use rayon::prelude::*;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::config::{DriveConfig, Given, Params};
use vpass_drive::hints::HintRange;
use vpass_oracle::swarm;
use vpass_techniques::all;

use super::{Case, FLUSH, Gear, Row, outcome};

/// First case of the swarm from which limits may scatter.
const FIRST: u64 = 10_000_000;
/// Largest number of flash pages of a stored drive, so that a case takes milliseconds.
const MOST_PAGES: u32 = 20_000;
/// Largest number of measured requests. Equal requests are stored once.
const MOST_REQUESTS: u64 = 6000;
/// Number of draws of a drive before the techniques are drawn again.
const DRAWS: usize = 20;

/// Options of `vpass-conform draw`.
#[derive(clap::Args)]
pub(crate) struct DrawArgs {
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of cases.
    #[arg(long, default_value = "3000")]
    cases: NonZeroUsize,
    /// File of the cases.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Draws cases and writes them. Returns a sentence.
pub(crate) fn draw(args: &DrawArgs) -> Result<String, String> {
    let lines = (0..args.cases.get() as u64).into_par_iter().map(|number| {
        let mut dice = Dice(args.seed << 32 | number << 8);
        loop {
            if let Some(case) = draw_case(&mut dice).filter(|case| outcome(case, false).is_ok()) {
                return serde_json::to_string(&case).expect("numbers and text") + "\n";
            }
        }
    });
    let lines: Vec<String> = lines.collect();
    let packed = zstd::encode_all(lines.concat().as_bytes(), 19).map_err(|e| e.to_string())?;
    fs::write(&args.out, &packed).map_err(|e| format!("{}: {e}", args.out.display()))?;
    Ok(format!("{}: {} cases, {} bytes", args.out.display(), lines.len(), packed.len()))
}

/// Random numbers (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        self.card(of).clone()
    }

    fn card<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// Draws a case; `None` if the swarm has no small drive for its techniques.
fn draw_case(dice: &mut Dice) -> Option<Case> {
    let (reclaim, gc) = (dice.card(all().reclaim), dice.card(all().gc));
    let parity = dice.one_in(2).then(|| dice.card(all().parity));
    let refresh = dice.one_in(2).then(|| dice.card(all().refresh));
    let fails = dice.one_in(4);
    let (seed, config, techniques) = (0..DRAWS).find_map(|_| {
        let seed = FIRST + (dice.next() >> 24);
        let drawn = swarm::Case::new(seed).under(reclaim).cleaned(gc);
        let drawn = parity.map_or(drawn, |parity| drawn.striped(parity));
        let drawn = refresh.map_or(drawn, |refresh| drawn.refreshed(refresh));
        let (config, techniques) = if fails { drawn.failing() } else { drawn }.drive().ok()?;
        let is_small = Geometry::new(&config).raw_pages() <= MOST_PAGES;
        is_small.then_some((seed, config, techniques))
    })?;
    let gear = dice.pick(&[Gear::Timed, Gear::Timed, Gear::Untimed, Gear::Fluid]);
    let goes_by_a_clock = techniques.refresh.name != "none" || config.start.age.0 > 0;
    let is_closed = gear != Gear::Fluid && !goes_by_a_clock && dice.one_in(2);
    let rows = draw_rows(dice, &config, gear, goes_by_a_clock);
    let hints = config.hints.said.as_ref().map(|ranges| {
        let word = |latency: Option<_>| latency.map_or("none", |of: AccessLatency| of.name());
        let range =
            |of: &HintRange| (of.offset.0, of.bytes.0, word(of.access_latency).to_owned(), of.rank);
        ranges.iter().map(range).collect()
    });
    let mut case = Case {
        reclaim: techniques.reclaim.name.into(),
        gc: techniques.gc.name.into(),
        refresh: techniques.refresh.name.into(),
        parity: techniques.parity.name.into(),
        seed,
        gear,
        computed: dice.one_in(2),
        depth: if is_closed { dice.pick(&[1, 4, 32]) } else { 0 },
        hints,
        failures: vec![],
        warm_up: if dice.one_in(4) { rows.len() / 4 } else { 0 },
        rows,
        drive: String::new(),
    };
    if fails {
        let failures = swarm::failures(seed, &Geometry::new(&config), case.requests());
        case.failures = failures.iter().map(ToString::to_string).collect();
    }
    case.drive = toml::to_string(&without_others(config, &case)).ok()?;
    Some(case)
}

/// Returns the drive without parameters of techniques that the case does not use.
fn without_others(mut config: DriveConfig, case: &Case) -> DriveConfig {
    let keep = |params: &mut Params, name: &str| {
        let mut kept = Params::default();
        for Given { technique, key, number } in params.iter() {
            if technique.is_none_or(|of| of == name) {
                kept.set(technique, key, number);
            }
        }
        *params = kept;
    };
    keep(&mut config.reclaim.params, &case.reclaim);
    keep(&mut config.gc.params, &case.gc);
    keep(&mut config.refresh.params, &case.refresh);
    keep(&mut config.parity.params, &case.parity);
    config
}

/// Draws requests: reads of a hot place and of recently written pages, writes, trims and flushes.
/// The times of a drive that `goes_by_a_clock` are those of its refresh period and of its ages.
fn draw_rows(dice: &mut Dice, config: &DriveConfig, gear: Gear, goes_by_a_clock: bool) -> Vec<Row> {
    let page = config.geometry.page_size.0;
    let pages = config.drive.capacity.expect("a resolved drive").0 / page;
    let weights = [dice.pick(&[20, 60, 90]), dice.pick(&[5, 40, 80]), dice.pick(&[0, 0, 2, 10])];
    let flushes = if gear == Gear::Timed { dice.pick(&[0, 0, 2]) } else { 0 };
    let hot_pages = dice.pick(&[1, 2, 3, 50]).min(pages);
    let hot = dice.below(pages - hot_pages + 1);
    let (hot_share, hot_writes) = (dice.pick(&[0, 50, 90]), dice.one_in(2));
    let repeats = dice.pick(&[&[1, 1, 2], &[1, 10, 50], &[20, 100, 300]]);
    let longest = dice.pick(&[5, 5, 80]).min(pages);
    let is_hinted = config.hints.said.is_some();
    let mut written = [hot; 4];
    let (mut rows, mut from, mut requests) = (vec![], 0u64, 0);
    let count = 50 + dice.below(150);
    while (rows.len() as u64) < count && requests < MOST_REQUESTS {
        let share = dice.below(weights.iter().sum::<u64>() + flushes);
        let op = match share {
            n if n < weights[0] => 0,
            n if n < weights[0] + weights[1] => 1,
            n if n < weights.iter().sum() => 2,
            _ => FLUSH,
        };
        let is_hot = dice.below(100) < hot_share && (op == 0 || hot_writes);
        let lpn = if is_hot {
            hot + dice.below(hot_pages)
        } else if op == 0 && dice.one_in(4) {
            dice.pick(&written)
        } else {
            dice.below(pages)
        };
        let sectors = (page / 512).max(1);
        let (skip, bytes) = match dice.below(10) {
            0 => (0, page * (1 + dice.below(longest))),
            1 => (dice.below(page), 1 + dice.below(3 * page)),
            2..=4 if op == 1 => {
                let first = dice.below(sectors);
                (512 * first, 512 * (1 + dice.below(sectors - first)))
            }
            _ => (0, page),
        };
        let bytes = bytes.min(pages * page - lpn * page - skip);
        let times = match op {
            0 if bytes <= page => dice.pick(repeats),
            1 if bytes <= page => dice.pick(&[1, 1, 1, 5]),
            _ => 1,
        };
        if op == 1 {
            written.rotate_right(1);
            written[0] = lpn;
        }
        let hint = if is_hinted { dice.pick(&[0, 0, 0, 1, 2, 3]) } else { 0 };
        let gap = dice.pick(&[0, 1, 1, 1, 3, 20]);
        let further = lpn.cast_signed() - from.cast_signed();
        rows.push((op, further, skip as u32, bytes as u32, gap, times, hint));
        (from, requests) = (lpn, requests + u64::from(times));
    }
    let gaps: u64 = rows.iter().map(|row: &Row| row.4 * u64::from(row.5)).sum();
    let unit = if goes_by_a_clock {
        // A refresh period may be much shorter than an age that changes error rates.
        let periods = config.refresh.period.0.saturating_mul(dice.pick(&[1, 2, 6, 20]));
        let ages = config.error.longest_age.0.saturating_sub(config.start.age.0);
        let all = if dice.one_in(2) { periods.min(ages) } else { periods };
        (all / gaps.max(1)).max(1)
    } else {
        dice.pick(&[0, 10_000, 100_000, 2_000_000]).max(u64::from(gear == Gear::Fluid) * 10_000)
    };
    for row in &mut rows {
        row.4 *= unit;
    }
    rows
}
