//! Retries that hints allow, from the times of a read.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::{transfer_ns, us};
use vpass_drive::config::DriveConfig;

/// Returns the number of retries that fit for each hint, for a page of the slowest kind.
pub(super) fn allowed(config: &DriveConfig) -> [u8; AccessLatency::COUNT] {
    let (t, ecc, hints) = (&config.timing, &config.ecc, &config.hints);
    let most = ecc.levels().saturating_sub(1);
    let page = config.geometry.page_size.0;
    let (transfer, link) = (transfer_ns(page, t.channel_mb_s), transfer_ns(page, t.host_mb_s));
    let fits = |budget: f64| {
        let of_kind = |sense_us: f64| {
            let first = us(sense_us) + transfer + us(t.ecc_us) + link;
            let retry = |k: usize| {
                let sense = ecc.retry_sense_us.get(k).map_or(us(sense_us), |time| us(*time));
                sense
                    + ecc.retry_transfer_us.get(k).map_or(transfer, |time| us(*time))
                    + us(ecc.retry_decode_us[k])
            };
            let takes = |retries: usize| first + (0..retries).map(retry).sum::<u64>();
            (0..=most).take_while(|retries| takes(*retries) <= us(budget)).last().unwrap_or(0)
        };
        t.sense_per_kind_us(config.geometry.cell).into_iter().map(of_kind).min().unwrap_or(0) as u8
    };
    let without = config.reclaim.retries.min(most as u32) as u8;
    [hints.smallest_us, Some(hints.typical_us), Some(hints.idle_us)]
        .map(|budget| budget.map_or(without, fits))
}
