//! Finds the key that breaks a technique's guarantee, and a value with which the guarantee holds.

use super::prospect::Blank;
use super::{NO_SEED, first_broken, promise_at_start};
use crate::api::reclaim::late::late_reads;
use crate::api::reclaim::{CHECK_INTERVAL, Technique};
use crate::base::geometry::Geometry;
use crate::base::phrase::{Opt, Phrase};
use crate::base::search::largest;
use crate::base::span::{DAY, HOUR, Span, YEAR};
use crate::config::{DriveConfig, Schedule};
use crate::phrase;

/// Returns the smallest possible value of `reclaim.late_reads`; `None` if the user does not set
/// this key.
pub(super) fn least_late(config: &DriveConfig) -> Option<u32> {
    let at_once = config.reclaim.schedule == Schedule::Foreground;
    config.reclaim.late_reads.map(|_| u32::from(!at_once))
}

/// Returns the wrong key and the remedy if old age alone uses up the limits, even with all retries.
/// The remedy is the longest refresh period with which the guarantee holds up to the rated P/E
/// cycles. If no period achieves this, it is the longest with which the guarantee holds at
/// `start.pec`.
fn of_age(config: &DriveConfig, technique: &Technique) -> Option<(String, Phrase)> {
    let (first, last) = (config.start.pec, config.start.pec.max(config.drive.rated_pec));
    let blank = Blank::new(config);
    let broken = technique.asked(config, NO_SEED).promise(&blank.view(), first).broken()?;
    blank
        .limits
        .as_ref()
        .filter(|limits| limits.is_used_up_by_age(blank.budget, broken.group, first))?;
    let holds = |hours: u32, last: u32| {
        let mut refreshed = config.clone();
        (refreshed.refresh.at_work, refreshed.refresh.period) =
            (true, Span(u64::from(hours) * HOUR));
        first_broken(&refreshed, technique, last).is_none()
    };
    let most = |last: u32| {
        largest(1, (10 * YEAR / HOUR) as u32, &|hours| holds(hours, last))
            .map(|hours| (hours, last))
    };
    let (hours, last) = most(last).or_else(|| most(first))?;
    let period = Span(if hours > 48 {
        u64::from(hours) * HOUR / DAY * DAY
    } else {
        u64::from(hours) * HOUR
    });
    let oldest = Span(config.longest_age().0 / (DAY / 100) * (DAY / 100));
    let (what, refresh) = if config.refresh.at_work {
        (
            format!(
                "refresh.period = \"{}\" lets data reach an age of {oldest}",
                config.refresh.period
            ),
            Phrase::from("set "),
        )
    } else {
        (
            format!("error.longest_age = \"{oldest}\" without refresh"),
            phrase!["use ", Opt::Refresh.to("block"), " with "],
        )
    };
    let right = phrase![
        refresh,
        "refresh.period = \"{period}\" or less, for wear of up to {last} P/E cycles"
    ];
    Some((what, right))
}

/// Returns the key that breaks the guarantee, with its value, and the remedy. The remedy changes as
/// few keys as possible.
pub(super) fn remedy(config: &DriveConfig, technique: &Technique) -> (String, Phrase) {
    let holds = |change: &dyn Fn(&mut DriveConfig)| {
        let mut changed = config.clone();
        change(&mut changed);
        promise_at_start(&changed, technique).is_none_or(|promise| promise.broken().is_none())
    };
    if let Some(remedy) = of_age(config, technique) {
        return remedy;
    }
    let interval = CHECK_INTERVAL.value(&config.reclaim.params, technique.name) as u32;
    let key = technique.path(config, &CHECK_INTERVAL);
    let set = |config: &mut DriveConfig, n: u32| technique.set(config, &CHECK_INTERVAL, n.into());
    let late = late_reads(config, &Geometry::new(config));
    let least = u32::from(config.reclaim.schedule != Schedule::Foreground);
    let late_is = match config.reclaim.late_reads {
        Some(given) => format!("reclaim.late_reads = {given}"),
        None => {
            format!("reclaim.late_reads is not set, so the timing gives R_late = {late}")
        }
    };
    if let Some(most) = largest(1, interval, &|n| holds(&|c| set(c, n))) {
        return (format!("{key} = {interval}"), format!("set {key} = {most} or less").into());
    }
    if let Some(most) = largest(least, late, &|n| holds(&|c| c.reclaim.late_reads = Some(n))) {
        return (late_is, format!("set reclaim.late_reads = {most} or less").into());
    }
    let both = |n: u32| {
        holds(&|c| {
            set(c, n);
            c.reclaim.late_reads = Some(least);
        })
    };
    if let Some(most) = largest(1, interval, &both) {
        return (
            format!("{key} = {interval}, {late_is}"),
            format!("set reclaim.late_reads = {least}, and set {key} to {most} or less").into(),
        );
    }
    let worn = config.start.pec;
    if let Some(most) = largest(0, worn, &|n| holds(&|c| c.start.pec = n)) {
        return (format!("start.pec = {worn}"), format!("set start.pec = {most} or less").into());
    }
    (
        "disturb.table".into(),
        "use larger limits, or blocks of fewer pages (geometry.wordlines_per_block)".into(),
    )
}
