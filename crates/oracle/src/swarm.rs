//! Random drives under random workloads, watched by the oracle. A case is one number: the same number, build and
//! configuration give the same case, so a failure is replayed by its number.
//!
//! **Checked** everything the oracle checks; that a correct policy loses nothing wherever its promise holds, up to the border of that; that
//! settings under which it does not hold are refused without a run; that the content agrees with a naive reference drive; that every
//! request is served. **Not checked** that figures are right: closed forms do that.
//! Each case leaves a random part of the choices out and weighs the rest wildly (swarm testing, Groce et al., ISSTA 2012).

mod border;
mod restless;
mod stream;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_core::bugs::Bug;
use vpass_core::config::{
    CapacityConfig, Cell, DensityConfig, DisturbConfig, DisturbModel, DoseUnit, DriveConfig, GcConfig, GeometryConfig, IntervalAverage,
    PerPec, ProgramUnit, ReclaimConfig, Schedule, SenseUs, StartConfig, TimingConfig, WearConfig,
};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::engine::{TimedEngine, run_untimed};
use vpass_core::gc::GC;
use vpass_core::reclaim::{RECLAIM, technique};
use vpass_core::start_reads::MostStartReads;
use vpass_core::units::Bytes;

use self::restless::Restless;
use self::stream::Stream;
use crate::{Oracle, OracleReport, ReferenceDrive};

/// What a clean case did.
#[derive(Clone, Debug)]
pub struct CaseSummary {
    /// The case in a line.
    pub what: String,
    /// Requests served.
    pub requests: u64,
    /// The verdict; none where the drive was refused, rightly.
    pub report: Option<OracleReport>,
}

/// Techniques under which data may be lost, if the drive says so. `straw-ss` may take a wordline for more read than it is, and for less
/// disturbed: of 20,000 random drives 13 lost pages under it.
const MAY_LOSE: [&str; 2] = ["none", "straw-ss"];

/// Techniques that keep read-hot data apart, and the spare blocks that they want for that.
const KEEPS_APART: [&str; 4] = ["redftl", "read-leveling", "hotld", "ipr"];
const APART_BLOCKS: u32 = 6;

/// Runs one case.
///
/// # Errors
/// What went wrong, in sentences.
pub fn run_case(seed: u64) -> Result<CaseSummary, String> {
    run(seed, None)
}

/// Runs one case on a drive with a bug.
///
/// # Errors
/// How the bug was found.
#[cfg(feature = "seeded-bugs")]
pub fn run_case_with(seed: u64, bug: Bug) -> Result<CaseSummary, String> {
    run(seed, Some(bug))
}

fn run(seed: u64, bug: Option<Bug>) -> Result<CaseSummary, String> {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
    let timed = dice.chance(0.5);
    let safe = dice.chance(0.7);
    let protecting: Vec<&str> = RECLAIM.iter().map(|t| t.name).filter(|name| !MAY_LOSE.contains(name)).collect();
    let cleaning: Vec<&str> = GC.iter().map(|t| t.name).collect();
    // Under the restless policy the technique named only says what the drive may begin with.
    let restless = safe && dice.chance(0.15);
    let reclaim = if restless {
        "block"
    } else if safe {
        dice.pick(&protecting)
    } else {
        dice.pick(&MAY_LOSE)
    };
    let techniques = Techniques { reclaim: reclaim.into(), gc: dice.pick(&cleaning).into(), seed };
    let mut config = random_config(&mut dice, restless || KEEPS_APART.contains(&reclaim), restless)
        .resolve()
        .map_err(|e| format!("the random configuration does not resolve: {e}"))?;
    if !restless {
        border::sometimes_at_the_border(&mut dice, &mut config, reclaim, timed);
    }
    config.start.reads = random_start_reads(&mut dice, &config, &techniques, timed);
    let what = describe(&config, if restless { "a restless policy" } else { reclaim }, &techniques.gc, timed);
    if !restless && let Some(said) = border::refusal(&config, &techniques, timed).map_err(|e| format!("{what}: {e}"))? {
        return Ok(CaseSummary { what: format!("{what}: {said}"), requests: 0, report: None });
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play(config, &techniques, restless, timed, dice, bug)));
    match outcome {
        Ok(Ok(played)) => judge(&what, played, safe),
        Ok(Err(e)) => Err(format!("{what}: {e}")),
        Err(panic) => Err(format!("{what}: the drive stopped: {}", panic_text(panic.as_ref()))),
    }
}

/// What a run came to.
struct Played {
    requests: u64,
    report: OracleReport,
    /// Whether nothing was to be lost at the P/E counts that the drive came to.
    promised: bool,
}

fn judge(what: &str, Played { requests, report, promised }: Played, safe: bool) -> Result<CaseSummary, String> {
    if report.is_bug() {
        return Err(format!("{what}: {}", report.findings.join("; ")));
    }
    if safe && promised && report.lost_pages > 0 {
        return Err(format!("{what}: a correct policy lost {} pages", report.lost_pages));
    }
    Ok(CaseSummary { what: what.into(), requests, report: Some(report) })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg_attr(not(feature = "seeded-bugs"), expect(unused_variables, reason = "bugs are compiled in by a feature"))]
fn play(
    config: DriveConfig,
    techniques: &Techniques,
    restless: bool,
    timed: bool,
    mut dice: Dice,
    bug: Option<Bug>,
) -> Result<Played, String> {
    let seed = dice.0.next_u64();
    let drive = if restless {
        Drive::with_policy(config, Box::new(Restless::new(seed)), &techniques.gc, timed)
    } else {
        Drive::new(config, techniques, timed)
    };
    let mut drive = drive.map_err(|e| e.to_string())?;
    drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
    #[cfg(feature = "seeded-bugs")]
    if let Some(bug) = bug {
        drive.seed_bug(bug);
    }
    drive.precondition(seed);
    drive.begin_measurement();
    let mut reference = ReferenceDrive::new();
    for row in drive.map_rows() {
        reference.write(row.lpn);
    }
    let keeps_apart = restless || KEEPS_APART.contains(&techniques.reclaim.as_str());
    let mut source = Stream::new(&mut dice, &drive, reference, keeps_apart);
    let asked = source.left;
    let served = if timed {
        TimedEngine::new(&drive).run(&mut drive, &mut source, &mut |_, _| true)
    } else {
        run_untimed(&mut drive, &mut source, &mut |_, _| true)
    };
    let served = served.map_err(|e| format!("{e:?}"))?;
    if served != asked {
        return Err(format!("{served} of {asked} requests were served"));
    }
    drive.report_unread_losses();
    let oracle: Box<dyn std::any::Any> = drive.end_observation().expect("the oracle watched");
    let oracle = oracle.downcast::<Oracle>().expect("the watcher is the oracle");
    if drive.lost_pages() == 0 {
        compare(&drive, &source.reference)?;
    }
    let promised = restless || border::promised(&drive, &techniques.reclaim, timed);
    Ok(Played { requests: served, report: oracle.conclude(&drive), promised })
}

/// Every page that the reference drive holds, and no other, is mapped.
fn compare(drive: &Drive, reference: &ReferenceDrive) -> Result<(), String> {
    let mut held = 0;
    for row in drive.map_rows() {
        held += 1;
        if reference.read(row.lpn).is_none() {
            return Err(format!("the drive holds lpn {}, which the reference drive does not", row.lpn));
        }
    }
    if held == reference.mapped_pages() {
        Ok(())
    } else {
        Err(format!("the drive holds {held} pages, the reference drive {}", reference.mapped_pages()))
    }
}

fn describe(config: &DriveConfig, reclaim: &str, gc: &str, timed: bool) -> String {
    let g = &config.geometry;
    format!(
        "{} dies of {} blocks of {} pages, {:?}, {}, {}, {}, {}",
        g.channels * g.dies_per_channel,
        g.blocks_per_plane.unwrap_or(0) * g.planes_per_die,
        g.pages_per_block(),
        config.disturb.model,
        reclaim,
        gc,
        if timed { "timed" } else { "untimed" },
        config.reclaim.schedule,
    )
}

/// Random choices of one case.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// From `low` to `high`, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.unit() * (high - low + 1) as f64) as u64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.between(0, of.len() as u64 - 1) as usize]
    }
}

/// A drive, with room for streams of a policy's own where it keeps data apart.
fn random_config(dice: &mut Dice, keeps_apart: bool, restless: bool) -> DriveConfig {
    let geometry = GeometryConfig {
        channels: dice.between(1, 3) as u32,
        dies_per_channel: dice.between(1, 3) as u32,
        planes_per_die: dice.between(1, 2) as u32,
        blocks_per_plane: None,
        wordlines_per_block: dice.pick(&[1, 2, 3, 8, 21, 43]),
        cell: dice.pick(&[Cell::Slc, Cell::Mlc, Cell::Tlc, Cell::Qlc]),
        page_size: Bytes(dice.pick(&[512, 4096, 16_384])),
        neighbour_stride: dice.pick(&[1, 1, 2, 4]),
        strings_per_layer: dice.pick(&[1, 1, 3]),
    };
    let planes = geometry.planes();
    let spare = 0.12 + 0.5 * dice.unit();
    let apart = if keeps_apart { APART_BLOCKS } else { 0 };
    let needed = (f64::from(vpass_core::config::MIN_SPARE_BLOCKS + 1 + apart) / spare / f64::from(planes)).ceil() as u32;
    let geometry = GeometryConfig { blocks_per_plane: Some(needed + dice.between(1, 6) as u32), ..geometry };
    let buffer_pages = dice.pick(&[0, 2, 8, 40]);
    let (check_interval, late_reads) = border::random_reserves(dice, restless);
    let counters = dice.pick(&[2, 3, 8, 32, 40]);
    let reprogram_dose = dice.pick(&[0.0, 0.3, 7.0]);
    DriveConfig {
        description: String::new(),
        drive: CapacityConfig {
            spare: Some(spare),
            write_buffer: Bytes(buffer_pages * geometry.page_size.0),
            max_outstanding: dice.pick(&[1, 7, 1024]),
            ..CapacityConfig::default()
        },
        disturb: random_disturb(dice, &geometry, check_interval, late_reads.unwrap_or(0), reprogram_dose),
        timing: random_timing(dice, geometry.cell),
        gc: GcConfig { background: dice.pick(&[0.0, 0.25, 0.6]), stable_slack: dice.pick(&[0.0, 0.05, 1.0]) },
        wear: WearConfig { dynamic: dice.chance(0.7), static_gap: dice.pick(&[0, 1, 5, 100]) },
        reclaim: ReclaimConfig {
            schedule: dice.pick(&[Schedule::Foreground, Schedule::Batch(1), Schedule::Batch(24), Schedule::Deadline]),
            late_reads,
            check_interval,
            counters,
            tier_share: dice.pick(&[0.0, 0.1, 0.5, 1.0]),
            layer_sets: dice.pick(&[0.0, 0.1, 1.0]),
            wordline_sets: dice.pick(&[0.0, 0.05, 1.0]),
            probe_probability: dice.pick(&[0.05, 0.15, 0.25]),
        },
        density: DensityConfig {
            limit_factor: dice.pick(&[1.0, 1.5, 10.0]),
            wear: dice.pick(&[1.0, 1.2, 5.0]),
            reprogram_dose,
            wear_counts_for_limits: dice.chance(0.8),
            pool: dice.pick(&[0.0, 0.2, 1.0]),
            low_density: dice.pick(&[0.0, 0.15, 1.0]),
            monitor: dice.pick(&[0.0, 0.1, 1.0]),
            interval_average: dice.pick(&[IntervalAverage::Blocks, IntervalAverage::Refreshes, IntervalAverage::Recent(8)]),
            shadow: dice.pick(&[0.0, 0.15, 1.0]),
            shadow_pages: dice.pick(&[1, 5, 30]),
            spare_share: dice.pick(&[0.0, 0.1, 0.5]),
        },
        start: StartConfig {
            pec: dice.pick(&[0, 999, 3000]),
            fill: dice.pick(&[0.0, 0.5, 0.9, 1.0]),
            overwrite: dice.pick(&[0.0, 0.3, 1.5]),
            reads: 0,
        },
        geometry,
    }
}

/// Limits small enough to be reached, but mostly such that a block can be moved within them, and looked at by wordlines or probed before that.
fn random_disturb(dice: &mut Dice, geometry: &GeometryConfig, check_interval: u32, late_reads: u32, reprogram_dose: f64) -> DisturbConfig {
    let model = dice.pick(&[DisturbModel::None, DisturbModel::Count, DisturbModel::Wordline, DisturbModel::Wordline]);
    let groups = if model == DisturbModel::Wordline { dice.between(1, 4) as usize } else { 1 };
    let pages = f64::from(geometry.pages_per_block());
    let alpha = 1.0 + 11.0 * dice.unit();
    let moving = pages + 2.0 * alpha * f64::from(geometry.cell.bits());
    let probing = f64::from(geometry.wordlines_per_block) + 2.0 * alpha;
    // R_late is at most an eighth of limit / alpha, and a policy by wordlines needs room for it twice.
    // A job that merges wordlines reads as many pages as one interval has, or one wordline, and those beside a wordline weigh more.
    // So does a block that is reprogrammed as a whole.
    let weight = 1.0 + reprogram_dose / f64::from(geometry.cell.bits());
    let (moving, beside) = (moving * weight, 2.0 * alpha * f64::from(geometry.cell.bits()) * weight);
    let merging = weight * f64::from(check_interval.max(geometry.cell.bits())) + beside;
    let base =
        1.5 * moving + probing + merging + alpha * (f64::from(check_interval) + 2.0 * f64::from(late_reads) + 32.0 + 400.0 * dice.unit());
    let row = |pec: u32, scale: f64| PerPec {
        pec,
        limit: (0..groups).map(|g| base * scale * (1.0 + 0.3 * (groups - 1 - g) as f64)).collect(),
        alpha: if model == DisturbModel::Wordline {
            (0..groups).map(|g| (alpha * (1.0 - 0.05 * g as f64)).max(1.0)).collect()
        } else {
            vec![]
        },
    };
    let varied = model == DisturbModel::Wordline && dice.chance(0.5);
    let weakest = dice.between(0, u64::from(geometry.cell.bits()) - 1) as usize;
    let mut kind_factor: Vec<f64> = (0..geometry.cell.bits()).map(|_| dice.pick(&[1.0, 1.3, 1.8, 4.0])).collect();
    kind_factor[weakest] = 1.0;
    DisturbConfig {
        model,
        dose: dice.pick(&[DoseUnit::Reads, DoseUnit::Reads, DoseUnit::Sensings]),
        preprogram_weight: dice.pick(&[0.0, 0.0, 0.3, 1.0]),
        groups: (0..groups).map(|g| format!("group {g}")).collect(),
        group_share: vec![],
        spread: if varied { (0..groups).map(|_| 1.0 + dice.unit()).collect() } else { vec![] },
        block_variation: if varied { 0.3 * dice.unit() } else { 0.0 },
        kind_factor: if dice.chance(0.5) { kind_factor } else { vec![] },
        table: if dice.chance(0.3) { vec![row(0, 1.0)] } else { vec![row(0, 3.0), row(1000, 1.5), row(3010, 1.0)] },
        policy_row_cycles: dice.pick(&[0, 10, 100, 2000]),
    }
}

/// None, a few, or as many as the drive may have served.
fn random_start_reads(dice: &mut Dice, config: &DriveConfig, techniques: &Techniques, timed: bool) -> u32 {
    let nature = technique(&techniques.reclaim).expect("it was drawn from the list").drive(config.clone());
    let most = MostStartReads::of(&nature, timed).map_or(1000, |most| most.reads);
    let any = dice.between(0, u64::from(most)) as u32;
    dice.pick(&[0, any, most])
}

/// The same for every page kind, or longer by kind.
fn random_sense(dice: &mut Dice, cell: Cell) -> SenseUs {
    match dice.pick(&[1.0, 50.0]) {
        short if short < 2.0 => SenseUs::All(short),
        long => SenseUs::PerKind((0..cell.bits()).map(|kind| long + 7.3 * f64::from(kind)).collect()),
    }
}

fn random_timing(dice: &mut Dice, cell: Cell) -> TimingConfig {
    TimingConfig {
        sense_us: random_sense(dice, cell),
        program_unit: dice.pick(&[ProgramUnit::Page, ProgramUnit::Wordline]),
        program_us: dice.pick(&[20.0, 400.0]),
        pad_after_us: dice.pick(&[0.0, 50.0, 5000.0]),
        erase_us: dice.pick(&[100.0, 3000.0]),
        channel_mb_s: dice.pick(&[0.0, 100.0, 1200.0]),
        host_mb_s: dice.pick(&[0.0, 300.0]),
        ecc_us: dice.pick(&[0.0, 7.5]),
        probe_us: dice.pick(&[0.0, 28.0]),
        independent_planes: dice.chance(0.3),
        cache_read: dice.chance(0.3),
        suspend: dice.chance(0.5),
        suspend_program_us: 10.0,
        suspend_erase_us: 20.0,
        suspend_limit: dice.pick(&[0, 1, 8]),
    }
}
