//! Which key is to blame where a technique cannot keep its promise, and what would be right.

use super::promise_at_start;
use crate::base::geometry::Geometry;
use crate::base::search::largest;
use crate::config::{DriveConfig, Schedule};
use crate::slots::reclaim::late::late_reads;
use crate::slots::reclaim::{CHECK_INTERVAL, Technique};

/// The smallest `reclaim.late_reads` that is true; none where there is nothing to be said.
pub(super) fn least_late(config: &DriveConfig, timed: bool) -> Option<u32> {
    let at_once = !timed || config.reclaim.schedule == Schedule::Foreground;
    config.reclaim.late_reads.map(|_| u32::from(!at_once))
}

/// Which key is to blame for a broken promise, with its value, and what would be right. The gentlest change is named: one key before two.
pub(super) fn remedy(config: &DriveConfig, technique: &Technique, timed: bool) -> (String, String) {
    let holds = |change: &dyn Fn(&mut DriveConfig)| {
        let mut changed = config.clone();
        change(&mut changed);
        promise_at_start(&changed, technique, timed).is_none_or(|promise| promise.broken().is_none())
    };
    let interval = CHECK_INTERVAL.value(&config.reclaim.params, technique.name) as u32;
    let key = technique.path(config, &CHECK_INTERVAL);
    let set = |config: &mut DriveConfig, n: u32| technique.set(config, &CHECK_INTERVAL, n.into());
    let late = late_reads(config, &Geometry::new(config), timed);
    let least = u32::from(timed && config.reclaim.schedule != Schedule::Foreground);
    let late_is = match config.reclaim.late_reads {
        Some(given) => format!("reclaim.late_reads = {given}"),
        None => format!("reclaim.late_reads is not set, and R_late = {late} follows from the timing"),
    };
    if let Some(most) = largest(1, interval, &|n| holds(&|c| set(c, n))) {
        return (format!("{key} = {interval}"), format!("{key} = {most} or less is right"));
    }
    if let Some(most) = largest(least, late, &|n| holds(&|c| c.reclaim.late_reads = Some(n))) {
        return (late_is, format!("reclaim.late_reads = {most} or less is right"));
    }
    let both = |n: u32| {
        holds(&|c| {
            set(c, n);
            c.reclaim.late_reads = Some(least);
        })
    };
    if let Some(most) = largest(1, interval, &both) {
        return (format!("{key} = {interval}, {late_is}"), format!("reclaim.late_reads = {least} and {key} = {most} or less are right"));
    }
    let worn = config.start.pec;
    if let Some(most) = largest(0, worn, &|n| holds(&|c| c.start.pec = n)) {
        return (format!("start.pec = {worn}"), format!("start.pec = {most} or less is right"));
    }
    ("disturb.table".into(), "larger limits, or blocks of fewer pages (geometry.wordlines_per_block), are right".into())
}
