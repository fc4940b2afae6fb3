//! Pure functions of the drive, compared with a second derivation of each: limits by wear, layer,
//! block, kind and coding, error rates and retries by age, limits from a code, binomial tails,
//! orders of a computed start, codings, and times of operations. The derivations are written for
//! clearness, from the papers and from the descriptions of the keys. They share no code with the
//! drive.

mod code;
mod hints;
mod late;
mod limits;
mod lists;
mod positions;
mod rates;
mod stripe;
mod tail;
mod times;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use vpass_drive::api::parity;
use vpass_drive::base::dose::Dose;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::span::{HOUR, Span, YEAR};
use vpass_drive::base::steady::Order;
use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{BlockId, Bytes, Lpn, WordlineInBlock};
use vpass_drive::config::{
    DisturbConfig, DisturbModel, DriveConfig, ErrorConfig, ErrorLaw, ErrorRow, KindUs, PerPec,
    ProgramUnit, Schedule, TimeUnit,
};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::error::ages::{Ages, STEPS};
use vpass_drive::error::bch::Bch;
use vpass_drive::error::budget::{AgedLimits, Asked};
use vpass_drive::error::chance::Chances;
use vpass_drive::error::tail::{bits_for, ln_beyond, ln_within, rate_at};
use vpass_drive::hints::{Budgets, HintRange, Hinted};
use vpass_techniques::{card, usual};

use self::code::Code;
use self::limits::Endurances;
use self::lists::Lists;
use self::positions::Positions;
use self::rates::{ErrorRates, Whose, end_of, step_of};
use self::tail::Tail;

/// Number of random configurations, and of those with limits from a code, which take longer.
const CONFIGS: u64 = 10_000;
const CODES: usize = 200;

/// Random choices of one configuration.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number from `low` to `high`, both included.
    fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.unit() * f64::from(high - low + 1)) as u32
    }

    fn real(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.between(0, of.len() as u32 - 1) as usize].clone()
    }

    fn list(&mut self, len: usize, low: f64, high: f64) -> Vec<f64> {
        (0..len).map(|_| self.real(low, high)).collect()
    }

    /// Returns ascending P/E counts.
    fn counts(&mut self, len: usize) -> Vec<u32> {
        let first = self.between(0, 500);
        let next = |pec: &mut u32, _| {
            let now = *pec;
            *pec += self.between(1, 2000);
            Some(now)
        };
        (0..len).scan(first, next).collect()
    }
}

/// Returns a drive with these cells and tables.
fn drive(cell: &str, wordlines: u32, strings: u32, tables: &str) -> DriveConfig {
    let text = format!(
        r#"
        geometry = {{ channels = 5, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = {wordlines}, strings_per_layer = {strings}, cell = "{cell}", page_size = "8KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.5 }}
        {tables}
        "#
    );
    toml::from_str(&text).unwrap()
}

/// Draws limits by group and P/E count, with factors of layers, blocks and kinds.
fn draw_limits(dice: &mut Dice, config: &mut DriveConfig) {
    let model = dice.pick(&[DisturbModel::Count, DisturbModel::Wordline]);
    let by_wordline = model == DisturbModel::Wordline;
    let groups = if by_wordline { dice.between(1, 4) as usize } else { 1 };
    let kinds = config.geometry.cell.bits() as usize;
    let len = dice.between(1, 4) as usize;
    let rows = dice.counts(len);
    let row = |pec: u32| PerPec {
        pec,
        limit: dice.list(groups, 1.0, 900_000.0),
        alpha: if by_wordline { dice.list(groups, 1.0, 12.0) } else { vec![] },
    };
    let table = rows.into_iter().map(row).collect();
    let mut kind_factor = dice.list(kinds, 1.0, 4.0);
    kind_factor[dice.between(0, kinds as u32 - 1) as usize] = 1.0;
    let group_share = dice.list(groups, 0.1, 1.0);
    let sum: f64 = group_share.iter().sum();
    let group_share = group_share.into_iter().map(|share| share / sum).collect();
    // Only wordlines with neighbours differ among layers and blocks.
    let varies = |dice: &mut Dice, of: &[f64]| if by_wordline { dice.pick(of) } else { 0.0 };
    config.disturb = DisturbConfig {
        model,
        groups: (0..groups).map(|group| format!("g{group}")).collect(),
        group_share: if dice.unit() < 0.5 { group_share } else { vec![] },
        spread: if by_wordline && dice.unit() < 0.7 { dice.list(groups, 1.0, 3.0) } else { vec![] },
        block_variation: varies(dice, &[0.0, 0.0, 0.3, 2.0]),
        limit_sigma_block: varies(dice, &[0.0, 0.3]),
        limit_sigma_layer: varies(dice, &[0.0, 0.3]),
        kind_factor: if dice.unit() < 0.7 { kind_factor } else { vec![] },
        table,
        ..DisturbConfig::default()
    };
    config.density.limit_factor = dice.pick(&[1.0, 1.7, 3.0]);
}

/// Draws error rates, and the levels that decode them.
fn draw_rates(dice: &mut Dice, config: &mut DriveConfig) {
    let (groups, kinds) = (config.disturb.groups.len(), config.geometry.cell.bits() as usize);
    let model = dice.pick(&[ErrorLaw::PowerLaw, ErrorLaw::PowerLaw, ErrorLaw::Table]);
    let is_law = model == ErrorLaw::PowerLaw;
    let (few, ages) = (dice.between(1, 3), dice.pick(&[1.0, 24.0, 1000.0]));
    let ages: Vec<Span> =
        (1..=few).map(|n| Span((ages * HOUR as f64) as u64 * u64::from(n * n))).collect();
    let row = |row: &PerPec| ErrorRow {
        pec: row.pec,
        base: dice.list(groups, 1e-4, 6e-3),
        retention: (0..groups)
            .map(|_| {
                let mut rates = dice.list(ages.len(), 1e-6, 4e-3);
                rates.sort_by(f64::total_cmp);
                rates
            })
            .collect(),
    };
    let table: Vec<ErrorRow> =
        if is_law { vec![] } else { config.disturb.table.iter().map(row).collect() };
    let law = |dice: &mut Dice, low, high| if is_law { dice.real(low, high) } else { 0.0 };
    config.error = ErrorConfig {
        model,
        e: law(dice, 1e-4, 4e-3),
        a: law(dice, 0.0, 1e-9),
        k: dice.real(0.5, 2.0),
        b: law(dice, 0.0, 1e-4),
        m: dice.real(0.0, 0.3),
        n: dice.real(0.2, 1.0),
        time_unit: dice.pick(&[TimeUnit::Hours, TimeUnit::Days]),
        base_by_group: if dice.unit() < 0.3 { dice.list(groups, 0.5, 1.2) } else { vec![] },
        retention_by_group: if dice.unit() < 0.3 { dice.list(groups, 0.5, 2.0) } else { vec![] },
        base_by_kind: if dice.unit() < 0.3 { dice.list(kinds, 0.5, 1.2) } else { vec![] },
        temperature_c: dice.pick(&[None, Some(25.0), Some(55.0)]),
        ages: if is_law { vec![] } else { ages },
        table,
        ..ErrorConfig::default()
    };
    let levels = dice.between(1, 5);
    config.ecc.cap = (0..levels.cast_signed()).map(|level| 0.0085 * 1.25f64.powi(level)).collect();
    config.ecc.retry_decode_us = vec![20.0; levels as usize - 1];
}

/// Returns the configuration of a number, with its dice.
fn drawn(seed: u64) -> (DriveConfig, Dice) {
    let mut dice = Dice::new(seed);
    let cell = dice.pick(&["slc", "mlc", "tlc", "tlc-2-3-2", "qlc"]);
    let (strings, layers) = (dice.between(1, 4), dice.between(1, 20));
    let mut config = drive(cell, strings * layers, strings, "");
    draw_limits(&mut dice, &mut config);
    if dice.unit() < 0.6 {
        draw_rates(&mut dice, &mut config);
    }
    (config, dice)
}

/// Compares the limits of `[disturb]` at a P/E count, for a wordline of a block.
fn check_limits(config: &DriveConfig, dice: &mut Dice) {
    let (table, own) = (LimitTable::of(config).unwrap(), Endurances::new(config, None));
    assert_eq!(table.groups(), own.groups());
    let last = config.disturb.table.last().map_or(0, |row| row.pec);
    for _ in 0..4 {
        let wordline = dice.between(0, config.geometry.wordlines_per_block - 1);
        let (block, index) = (BlockId::new(dice.between(0, 199)), WordlineInBlock::new(wordline));
        let any = dice.between(0, 2 * last + 1);
        let pec = dice.pick(&[any, last, last + 1, 100_000]);
        let group = table.group_of(index);
        assert_eq!(group, own.group_of(wordline));
        let (is, should_be) = (table.truth(group, pec), own.truth(group, pec));
        assert_eq!(is.limit.in_1024ths().cast_unsigned(), should_be.limit, "at {pec} cycles");
        assert_eq!(u64::from(is.alpha.in_256ths()), should_be.alpha, "at {pec} cycles");
        let factor = table.block_factor(block);
        assert_eq!(factor, own.block_factor(block), "block {block}");
        let limit = table.limit_of(is.limit, index, factor);
        let own_limit = own.limit_of(should_be.limit, wordline, factor);
        assert_eq!(limit.in_1024ths().cast_unsigned(), own_limit, "wordline {wordline}");
        let kinds = config.geometry.cell.bits();
        for set in 1..1u32 << kinds {
            let of_kind = |kind: &u32| set >> kind & 1 == 1;
            let weakest = (0..kinds).filter(of_kind).map(|kind| own.limit_of_kind(own_limit, kind));
            let is = table.limit_of_kinds(limit, set).in_1024ths().cast_unsigned();
            assert_eq!(Some(is), weakest.min(), "kinds {set:#b}");
        }
        for mode in 0..=6 {
            let Some(should_be) = own.in_mode(own_limit, mode) else { continue };
            let is = table.in_mode(limit, mode).in_1024ths().cast_unsigned();
            assert_eq!(is, should_be, "coding {mode}");
        }
        // A policy never gets a better limit than the truth of a fresh page.
        if config.error.model == ErrorLaw::None {
            let told = table.lookup(group, pec);
            assert!(told.limit <= is.limit && told.alpha >= is.alpha, "at {pec} cycles");
        }
    }
}

/// Compares limits by age and retries, of a drive whose limits follow from this code if it has one.
/// Both sides round, together by less than a read.
fn check_aged(config: &DriveConfig, code: Option<&Code>, pecs: &[u32], dice: &mut Dice) {
    let table = LimitTable::of(config).unwrap();
    let aged = AgedLimits::of(config).unwrap().expect("data has error rates");
    let own = ErrorRates::new(config, code.cloned()).unwrap();
    let endurances = Endurances::new(config, code);
    let levels = own.level_caps().len();
    assert_eq!(levels, aged.ladder().retries() + 1);
    for (level, cap) in own.level_caps().iter().enumerate() {
        assert!((aged.ladder().cap(level) / cap - 1.0).abs() < 1e-6, "level {level}: {cap}");
    }
    for pec in pecs {
        let group = dice.between(0, table.groups() as u32 - 1) as usize;
        let kind = dice.between(0, config.geometry.cell.bits() - 1);
        let any = dice.between(0, STEPS as u32 - 1);
        let step = dice.pick(&[0, 1, any]);
        let limits = own.limits(&endurances, *pec, Whose { group, kind, step });
        let is = |level: usize| {
            let step = step as usize;
            aged.truth(&table, *pec, Asked { group, kind: kind as usize, level, step })
        };
        for (level, should_be) in limits.iter().enumerate().take(levels) {
            let (is, should_be) = (is(level), *should_be);
            // Limits below 0 stand for data that age alone has lost.
            let gap = 1024.0 + should_be as f64 * 1e-9;
            assert!(
                (is - should_be).abs() as f64 <= gap || is < 0 && should_be < 0,
                "at {pec} cycles, step {step}, {level} retries: {is} for {should_be}"
            );
        }
        // The error rate of a page rises with its dose.
        let (first, second) = (limits[0], limits[levels]);
        let above = is(aged.above_first());
        if second > first + 100_000 && first >= 0 {
            let dose = first / 2;
            let of_1024ths = |count: i64| Dose::of_1024ths(count);
            let rate = aged.rate(of_1024ths(dose), of_1024ths(is(0)), of_1024ths(above));
            let own = own.rate(dose as f64, first, second);
            assert!((rate - own).abs() < 1e-4 * own.max(1e-3), "{rate} for {own}");
        }
    }
}

#[test]
fn limits_and_error_rates_are_those_of_ten_thousand_configurations() {
    let mut with_rates = 0;
    for seed in 0..CONFIGS {
        let (config, mut dice) = drawn(seed);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_limits(&config, &mut dice);
            if config.error.model != ErrorLaw::None {
                let last = config.disturb.table.last().map_or(0, |row| row.pec);
                let pecs = [dice.between(0, 2 * last), dice.between(0, 200), last];
                check_aged(&config, None, &pecs, &mut dice);
            }
        }));
        assert!(checked.is_ok(), "configuration {seed}");
        with_rates += u32::from(config.error.model != ErrorLaw::None);
    }
    assert!(with_rates > 5000, "{with_rates}");
}

/// Draws a drive whose limits follow from a code, with its parity. Returns `None` if wide spreads
/// leave a share of failures at the tolerable rate that is below the range of its key.
fn drawn_code(seed: u64) -> Option<(DriveConfig, Dice)> {
    let mut dice = Dice::new(seed);
    // Sums over both spreads take long, so few drives have both.
    let (common, own) = (dice.pick(&[0.2, 1.0]), dice.pick(&[0.1, 0.3]));
    let (common, own) = match dice.unit() {
        _ if seed.is_multiple_of(150) => (0.2, own),
        share if share < 0.35 => (common, 0.0),
        share if share < 0.7 => (0.0, own),
        _ => (0.0, 0.0),
    };
    let tables = format!(
        r#"
        disturb = {{ model = "count" }}
        error = {{ model = "bch" }}
        ecc = {{ codeword = "512B", code_rate = 0.9752380952380952, corrects = [{}] }}
        bch = {{ target = "{}", combine = "{}", yield = {}, uber = {:e}, reads = {}, age = "{}d", reads_exponent = {}, age_exponent = {}, time_exponent = {}, spread_common = {common}, spread_own = {own} }}
        "#,
        dice.between(4, 12),
        dice.pick(&["yield", "uber", "stripe", "stripe"]),
        dice.pick(&["independent", "sum"]),
        dice.real(0.99, 0.9999),
        10f64.powf(dice.real(-16.0, -9.0)),
        dice.between(5000, 90_000),
        dice.between(30, 700),
        dice.real(0.5, 2.0),
        dice.real(0.3, 1.5),
        dice.real(1.0, 4.0),
    );
    let resolved = drive("mlc", 64, 1, &tables).resolve();
    if let Err(fault) = &resolved {
        let says = fault.to_string();
        assert!(says.contains("ecc.last_target") && says.contains("outside 1e-30"), "{says}");
    }
    let parity = dice.pick(&["none", "raid5", "raid5", "ppc"]);
    Some((parity::drive(resolved.ok()?, card(parity)), dice))
}

#[test]
fn limits_from_a_code_are_those_of_exact_sums() {
    let drives = (0..).filter_map(|seed| Some((seed, drawn_code(seed)?)));
    let mut with_both = 0;
    for (seed, (config, mut dice)) in drives.take(CODES) {
        with_both += u32::from(config.bch.spread_common > 0.0 && config.bch.spread_own > 0.0);
        let (bch, own) = (Bch::of(&config).unwrap(), Code::new(&config).unwrap());
        assert!((bch.tolerable() / own.cap - 1.0).abs() < 1e-6, "{seed}: {}", own.cap);
        let pecs = [900, 15_000, 15_001, dice.between(1, 40_000)];
        for pec in pecs {
            assert!((bch.reads(pec) - own.reads(pec)).abs() <= 1.0, "{seed}, {pec} cycles");
        }
        check_aged(&config, Some(&own), &pecs, &mut dice);
    }
    assert!(with_both > 0);
}

#[test]
fn tails_are_sums_of_all_terms() {
    // A logarithm near 0 is exact to its own size, any other one to that of its tail.
    let close = |is: f64, should_be: f64, what: &str| {
        let gap = 1e-7 * should_be.abs().min(1.0);
        assert!((is - should_be).abs() <= gap, "{what}: {is:e} for {should_be:e}");
    };
    let mut dice = Dice::new(7);
    for _ in 0..200 {
        let bits = dice.between(50, 9000);
        let (tail, t) = (Tail::new(bits as usize), dice.between(0, bits / 8));
        let rate = 10f64.powf(dice.real(-5.0, -0.5));
        let what = format!("more than {t} of {bits} bits at {rate}");
        close(ln_beyond(bits, t, rate), tail.ln_above(t as usize, rate), &what);
        close(ln_within(bits, t, rate), tail.ln_up_to(t as usize, rate), &what);
        let target = 10f64.powf(dice.real(-16.0, -2.0));
        close(tail.ln_above(t as usize, rate_at(bits, t, target)), target.ln(), &what);
        let enough = bits_for(bits, rate.min(0.1), target) as usize;
        let fails = |t: usize| tail.above(t, rate.min(0.1));
        assert!(fails(enough) <= target * (1.0 + 1e-9), "{enough} bits are enough");
        assert!(enough == 0 || fails(enough - 1) > target * (1.0 - 1e-9), "none is too many");
    }
}

#[test]
fn chances_of_retries_are_those_of_the_tail() {
    let mut config = drive("tlc", 8, 1, "");
    config.ecc.cap = (0..5).map(|level| 0.0085 * 1.25f64.powi(level)).collect();
    config.ecc.retry_decode_us = vec![20.0; 4];
    config.ecc.codeword = Some(Bytes(512));
    config.error = ErrorConfig { model: ErrorLaw::PowerLaw, e: 1e-3, ..ErrorConfig::default() };
    config.disturb = DisturbConfig {
        model: DisturbModel::Count,
        table: vec![PerPec { pec: 0, limit: vec![9000.0], alpha: vec![] }],
        ..DisturbConfig::default()
    };
    let aged = AgedLimits::of(&config).unwrap().unwrap();
    let (ladder, page) = (aged.ladder(), 8192);
    let chances = Chances::of(ladder, page).unwrap();
    let (bits, data_bits) = ladder.codeword().unwrap();
    let (tail, codewords) = (Tail::new(bits as usize), f64::from(page * 8 / data_bits));
    for n in 0..400 {
        let rate = 0.004 + 1e-4 * f64::from(n);
        for level in 0..5 {
            let fails = tail.above(ladder.corrects(level).unwrap() as usize, rate);
            let of_page = -(codewords * (-fails).ln_1p()).exp_m1();
            let is = chances.more_than(level, rate);
            let gap = 5e-3 * of_page + 1e-15;
            assert!((is - of_page).abs() <= gap, "level {level} at {rate}: {is} for {of_page}");
        }
    }
}

#[test]
fn steps_of_age_are_sixteenths_of_an_octave() {
    let (ages, mut dice) = (Ages::default(), Dice::new(3));
    for _ in 0..10_000 {
        let age = 10f64.powf(dice.real(10.0, 18.5)) as u64;
        assert_eq!(ages.step(age), step_of(age) as usize, "{age} ns");
    }
    for step in 1..STEPS {
        assert_eq!(ages.counts_as(step), Some(end_of(step as u32)));
        assert_eq!(ages.begin(step), end_of(step as u32 - 1));
    }
    assert_eq!((ages.step(0), ages.step(HOUR - 1), ages.step(20 * YEAR)), (0, 0, STEPS - 1));
}

#[test]
fn orders_of_a_start_are_permutations_and_lead_back() {
    let mut dice = Dice::new(11);
    for pages in [1, 2, 3, 5, 24, 64, 1000, 4099, 70_000] {
        let keys = std::array::from_fn(|_| dice.0.next_u64() as u32);
        let order = Order { pages, keys };
        let own = Positions::new(order);
        let mut seen = vec![false; pages as usize];
        for place in 0..pages {
            let number = order.at_place(place);
            assert_eq!(number, own.number_at(place), "place {place} of {pages}");
            assert_eq!((order.place_of(number), own.position_of(number)), (place, place));
            assert!(!std::mem::replace(&mut seen[number as usize], true), "{number} twice");
        }
    }
}

#[test]
fn pages_of_stripes_are_numbered_on_each_die_in_the_order_of_stripes() {
    let mut dice = Dice::new(13);
    for _ in 0..300 {
        let dies = dice.between(2, 9);
        let (members, host_pages) = (dice.between(1, dies - 1), dice.between(1, 3000));
        let stripes = Stripes::new(members, dies, host_pages);
        let filled = dice.between(0, host_pages);
        let own = Lists::new(host_pages, filled, (dies, members));
        for die in 0..dies {
            let count = own.count(die as usize);
            assert_eq!(stripes.count_on_die(die as u16, filled), count, "die {die}");
            for number in 0..count {
                let page = own.page(die as usize, number);
                assert_eq!(stripes.page_on_die(die as u16, number), page, "{number} of die {die}");
                assert_eq!(stripes.number_on_die(page), (die as u16, number), "page {page}");
                assert_eq!(own.number(page), (die as usize, number), "page {page}");
            }
        }
        assert_eq!(own.number(Lpn::new(0)), (0, 0));
    }
}

/// The last range of the highest rank decides about a byte, and the tightest byte decides about its
/// page.
#[test]
fn hints_of_pages_are_those_of_their_bytes() {
    const PAGE: u64 = 8;
    const PAGES: u64 = 16;
    let words = [AccessLatency::Idle, AccessLatency::Typical, AccessLatency::Smallest];
    let mut dice = Dice::new(7);
    for _ in 0..2000 {
        let mut range = |_| HintRange {
            offset: Bytes(dice.between(0, (PAGE * PAGES) as u32 + 20).into()),
            bytes: Bytes(dice.between(0, 40).into()),
            access_latency: Some(dice.pick(&words)),
            rank: dice.between(0, 2),
        };
        let ranges: Vec<HintRange> = (0..6).map(&mut range).collect();
        let of_byte = |byte: u64| {
            let holds = |range: &&HintRange| {
                (range.offset.0..range.offset.0 + range.bytes.0).contains(&byte)
            };
            let said = ranges.iter().filter(holds).max_by_key(|range| range.rank);
            said.and_then(|range| range.access_latency).unwrap_or_default()
        };
        let of_page = |page: u64| (page * PAGE..(page + 1) * PAGE).map(of_byte).min().unwrap();
        let hinted = Hinted::new(&ranges, PAGE, PAGES as u32);
        for page in 0..PAGES {
            assert_eq!(hinted.of(Lpn::new(page as u32)), of_page(page), "{page}: {ranges:?}");
        }
        let mut all: Vec<_> = (0..PAGES).map(of_page).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(hinted.in_use(), all);
    }
}

#[test]
fn hints_allow_the_retries_that_fit_into_their_latencies() {
    for seed in 0..2000 {
        let (mut config, mut dice) = drawn(seed);
        if config.error.model == ErrorLaw::None || config.ecc.cap.len() < 2 {
            continue;
        }
        let retries = config.ecc.cap.len() - 1;
        let (sense, transfer) = (dice.list(retries, 10.0, 90.0), dice.list(retries, 1.0, 30.0));
        config.ecc.retry_sense_us = dice.pick(&[vec![], sense]);
        config.ecc.retry_transfer_us = dice.pick(&[vec![], transfer]);
        config.ecc.retry_decode_us = dice.list(retries, 1.0, 200.0);
        config.reclaim.retries = dice.between(0, retries as u32);
        config.hints.smallest_us = dice.pick(&[None, Some(150.0), Some(400.0)]);
        config.hints.typical_us = dice.real(150.0, 800.0);
        config.hints.idle_us = dice.real(800.0, 5000.0);
        let own = hints::allowed(&config);
        let budgets = Budgets::of(&config).unwrap().expect("reads take retries");
        assert_eq!(AccessLatency::ALL.map(|word| budgets.at(word).retries), own, "{seed}");
    }
}

#[test]
fn late_reads_are_those_of_a_job_or_an_eighth_of_the_weakest_limit() {
    for seed in 0..500 {
        let (mut config, mut dice) = drawn(seed);
        config.error = ErrorConfig::default();
        config.reclaim.schedule =
            dice.pick(&[Schedule::Foreground, Schedule::Deadline, Schedule::Batch(3)]);
        config.reclaim.late_reads = dice.pick(&[None, None, Some(0), Some(70)]);
        let kinds = config.geometry.cell.bits() as usize;
        let per_kind = dice.list(kinds, 20.0, 900.0);
        config.timing.program_us = dice.pick(&[KindUs::All(60.0), KindUs::PerKind(per_kind)]);
        config.timing.program_unit = dice.pick(&[ProgramUnit::Page, ProgramUnit::Wordline]);
        if config.timing.program_unit == ProgramUnit::Wordline {
            config.timing.program_us = KindUs::All(700.0);
        }
        let techniques = Techniques { reclaim: card("none"), ..usual() };
        let config = config.resolve().unwrap();
        let drive = Drive::new(config.clone(), &techniques, true).unwrap();
        // A whole number with an error in its last digit may become one less.
        let (is, exact) = (f64::from(drive.late_reads()), late::late_reads(&config));
        let whole = is <= exact * (1.0 + 1e-12) && is + 1.0 > exact * (1.0 - 1e-12);
        assert!(whole, "{seed}: {is} for {exact}");
    }
}
