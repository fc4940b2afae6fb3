//! Cases with parity: the drive of a case with three dies or more, and flash enough for a page of
//! parity in every few. They are a battery of their own, so that other cases stay what they are.

use vpass_core::base::units::Bytes;
use vpass_core::config::{DensityConfig, DriveConfig, Number, Params, ProgramUnit};
use vpass_core::slots::parity::{
    self, ParityTechnique, REBUILD, STRIPE, has_stripes, reclaim_part, refresh_part,
};
use vpass_core::slots::reclaim::{RECLAIM, Technique};

use super::balanced::Balanced;
use super::params;
use crate::dice::Dice;

/// Channels and dies on each.
const DIES: [(u32, u32); 5] = [(3, 1), (4, 1), (2, 2), (5, 1), (2, 3)];
/// Share of the flash that the host does not see.
const SPARE: [f64; 3] = [0.42, 0.5, 0.6];

/// Parameters that these cases draw one after the other. Another one has a list of its own, and
/// moves nothing else of a case.
const IN_TURN: [(&str, &str); 5] =
    [("ppc", "pages"), ("hc", "pages"), ("hc", "cut_off"), ("hc", "published"), ("hc", "n_update")];

/// Blocks of a plane beyond those that parity needs, so that blocks may hold fewer pages than they
/// could.
const ROOM_APART: [u32; 3] = [0, 6, 20];

/// One case in four has a technique that keeps kinds of data apart. The others stay what they are.
const APART: [bool; 4] = [false, true, false, false];

/// Techniques that give wordlines guard levels in place, and how many cases there are for one that
/// has such a technique.
const MERGE: [&str; 2] = ["ipr-wl", "ipr"];
const CASES_TO_MERGE: u64 = 8;

/// The reclaim technique of a case.
pub(super) fn technique(balanced: &Balanced) -> &'static Technique {
    let mut dice = Dice::new(balanced.case ^ 0x3E26_E1A6_3E26_E1A6);
    let merges = |t: &&Technique| MERGE.contains(&t.name);
    if dice.between(1, CASES_TO_MERGE) == 1 {
        return dice.pick(&RECLAIM.iter().filter(merges).collect::<Vec<_>>());
    }
    let apart = balanced.pick("keeps apart beside parity", &APART);
    let goes = |t: &&Technique| t.keeps_apart == apart && !merges(t) && !t.needs.retries;
    let name = if apart { "technique apart beside parity" } else { "technique beside parity" };
    balanced.pick(name, &RECLAIM.iter().filter(goes).collect::<Vec<_>>())
}

/// The reclaim and the refresh technique that a parity technique is made of, in the case of this
/// number. Of one with stripes others take the place of the former in every second case, and of
/// both in every fourth.
pub(super) fn parts(case: u64, parity: &str) -> (Option<&'static str>, Option<&'static str>) {
    let others = if has_stripes(parity) { case % 4 } else { 0 };
    (reclaim_part(parity).filter(|_| others % 2 == 0), refresh_part(parity).filter(|_| others < 3))
}

/// One case in four keeps to its technique's published rule, where there is one. It is in no draw
/// of the card's: other cases stay what they are.
const PUBLISHED: [bool; 4] = [false, false, false, true];

/// Makes a technique keep to its published rule, with a turn drawn from all that a stripe allows.
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

/// When blocks are worn, so that some are in the course of a case, and how stripes that need parity
/// are counted and wait for it: of dice of their own.
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

/// In one case of three some blocks begin worn beyond others, so that a drive may begin in any
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

/// Guard levels that help, and room for them, in three cases of four of a technique that gives them
/// in place. In the other draws they are so rare that hardly a case merges what parity counts.
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

/// The drive of a case, resolved, under a parity technique.
///
/// # Errors
/// Why it cannot be resolved.
pub(super) fn draw(
    balanced: &Balanced,
    config: DriveConfig,
    technique: &ParityTechnique,
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
    // It matters where something fails (`bereft`).
    given.set(None, REBUILD.key, REBUILD.number(REBUILD.default));
    config.parity.params = params::draw_apart((balanced, &mut dice), "parity", &IN_TURN, given);
    if channels * dies == 3 {
        config.parity.params.set(None, STRIPE.key, STRIPE.number(2.0));
    }
    if balanced.pick("published rule", &PUBLISHED) {
        draw_published(balanced, &mut config, technique);
    }
    if technique.make(&config, 0).longest_cached().is_some() {
        // It keeps a stripe together in half of the buffer.
        let stripe = u64::from(technique.args(&config).whole(&STRIPE));
        config.drive.write_buffer =
            Bytes(2 * dice.between(stripe, 3 * stripe) * config.geometry.page_size.0);
    }
    if technique.make(&config, 0).by_wear().is_some_and(|by_wear| by_wear.last.is_none())
        && balanced.case % 4 == 3
    {
        // Stripes are those of a request then.
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
        let Ok(resolved) = config.clone().resolve() else { continue };
        let drive = parity::drive(resolved, technique.name);
        match parity::check(&drive, technique.name, reclaim) {
            Ok(()) if more == 0 => return Ok(drive),
            Ok(()) => {
                config.geometry.blocks_per_plane = Some(blocks + more);
                return Ok(parity::drive(
                    config.resolve().map_err(|e| e.to_string())?,
                    technique.name,
                ));
            }
            Err(e) if blocks > 1000 => return Err(e.to_string()),
            Err(_) => {}
        }
    }
    Err("no drive has room for parity".into())
}
