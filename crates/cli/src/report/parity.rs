//! Text about the parity work in a run, and about injected failures of flash.

use std::fmt::Write;

use vpass_lab::numbers::{count, digits, plural, seconds};
use vpass_lab::results::{ByWear, Delayed, Failures, Parity, ReadsFirst, Summary};

/// Describes the parity work in a run. Without parity, the text is empty.
pub(super) fn parity(s: &Summary) -> String {
    let (Some(parity), Some(technique)) = (&s.parity, &s.parity_technique) else {
        return String::new();
    };
    let mut text = format!(
        "\n  \
         parity {technique}: {} parity updates computed from the old parity, and {} from all data \
         of the stripe; {} rebuilt; {} unprotected",
        count(parity.modified),
        count(parity.whole),
        plural(parity.rebuilt_pages, "page"),
        plural(parity.unprotected_stripes, "stripe")
    );
    text.push_str(&by_die(parity));
    text.push_str(&parity.reads_first.as_ref().map_or_else(String::new, reads_first));
    text.push_str(&parity.delayed.as_ref().map_or_else(String::new, delayed));
    text.push_str(
        &parity
            .by_wear
            .as_ref()
            .map_or_else(String::new, |by_wear| of_worn(by_wear, parity.parity_pages)),
    );
    text
}

/// Describes how much the wear of dies differs. Pages never move to another die, so the wear of
/// dies does not become equal. If all dies are equally worn, the text is empty.
fn by_die(parity: &Parity) -> String {
    let of = parity.pec_mean_by_die.iter().copied();
    let (least, most) = of.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), pec| {
        (least.min(pec), most.max(pec))
    });
    let spread = format!(
        "\n    mean P/E cycles: {least:.3} on the least worn die, {most:.3} on the most worn die"
    );
    if least < most { spread } else { String::new() }
}

/// Describes the expected errors of a drive that allows more reads per block with parity than
/// without parity.
fn reads_first(expected: &ReadsFirst) -> String {
    let of = |uber: Option<f64>| {
        uber.map_or_else(
            || "unknown (stripes were without parity)".into(),
            |uber| format!("{uber:.1e}"),
        )
    };
    format!(
        "\n  \
         blocks endure {} times the reads that a page endures without parity; of {:.1e} flash \
         reads, {:.1e} are expected to need parity\n    \
         expected UBER {}, upper bound {}; expected without parity {}; target {:.1e}",
        digits(expected.raised),
        expected.reads,
        expected.expected_failed_reads,
        of(expected.expected_uber),
        of(expected.expected_uber_at_most),
        of(expected.expected_uber_without_parity),
        expected.uber_target
    )
}

/// Describes parity that is written later than its data, and how many pages a power loss would
/// cost.
fn delayed(delayed: &Delayed) -> String {
    let power = match (delayed.survives_power_loss, delayed.power_loss.pages_mean) {
        (true, _) => "the cache survives a power loss".into(),
        (false, Some(mean)) => {
            format!(
                "a power loss would cost {} pages on average, and {} pages at most",
                digits(mean),
                count(delayed.power_loss.pages_most)
            )
        }
        (false, None) => format!(
            "a power loss would cost at most {}",
            plural(delayed.power_loss.pages_most, "page")
        ),
    };
    format!(
        "\n  parity was pending for at most {stripes} at a time; the parity cache of {pages} took \
         {updates} updates{window}; {power}",
        stripes = plural(delayed.most_stripes, "stripe"),
        pages = plural(delayed.cache_pages.into(), "page"),
        updates = count(delayed.updates),
        window = window("had outdated parity", delayed.stripe_s, delayed.stripe_writes),
    )
}

/// Describes how long stripes had no parity or outdated parity. Without a clock, the time is given
/// in pages that the host wrote. If all stripes always had correct parity, the text is empty.
fn window(waited: &str, stripe_s: Option<f64>, stripe_writes: u64) -> String {
    match stripe_s {
        Some(s) if s > 0.0 => {
            format!("; stripes {waited} for {}, summed over all stripes", seconds(s))
        }
        None if stripe_writes > 0 => format!(
            "; stripes {waited} during {} of the host, summed over all stripes",
            plural(stripe_writes, "page write")
        ),
        _ => String::new(),
    }
}

/// Describes which stripes have parity, which stripes waited for parity, and which blocks rely on
/// parity.
fn of_worn(by_wear: &ByWear, stripes: u32) -> String {
    let miscounted = by_wear.miscounted_stripes;
    let wrong = if miscounted > 0 {
        format!("; the technique's counter is wrong for {}", plural(miscounted, "stripe"))
    } else {
        String::new()
    };
    let stage = by_wear.life.as_ref().map_or_else(String::new, |life| {
        let left = life.left_to_parity_blocks;
        let left = if left > 0 {
            format!(", with {} that only parity protects", plural(left, "block"))
        } else {
            String::new()
        };
        format!("; the drive's life is in stage {}{left}", life.stage)
    });
    format!(
        "\n  \
         {} of {} have parity; {} % of the blocks have more than {} P/E cycles; {} stripes got \
         parity, and {} released their parity; at most {} stripes waited for parity at a \
         time{}{wrong}{stage}",
        count(by_wear.protected_stripes),
        plural(stripes.into(), "stripe"),
        digits(100.0 * by_wear.worn_share),
        count(by_wear.t_p.into()),
        count(by_wear.formed),
        count(by_wear.dissolved),
        count(by_wear.most_waiting),
        window("waited", by_wear.waiting_s, by_wear.waiting_writes),
    )
}

/// Describes the injected failures and what they caused.
pub(super) fn failures(failures: &Failures) -> String {
    let mut text = String::new();
    for one in &failures.happened {
        let stage = one
            .stage
            .map_or_else(String::new, |stage| format!(" in stage {stage} of the drive's life"));
        let (requests, pages) = (plural(one.request, "request"), plural(one.pages, "page"));
        let _ = write!(
            text,
            "\n  {} failed after {requests}{stage}; the failed flash held {pages}",
            one.failure
        );
    }
    for one in &failures.to_come {
        let _ = write!(text, "\n  the failure {one} did not happen, because the run ended earlier");
    }
    let unprotected = match failures.lost_unprotected_pages {
        0 => String::new(),
        pages => format!(", {} without parity in place", count(pages)),
    };
    let _ = write!(
        text,
        "\n  \
         failures: {pages} lost, {} of these pages in stripes that failed twice{unprotected}; {} \
         rebuilt in the background, {} for reads, {} for writes; {} still to rebuild; {stripes} \
         unprotected",
        count(failures.lost_twice_failed_pages),
        count(failures.rebuilt_in_background_pages),
        count(failures.rebuilt_for_reads_pages),
        count(failures.rebuilt_for_writes_pages),
        count(failures.unmended_pages),
        pages = plural(failures.lost_pages, "page"),
        stripes = plural(failures.unprotected_stripes, "stripe")
    );
    if let Some(after) = failures.mended_after_s {
        let _ = write!(text, "; rebuilt within {}", seconds(after));
    }
    if let (Some(not_worn), Some(waiting)) =
        (failures.lost_not_worn_pages, failures.lost_waiting_pages)
    {
        let (not_worn, waiting) = (plural(not_worn, "page"), plural(waiting, "page"));
        let _ = write!(
            text,
            "\n  reasons why lost pages had no parity: for {not_worn}, no page of the stripe was \
             in a worn block; for {waiting}, the parity was not formed yet"
        );
    }
    text
}

/// Returns the verdict for a run that lost no data but has pages left to rebuild.
pub(super) fn still_to_rebuild(s: &Summary) -> Option<String> {
    let to_go = s.failures.as_ref()?.unmended_pages;
    (to_go > 0).then(|| {
        format!(
            "No data was lost so far, but the rebuild is not done: {pages_lie} still on failed \
             flash.",
            pages_lie = lie(to_go)
        )
    })
}

fn lie(pages: u64) -> String {
    format!("{} {}", plural(pages, "page"), if pages == 1 { "lies" } else { "lie" })
}

/// Sums up the failures in all runs of one technique; `None` if no failure was injected.
pub(crate) fn failures_in_short(runs: &[Summary]) -> Option<String> {
    let all: Vec<&Failures> = runs.iter().filter_map(|run| run.failures.as_ref()).collect();
    let sum = |of: fn(&Failures) -> u64| all.iter().map(|failures| of(failures)).sum::<u64>();
    let rebuilt = sum(|f| {
        f.rebuilt_in_background_pages + f.rebuilt_for_reads_pages + f.rebuilt_for_writes_pages
    });
    let runs = if all.len() > 1 { format!(" in {} runs", all.len()) } else { String::new() };
    (!all.is_empty()).then(|| {
        format!(
            "failures lost {pages}{runs}; {} rebuilt, {} still to rebuild; {stripes} unprotected \
             at the end",
            count(rebuilt),
            count(sum(|f| f.unmended_pages)),
            pages = plural(sum(|f| f.lost_pages), "page"),
            stripes = plural(sum(|f| f.unprotected_stripes), "stripe")
        )
    })
}
