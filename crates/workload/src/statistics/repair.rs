//! Repairs statistics that contradict each other. The changes are as small as possible, and every
//! change is reported.

use super::curve::{Curve, Head, Known};
use super::disk::SideStatistics;
use super::plan::{most_of_one_length, top_pages};
use super::statistics_config::{SideConfig, StatisticsConfig};

/// Largest share of the page accesses that the pages may need after a repair, if every page has the
/// lowest popularity that the percentiles allow. With a share of 1, all pages between two
/// percentiles would have the popularity of the lower percentile.
const POSSIBLE: f64 = 0.99;

/// Repairs two contradictions in statistics:
/// - Each request length has fewer requests than the most popular page.
/// - The number of pages is too large for the number of accesses and the given popularities.
///
/// Returns a sentence for each change.
pub(super) fn repair(config: &mut StatisticsConfig) -> Vec<String> {
    let mut notes = vec![];
    let page_bytes = config.page.0;
    let old = pages(config);
    let sides = [
        ("read", &mut config.reads, &config.windows.read_pages),
        ("written", &mut config.writes, &config.windows.write_pages),
    ];
    for (verb, side, window_pages) in sides {
        let Some(side) = side else { continue };
        let sound = !side.accesses.is_empty()
            && side.accesses.len() == side.percentiles.len()
            && side.sizes.len() == side.percentiles.len();
        // The check of the table reports all other errors.
        if sound && side.requests > 0 && side.pages > 0 && window_pages.iter().any(|n| *n > 0) {
            notes.extend(repair_top(verb, side, window_pages, page_bytes));
            notes.extend(repair_pages(verb, side, window_pages, page_bytes));
        }
    }
    let new = pages(config);
    if new != old {
        // If possible, the repair keeps the number of pages that are only read and the number of
        // pages that are only written.
        let only = [
            config.footprint_pages.saturating_sub(old[1]),
            config.footprint_pages.saturating_sub(old[0]),
        ];
        let both = new[0].saturating_sub(only[0]).min(new[1].saturating_sub(only[1]));
        config.footprint_pages = new[0] + new[1] - both;
    }
    notes
}

fn pages(config: &StatisticsConfig) -> [u64; 2] {
    [&config.reads, &config.writes].map(|side| side.as_ref().map_or(0, |s| s.pages))
}

fn repair_top(
    verb: &str,
    side: &mut SideConfig,
    window_pages: &[u64],
    page_bytes: u64,
) -> Option<String> {
    let most = most_of_one_length(&SideStatistics::at_full_scale(side, window_pages), page_bytes)
        .ok()? as u64;
    let (top, others) = side.accesses.split_last_mut()?;
    let possible = most.max(others.last().copied().unwrap_or(1));
    if *top <= possible {
        return None;
    }
    let given = std::mem::replace(top, possible);
    Some(format!(
        "in the statistics, the most popular page is {verb} {given} times, but no request length \
         occurs that often; in the workload, the page is {verb} {possible} times"
    ))
}

fn repair_pages(
    verb: &str,
    side: &mut SideConfig,
    window_pages: &[u64],
    page_bytes: u64,
) -> Option<String> {
    let whole = SideStatistics::at_full_scale(side, window_pages);
    let total = whole.page_accesses();
    let top = top_pages("", &whole, page_bytes).ok()?;
    let known = |pages| Known {
        points: &whole.accesses,
        items: pages,
        total,
        head: Head::Ranked { top },
        grain: 1,
        unit: 1,
    };
    let lowest = Curve::lowest_sound_total(&known(whole.pages));
    if total >= lowest || Curve::new(&known(whole.pages)).is_ok() {
        return None;
    }
    let (mut pages, mut too_many) = (1, whole.pages);
    while too_many - pages > 1 {
        let middle = u64::midpoint(pages, too_many);
        let possible = Curve::lowest_sound_total(&known(middle)) as f64 <= POSSIBLE * total as f64;
        *(if possible { &mut pages } else { &mut too_many }) = middle;
    }
    side.pages = pages;
    Some(format!(
        "{} pages are {verb} in the statistics; with these popularity percentiles, these pages \
         need {lowest} page accesses, but there are only {total} accesses; in the workload, \
         {pages} pages are {verb}",
        whole.pages
    ))
}
