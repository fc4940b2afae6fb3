//! # UDL
//! Keeps no parity. Instead, the drive rewrites each block before reads or age cause more errors in
//! its data than the code corrects.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (III-B, III-C): unbound-disturb limiting, for
//!   drives that are not worn yet.
//! - **Is made of:** reclaim `block`, which uses the paper's `T_read`, and refresh `block`, which
//!   uses `T_retention`. A run may replace either by another technique.
//! - **Acts at:** the read counts of reclaim `block`, and the ages of refresh `block`. Refresh runs
//!   in idle time, during the last eighth of the refresh period.
//! - **Costs:** two kinds of blocks are programmed again: those that the host reads often, and
//!   those that it does not rewrite within the refresh period.
//! - **Does not help:** pages that cannot be read for a reason other than reads or age, and data on
//!   a die that fails.
//!
//! The refresh period of `udl` is the longest period that the drive's limits allow. This is the age
//! limit `T_retention` of `[bch]` at the end of the drive's life, minus the longest delay of a
//! refresh. Some error models have no limit for age alone, such as `bch.combine = "sum"`. The
//! period is then `refresh.period`.

use super::{Parity, ParityTechnique, none};
use crate::{reclaim, refresh};
use vpass_drive::api::card::{About, Card, New, Parts};
use vpass_drive::base::span::Span;
use vpass_drive::base::units::Ns;
use vpass_drive::config::{Combine, DriveConfig};
use vpass_drive::error::ages::Ages;
use vpass_drive::error::bch::Bch;
use vpass_drive::error::rate::Rates;

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "udl",
        summary: "no parity: reclaim `block` and refresh `block` rewrite blocks before reads or \
            age reach the code's limits",
        paper: "Guo et al., DATE 2013, III-C",
        parts: Some(PARTS),
        ..About::PLAIN
    },
    // The reclaim and refresh techniques count their RAM themselves. The program time of a block
    // needs no RAM, because it is stored in the first page of the block (III-C).
    new: New::Listed(|_, _, _| Box::new(none::None) as Box<dyn Parity>),
};

/// Reclaim and refresh techniques of which `udl` consists.
pub(super) const PARTS: Parts =
    Parts { reclaim: &reclaim::block::CARD, refresh: &refresh::block::CARD, period };

/// Returns the refresh period of `udl`; `None` if the drive's error model has no limit for age
/// alone. The period suffices up to the rated P/E count. If the table has no row for this count,
/// the next row with more P/E cycles applies.
fn period(config: &DriveConfig) -> Option<Span> {
    let bch = Bch::of(config).filter(|_| config.bch.combine == Combine::Independent)?;
    let last = config.drive.rated_pec.max(config.start.pec);
    let pec = config.bch.rows.iter().copied().find(|pec| *pec >= last).unwrap_or(last);
    let bears = bch.age(pec) / Rates::of(config)?.acceleration();
    let ages = Ages::default();
    // All data of an age step counts as old as the end of the step. Even data that is rewritten
    // late must not be older than the age step `step`.
    let step = ages.step(bears as Ns).checked_sub(1).filter(|step| *step > 0)?;
    let longest = ages.counts_as(step)? - 1;
    let period = |late: Ns| longest - longest / (late + 1) - 1;
    Some(Span(period(vpass_drive::config::LATE_SHARE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{card, resolve, usual, with_parts};
    use vpass_drive::base::span::DAY;
    use vpass_drive::drive::{Drive, Techniques};

    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }
        timing = { sense_us = 400, program_us = 1600, erase_us = 1500, channel_mb_s = 0 }
        drive = { spare = 0.4, rated_pec = 15000 }
        disturb = { model = "count", policy_row_cycles = 0 }
        error = { model = "bch" }
        ecc = { codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }
    "#;

    fn drive(more: &str) -> DriveConfig {
        resolve(toml::from_str::<DriveConfig>(&format!("{DRIVE}\n{more}")).unwrap()).unwrap()
    }

    /// The limit is 381 days at 15,000 cycles. A step of age is 4.4 % long, and an eighth is left
    /// for late rewrites.
    #[test]
    fn the_period_is_as_long_as_the_code_allows() {
        let config = drive("");
        let days = period(&config).unwrap().0 as f64 / DAY as f64;
        assert!(days > 381.0 / 1.125 / 1.0443f64.powi(2) && days < 381.0 / 1.125, "{days}");
        let (under, refresh) = with_parts(config, &CARD, None);
        assert_eq!(
            (refresh.name, under.refresh.period.0 / DAY, under.parity.stripe),
            ("block", days as u64, None)
        );
        assert!(under.longest_age().0 < 381 * DAY);
        let made = |config: DriveConfig| {
            Drive::new(
                config,
                &Techniques { refresh: card("block"), parity: &CARD, ..usual() },
                false,
            )
            .map(|_| ())
        };
        // With this period, the guarantee of `udl` holds at the end of the drive's life. With a
        // period that is three age steps longer, it does not hold.
        let mut at_end = under;
        at_end.start.pec = 15_000;
        made(at_end.clone()).unwrap();
        at_end.refresh.period = Span((at_end.refresh.period.0 as f64 * 1.0443f64.powi(3)) as Ns);
        made(at_end).unwrap_err();
    }

    #[test]
    fn what_is_named_takes_the_place_of_a_part() {
        let month = Span(30 * DAY);
        let of = |named: Option<&str>| {
            let named = named.map(card);
            let (config, refresh) = with_parts(drive(""), &CARD, named);
            (config.refresh.period == month, refresh.name)
        };
        assert_eq!(
            [of(None), of(Some("none")), of(Some("block"))],
            [(false, "block"), (true, "none"), (true, "block")]
        );
        assert_eq!(with_parts(drive(""), &none::CARD, None).1.name, "none");
        assert_eq!(period(&drive("bch = { combine = \"sum\" }")), None);
    }
}
