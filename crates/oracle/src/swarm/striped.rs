//! Cases with parity. Their drives have three dies or more, and enough flash for one parity page in
//! each stripe. They are a battery of their own, so other cases stay the same.

use vpass_drive::api::parity::{self, ParityTechnique, REBUILD, STRIPE, has_stripes};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{DensityConfig, DriveConfig, Number, Params, ProgramUnit};
use vpass_techniques::{all, resolve};

use super::balanced::Balanced;
use super::params;
use crate::dice::Dice;

/// Numbers of channels, and of dies on each.
const DIES: [(u32, u32); 5] = [(3, 1), (4, 1), (2, 2), (5, 1), (2, 3)];
/// Share of the flash that the host does not see.
const SPARE: [f64; 3] = [0.42, 0.5, 0.6];

/// Parameters that these cases draw one after another. Any other parameter has a list of its own
/// and changes nothing else in a case.
const IN_TURN: [(&str, &str); 5] =
    [("ppc", "pages"), ("hc", "pages"), ("hc", "cut_off"), ("hc", "published"), ("hc", "n_update")];

/// Blocks of a plane beyond those that parity needs, so blocks need not be full.
const ROOM_APART: [u32; 3] = [0, 6, 20];

/// One case in four has a technique that keeps kinds of data apart. The other cases stay the same.
const APART: [bool; 4] = [false, true, false, false];

/// Techniques that give wordlines guard levels in place. One case in `CASES_TO_MERGE` has such a
/// technique.
const MERGE: [&str; 2] = ["ipr-wl", "ipr"];
const CASES_TO_MERGE: u64 = 8;

/// Returns the reclaim technique of a case.
pub(super) fn technique(balanced: &Balanced) -> &'static Technique {
    let mut dice = Dice::new(balanced.case ^ 0x3E26_E1A6_3E26_E1A6);
    let merges = |t: &&Technique| MERGE.contains(&t.name);
    if dice.between(1, CASES_TO_MERGE) == 1 {
        return dice.pick(&all().reclaim.iter().filter(merges).collect::<Vec<_>>());
    }
    let apart = balanced.pick("keeps apart beside parity", &APART);
    let goes = |t: &&Technique| t.keeps_apart == apart && !merges(t) && !t.needs.retries;
    let name = if apart { "technique apart beside parity" } else { "technique beside parity" };
    balanced.pick(name, &all().reclaim.iter().filter(goes).collect::<Vec<_>>())
}

/// Returns the reclaim and the refresh technique that belong to a parity technique in this case. If
/// it has stripes, every second case has another reclaim technique, and every fourth another
/// refresh technique too.
pub(super) fn parts(
    case: u64,
    parity: &ParityTechnique,
) -> (Option<&'static Technique>, Option<&'static str>) {
    let others = if has_stripes(parity) { case % 4 } else { 0 };
    let parts = parity.parts.as_ref();
    (
        parts.filter(|_| others % 2 == 0).map(|parts| parts.reclaim),
        parts.filter(|_| others < 3).map(|parts| parts.refresh.name),
    )
}

/// One case in four keeps to its technique's published rule, if there is one. This is a draw of its
/// own, so other cases stay the same.
const PUBLISHED: [bool; 4] = [false, false, false, true];

/// Makes a technique keep to its published rule. `n_update` is drawn from all values that a stripe
/// allows.
fn draw_published(balanced: &Balanced, config: &mut DriveConfig, technique: &ParityTechnique) {
    let named = |key| technique.params.iter().find(|param| param.key == key);
    if let (Some(published), Some(turn)) = (named("published"), named("n_update")) {
        let most = technique.args(config).whole(&STRIPE);
        let turn_at =
            Dice::new(balanced.case ^ 0x0E6F_05ED_0E6F_05ED).between(0, u64::from(most)) as f64;
        config.parity.params.set(Some(technique.name), published.key, published.number(1.0));
        config.parity.params.set(Some(technique.name), turn.key, turn.number(turn_at));
    }
}

/// Draws the wear that counts as worn, so that some blocks become worn during a case. Also draws
/// how stripes with parity are counted and wait. These choices have their own random numbers.
fn worn_beyond(balanced: &Balanced, config: &DriveConfig) -> Params {
    let mut dice = Dice::new(balanced.case ^ 0x00C0_FFEE_0B10_C500);
    let mut params = Params::default();
    let above = u64::from(config.start.pec) + dice.between(0, 4);
    params.set(None, "t_p", Number::Whole(above.cast_signed()));
    params.set(None, "queue", Number::Whole(dice.pick(&[0, 1, 4, 64])));
    params.set(Some("pe-aware"), "published", Number::Whole(dice.pick(&[0, 0, 0, 1])));
    params.set(None, "l", Number::Whole(dice.pick(&[0, 2, 8, 1_000_000])));
    params.set(Some("da-raid5"), "cut_off", Number::Whole(dice.pick(&[1, 2, 4])));
    params.set(Some("da-raid5"), "pages", Number::Whole(dice.pick(&[1, 2, 5])));
    params
}

/// Lets some blocks begin more worn than others in one of three cases. So a drive may begin in any
/// stage of its life.
pub(super) fn draw_start_wear(balanced: &Balanced, config: &mut DriveConfig) {
    let mut dice = Dice::new(balanced.case ^ 0x05EA_50AE_D0B1_0C00);
    let (spread, share, beyond) =
        (dice.pick(&[0, 3]), dice.pick(&[0.0, 0.05, 0.3]), dice.between(0, 4) as u32);
    if balanced.case % 3 == 1
        && config.parity.by_wear().is_some_and(|by_wear| by_wear.last.is_some())
    {
        let start = &mut config.start;
        (start.pec_spread, start.worn_share, start.worn_pec) =
            (spread, share, start.pec + spread + beyond);
    }
}

/// Draws guard levels that help, and enough limit for them, in three of four cases of a technique
/// that gives them in place. In other draws they are so rare that hardly any case merges pages with
/// parity.
fn draw_guard_levels(balanced: &Balanced, config: &mut DriveConfig) {
    let mut dice = Dice::new(balanced.case ^ 0x6A2D_1E7E_6A2D_1E7E);
    let (limit_factor, low_density, spare_share) =
        (dice.pick(&[1.5, 10.0, 10.0]), dice.pick(&[0.15, 1.0, 1.0]), dice.pick(&[0.1, 0.5, 0.5]));
    if dice.between(0, 3) > 0 {
        config.density = DensityConfig {
            limit_factor,
            low_density,
            spare_share,
            pool: 1.0,
            monitor: 1.0,
            ..config.density.clone()
        };
    }
}

/// Returns the resolved drive of a case under a parity technique.
///
/// # Errors
/// If the drive cannot be resolved.
pub(super) fn draw(
    balanced: &Balanced,
    config: DriveConfig,
    technique: &'static ParityTechnique,
    reclaim: &Technique,
) -> Result<DriveConfig, String> {
    let mut dice = Dice::new(balanced.case ^ 0x0A1D_5A1D_5A1D_5000);
    let mut config = config;
    let (channels, dies) = balanced.pick("dies of parity", &DIES);
    (config.geometry.channels, config.geometry.dies_per_channel) = (channels, dies);
    config.timing.program_unit = ProgramUnit::Page;
    config.drive.capacity = None;
    config.drive.spare = Some(dice.pick(&SPARE));
    let mut given = worn_beyond(balanced, &config);
    // This parameter matters only if something fails.
    given.set(None, REBUILD.key, REBUILD.number(REBUILD.default));
    config.parity.params = params::draw_apart((balanced, &mut dice), "parity", &IN_TURN, given);
    if channels * dies == 3 {
        config.parity.params.set(None, STRIPE.key, STRIPE.number(2.0));
    }
    if balanced.pick("published rule", &PUBLISHED) {
        draw_published(balanced, &mut config, technique);
    }
    if technique.make(&config, 0).longest_cached().is_some() {
        // The technique keeps a stripe together in half of the buffer.
        let stripe = u64::from(technique.args(&config).whole(&STRIPE));
        config.drive.write_buffer =
            Bytes(2 * dice.between(stripe, 3 * stripe) * config.geometry.page_size.0);
    }
    if technique.make(&config, 0).by_wear().is_some_and(|by_wear| by_wear.last.is_none())
        && balanced.case % 4 == 3
    {
        // A stripe then holds the pages of one request.
        config.drive.write_buffer = Bytes(0);
    }
    if MERGE.contains(&reclaim.name) {
        draw_guard_levels(balanced, &mut config);
    }
    let more = if reclaim.keeps_apart || reclaim.lowers_density {
        Dice::new(balanced.case ^ 0x0A9A_2700_0A9A_2700).pick(&ROOM_APART)
    } else {
        0
    };
    for blocks in 10 / config.geometry.planes_per_die.max(1) + dice.between(0, 4) as u32.. {
        config.geometry.blocks_per_plane = Some(blocks.max(1));
        let Ok(resolved) = resolve(config.clone()) else { continue };
        let drive = parity::drive(resolved, technique);
        match parity::check(&drive, technique, reclaim) {
            Ok(()) if more == 0 => return Ok(drive),
            Ok(()) => {
                config.geometry.blocks_per_plane = Some(blocks + more);
                let resolved = resolve(config).map_err(|e| e.to_string())?;
                return Ok(parity::drive(resolved, technique));
            }
            Err(e) if blocks > 1000 => return Err(e.to_string()),
            Err(_) => {}
        }
    }
    Err("no drive has room for parity".into())
}
