//! Cases in which wear decides which stripes have parity. Some blocks begin worn or become worn
//! during the case. So flash fails in each stage of a drive's life, and between two stages.

use vpass_drive::config::{DriveConfig, KindUs, Number};

use crate::dice::Dice;

/// Parity techniques, each with a number of dies per channel.
pub(super) const DRIVES: [(&str, u32); 5] =
    [("pe-aware", 2), ("pe-aware", 3), ("da-raid5", 2), ("da-raid5", 2), ("da-raid5", 3)];

/// P/E cycles of most blocks at the start.
const PEC: u32 = 10;

/// Returns the reclaim techniques, each with a page's limit. Reclaim under `pe-aware` may move
/// pages from worn blocks to others, which GC does not.
pub(super) fn reclaim(parity: &str) -> &'static [(&'static str, f64)] {
    if parity == "pe-aware" {
        &[("block", 4000.0), ("block", 250.0), ("block", 250.0), ("none", 60.0)]
    } else {
        &super::RECLAIM
    }
}

/// Shares of writes in the host's requests, so that blocks become worn.
pub(super) const WRITES: [f64; 3] = [0.2, 0.6, 0.9];

/// Draws the wear that counts as worn, the share of worn blocks at the start, and how stripes are
/// counted and wait.
pub(super) fn draw(dice: &mut Dice, config: &mut DriveConfig, parity: &str) {
    let (above, spread, share) = (
        u64::from(PEC) + dice.between(0, 4),
        dice.pick(&[0, 0, 4]),
        dice.pick(&[0.0, 0.0, 0.05, 0.05, 0.3]),
    );
    // Slow programs make stripes wait long. The last stage then lasts as long as the case.
    config.timing.program_us = KindUs::All(dice.pick(&[500.0, 20_000.0]));
    // GC needs one more open block.
    config.drive.spare = Some(dice.pick(&[0.52, 0.6]));
    let start = &mut config.start;
    (start.pec, start.pec_spread, start.worn_share) = (PEC, spread, share);
    start.worn_pec = (PEC + spread).max(above as u32) + dice.between(0, 4) as u32;
    let params = &mut config.parity.params;
    params.set(None, "t_p", Number::Whole(above.cast_signed()));
    params.set(None, "queue", Number::Whole(dice.pick(&[0, 4, 64, 64])));
    let (published, beyond) =
        (dice.pick(&[0, 0, 0, 1]), dice.pick(&[0, 8, 40, 40, 80, 120, 1_000_000]));
    if parity == "pe-aware" {
        params.set(Some(parity), "published", Number::Whole(published));
    } else {
        params.set(None, "l", Number::Whole(beyond));
        params.set(Some(parity), "cut_off", Number::Whole(dice.pick(&[1, 4, 8])));
        params.set(Some(parity), "pages", Number::Whole(dice.pick(&[1, 5, 24])));
    }
}
