//! Drive of a case. Choices that every few cases need come from balanced draws; all other choices
//! are independent.

use vpass_drive::api::reclaim::{CHECK_INTERVAL, OWN_AGE};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{
    CapacityConfig, CellType, DensityConfig, DisturbConfig, DisturbModel, DriveConfig, EraseAtPec,
    GcConfig, GeometryConfig, KindUs, MIN_SPARE_BLOCKS, Params, PerPec, ProgramUnit, ReclaimConfig,
    StartConfig, TimingConfig, WearConfig,
};
use vpass_drive::drive::Techniques;
use vpass_drive::drive::start::reads::MostStartReads;

use super::balanced::{Balanced, one_of};
use super::drawn::least;
use super::{border, params};
use crate::dice::Dice;

/// Spare blocks for techniques that keep kinds of data apart.
pub(super) const APART_BLOCKS: u32 = 6;

/// One drive in sixteen.
const RARE: [bool; 16] = one_of();

/// Longest time of a sensing, a program or an erase.
const SLOW_US: f64 = 1e5;

/// Draws a drive. With `keeps_apart`, the drive has enough blocks for streams of the policy.
pub(super) fn random_config(
    balanced: &Balanced,
    dice: &mut Dice,
    keeps_apart: bool,
    restless: bool,
) -> DriveConfig {
    let geometry = GeometryConfig {
        channels: dice.within(GeometryConfig::RANDOM_CHANNELS),
        dies_per_channel: dice.within(GeometryConfig::RANDOM_DIES_PER_CHANNEL),
        planes_per_die: balanced.pick("planes", GeometryConfig::RANDOM_PLANES_PER_DIE),
        blocks_per_plane: None,
        wordlines_per_block: balanced.pick("wordlines", GeometryConfig::RANDOM_WORDLINES_PER_BLOCK),
        cell: balanced.pick("cell", GeometryConfig::RANDOM_CELL),
        page_size: dice.pick(GeometryConfig::RANDOM_PAGE_SIZE),
        neighbour_stride: balanced.pick("stride", GeometryConfig::RANDOM_NEIGHBOUR_STRIDE),
        strings_per_layer: dice.pick(GeometryConfig::RANDOM_STRINGS_PER_LAYER),
    };
    let planes = geometry.planes();
    let spare = 0.12 + 0.5 * dice.unit();
    let apart = if keeps_apart { APART_BLOCKS } else { 0 };
    let needed = f64::from(MIN_SPARE_BLOCKS + 1 + apart) / spare / f64::from(planes);
    let blocks = needed.ceil() as u32 + dice.between(1, 6) as u32;
    let geometry = GeometryConfig { blocks_per_plane: Some(blocks), ..geometry };
    let buffer_pages = dice.pick(&[0, 2, 8, 40]);
    let (check_interval, late_reads) = border::random_reserves(dice, restless);
    let mut of_reclaim = Params::default();
    of_reclaim.set(None, CHECK_INTERVAL.key, CHECK_INTERVAL.number(check_interval.into()));
    of_reclaim.set(None, OWN_AGE.key, OWN_AGE.number(balanced.pick("own age", &[0.0, 1.0])));
    let of_reclaim = params::draw_shared(dice, "reclaim", of_reclaim);
    let reprogram_dose = dice.pick(DensityConfig::RANDOM_REPROGRAM_DOSE);
    DriveConfig {
        drive: CapacityConfig {
            spare: Some(spare),
            write_buffer: Bytes(buffer_pages * geometry.page_size.0),
            max_outstanding: dice.pick(CapacityConfig::RANDOM_MAX_OUTSTANDING),
            ..CapacityConfig::default()
        },
        disturb: random_disturb(
            (balanced, dice),
            &geometry,
            (check_interval, late_reads.unwrap_or(0)),
            reprogram_dose,
        ),
        timing: random_timing(balanced, dice, geometry.cell),
        gc: GcConfig {
            background: dice.pick(GcConfig::RANDOM_BACKGROUND),
            params: params::draw_apart((balanced, dice), "gc", &[], Params::default()),
        },
        wear: WearConfig {
            dynamic: dice.chance(WearConfig::RANDOM_DYNAMIC),
            static_gap: dice.pick(WearConfig::RANDOM_STATIC_GAP),
            ..WearConfig::default()
        },
        reclaim: ReclaimConfig {
            retries: 0,
            schedule: balanced.pick("schedule", ReclaimConfig::RANDOM_SCHEDULE),
            late_reads,
            params: params::draw_apart((balanced, dice), "reclaim", &[], of_reclaim),
        },
        density: DensityConfig {
            limit_factor: dice.pick(DensityConfig::RANDOM_LIMIT_FACTOR),
            wear: dice.pick(DensityConfig::RANDOM_WEAR),
            reprogram_dose,
            wear_counts_for_limits: dice.chance(DensityConfig::RANDOM_WEAR_COUNTS_FOR_LIMITS),
            pool: dice.pick(DensityConfig::RANDOM_POOL),
            keep_pool: dice.chance(DensityConfig::RANDOM_KEEP_POOL),
            low_density: dice.pick(DensityConfig::RANDOM_LOW_DENSITY),
            monitor: dice.pick(DensityConfig::RANDOM_MONITOR),
            interval_average: dice.pick(DensityConfig::RANDOM_INTERVAL_AVERAGE),
            shadow: dice.pick(DensityConfig::RANDOM_SHADOW),
            shadow_pages: dice.pick(DensityConfig::RANDOM_SHADOW_PAGES),
            spare_share: dice.pick(DensityConfig::RANDOM_SPARE_SHARE),
        },
        start: StartConfig {
            // The table ends at 3,010 cycles.
            pec: dice.pick(StartConfig::RANDOM_PEC),
            fill: dice.pick(StartConfig::RANDOM_FILL),
            overwrite: dice.pick(StartConfig::RANDOM_OVERWRITE),
            ..StartConfig::default()
        },
        geometry,
        ..least()
    }
}

/// Disturb models, each as often as it should be drawn.
const MODELS: [DisturbModel; 8] = {
    use DisturbModel::{Count, None, Wordline};
    [None, Count, Count, Wordline, Wordline, Wordline, Wordline, Wordline]
};

/// First case whose limits may scatter. The recorded cases of planted bugs, which are smaller, keep
/// their drives.
const FIRST_WITH_SCATTER: u64 = 10_000_000;

/// Draws limits that a case can reach. Most of them are large enough to move a block, and to check
/// or probe its wordlines before.
fn random_disturb(
    (balanced, dice): (&Balanced, &mut Dice),
    geometry: &GeometryConfig,
    (check_interval, late_reads): (u32, u32),
    reprogram_dose: f64,
) -> DisturbConfig {
    let model = balanced.pick("model", &MODELS);
    let groups = if model == DisturbModel::Wordline { dice.between(1, 4) as usize } else { 1 };
    let pages = f64::from(geometry.pages_per_block());
    let alpha = 1.0 + 11.0 * dice.unit();
    let moving = pages + 2.0 * alpha * f64::from(geometry.cell.bits());
    let probing = f64::from(geometry.wordlines_per_block) + 2.0 * alpha;
    // `R_late` is at most an eighth of limit / alpha, and a policy that counts wordlines needs it
    // twice. A job that merges wordlines reads the pages of one interval or of one wordline. Pages
    // beside a wordline weigh more, and so does a block that is reprogrammed as a whole.
    let weight = 1.0 + reprogram_dose / f64::from(geometry.cell.bits());
    let beside = 2.0 * alpha * f64::from(geometry.cell.bits()) * weight;
    let moving = moving * weight;
    let merging = weight * f64::from(check_interval.max(geometry.cell.bits())) + beside;
    let reads =
        f64::from(check_interval) + 2.0 * f64::from(late_reads) + 32.0 + 400.0 * dice.unit();
    let base = 1.5 * moving + probing + merging + alpha * reads;
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
    let mut kind_factor: Vec<f64> =
        (0..geometry.cell.bits()).map(|_| dice.pick(DisturbConfig::RANDOM_KIND_FACTOR)).collect();
    kind_factor[weakest] = 1.0;
    let scatters = varied && balanced.case >= FIRST_WITH_SCATTER;
    let sigma = |name: &str| {
        if scatters { balanced.pick(name, &[0.0, 0.1, 0.5, 1.0]) } else { 0.0 }
    };
    DisturbConfig {
        limit_sigma_block: sigma("sigma of blocks"),
        limit_sigma_layer: sigma("sigma of layers"),
        model,
        dose: balanced.pick("dose", DisturbConfig::RANDOM_DOSE),
        preprogram_weight: dice.pick(DisturbConfig::RANDOM_PREPROGRAM_WEIGHT),
        groups: (0..groups).map(|g| format!("group {g}")).collect(),
        group_share: vec![],
        spread: if varied { (0..groups).map(|_| 1.0 + dice.unit()).collect() } else { vec![] },
        block_variation: if varied { 0.3 * dice.unit() } else { 0.0 },
        kind_factor: if dice.chance(0.5) { kind_factor } else { vec![] },
        table: if dice.chance(0.3) {
            vec![row(0, 1.0)]
        } else {
            vec![row(0, 3.0), row(1000, 1.5), row(3010, 1.0)]
        },
        policy_row_cycles: dice.pick(DisturbConfig::RANDOM_POLICY_ROW_CYCLES),
    }
}

/// Draws no reads, some, or as many as the drive may have served.
pub(super) fn random_start_reads(
    dice: &mut Dice,
    config: &DriveConfig,
    techniques: &Techniques,
) -> u32 {
    let nature = techniques.reclaim.drive(config.clone());
    let most = MostStartReads::of(&nature).map_or(1000, |most| most.reads);
    let any = dice.between(0, u64::from(most)) as u32;
    dice.pick(&[0, any, most])
}

/// Draws sensing times, equal for all page kinds or longer for higher kinds.
fn random_sense(dice: &mut Dice, cell: CellType) -> KindUs {
    match dice.pick(&[1.0, 50.0]) {
        short if short < 2.0 => KindUs::All(short),
        long => {
            KindUs::PerKind((0..cell.bits()).map(|kind| long + 7.3 * f64::from(kind)).collect())
        }
    }
}

fn random_timing(balanced: &Balanced, dice: &mut Dice, cell: CellType) -> TimingConfig {
    let timing = usual_timing(balanced, dice, cell);
    let timing = if balanced.pick("program of kind and wear", &RARE) {
        by_kind_and_wear(balanced, timing, cell)
    } else {
        timing
    };
    if balanced.pick("slow", &RARE) { slow(&timing) } else { timing }
}

/// Returns the slowest possible timing. It makes the nanoseconds of a job need more than 32 bits.
pub(super) fn slow(timing: &TimingConfig) -> TimingConfig {
    TimingConfig {
        sense_us: KindUs::All(SLOW_US),
        program_us: KindUs::All(SLOW_US),
        erase_us: SLOW_US,
        erase_by_pec: vec![],
        ..timing.clone()
    }
}

/// Draws program times that depend on the page kind, if a program takes a page. Also draws longer
/// erases from an early P/E count on.
fn by_kind_and_wear(balanced: &Balanced, timing: TimingConfig, cell: CellType) -> TimingConfig {
    let mut dice = Dice::new(balanced.case ^ 0xE2A5_E000_0000_0000);
    let program_us = match (timing.program_unit, &timing.program_us) {
        (ProgramUnit::Page, KindUs::All(us)) => {
            KindUs::PerKind((0..cell.bits()).map(|_| us * (0.5 + dice.unit())).collect())
        }
        (_, same) => same.clone(),
    };
    let rows = [0, 1, 2, 3, 1001, 3002]
        .map(|pec| EraseAtPec { pec, us: timing.erase_us * (0.5 + dice.unit()) });
    TimingConfig {
        program_us,
        erase_by_pec: rows.into_iter().filter(|_| dice.chance(0.7)).collect(),
        ..timing
    }
}

fn usual_timing(balanced: &Balanced, dice: &mut Dice, cell: CellType) -> TimingConfig {
    TimingConfig {
        sense_us: random_sense(dice, cell),
        program_unit: balanced.pick("unit", TimingConfig::RANDOM_PROGRAM_UNIT),
        program_us: dice.pick(TimingConfig::RANDOM_PROGRAM_US),
        pad_after_us: dice.pick(TimingConfig::RANDOM_PAD_AFTER_US),
        erase_us: dice.pick(TimingConfig::RANDOM_ERASE_US),
        erase_by_pec: vec![],
        channel_mb_s: dice.pick(TimingConfig::RANDOM_CHANNEL_MB_S),
        host_mb_s: dice.pick(TimingConfig::RANDOM_HOST_MB_S),
        ecc_us: dice.pick(TimingConfig::RANDOM_ECC_US),
        probe_us: dice.pick(TimingConfig::RANDOM_PROBE_US),
        independent_planes: dice.chance(TimingConfig::RANDOM_INDEPENDENT_PLANES),
        cache_read: dice.chance(TimingConfig::RANDOM_CACHE_READ),
        suspend: dice.chance(TimingConfig::RANDOM_SUSPEND),
        suspend_program_us: 10.0,
        suspend_erase_us: 20.0,
        suspend_limit: dice.pick(TimingConfig::RANDOM_SUSPEND_LIMIT),
    }
}
