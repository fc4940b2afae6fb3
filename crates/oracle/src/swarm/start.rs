//! Checks of the drive at its start. The pages that `[start]` describes must be written, once or
//! again, and spread over all filled pages. Limits from a code must be correct, and every count
//! must be zero.

use vpass_drive::base::metrics::{FlashCounts, HostCounts, ReclaimCounts};
use vpass_drive::base::units::Lpn;
use vpass_drive::config::{DriveConfig, ErrorLaw};
use vpass_drive::drive::Drive;
use vpass_drive::drive::audit::blame::BlamedRange;

use crate::Oracle;
use crate::bch::limits_apart;

/// Largest distance of a share from its expectation, in standard deviations. A larger distance is
/// an error.
const FAR: f64 = 7.0;

/// Checks the content after preparation, before the measured phase.
///
/// # Errors
/// If the content differs from `[start]`.
pub(super) fn check_content(drive: &mut Drive, computed: bool) -> Result<(), String> {
    let start = drive.config().start.clone();
    let filled = (f64::from(drive.geometry().host_pages) * start.fill).floor() as u32;
    let rewritten = (f64::from(filled) * start.overwrite) as u64;
    let held: Vec<Lpn> = drive.map_rows().map(|row| row.lpn).collect();
    let lost = drive.lost_pages();
    if lost == 0 && !held.iter().copied().eq(Lpn::range(0..filled)) {
        return Err(format!(
            "the drive starts with {} pages; start.fill = {} means the first {filled}",
            held.len(),
            start.fill
        ));
    }
    if computed && drive.config().parity.by_wear().is_some() {
        // The drive has already programmed parity for pages in worn blocks.
        return Ok(());
    }
    if computed {
        return check_steady_states(drive);
    }
    let oracle: &Oracle = drive.observer().expect("the oracle watches");
    // The first write fills a page. A computed start does not report earlier writes.
    let again: Vec<u64> = Lpn::range(0..filled)
        .map(|lpn| oracle.newest(lpn).map_or(0, |version| u64::from(version).saturating_sub(1)))
        .collect();
    let seen: u64 = again.iter().sum();
    if lost > 0 {
        return Ok(());
    }
    if seen != rewritten {
        return Err(format!(
            "{seen} pages were overwritten before the run; start.overwrite = {} means {rewritten}",
            start.overwrite
        ));
    }
    let (half, n) = (filled / 2, rewritten as f64);
    let share = f64::from(half) / f64::from(filled.max(1));
    let in_half = again.iter().take(half as usize).sum::<u64>() as f64;
    if (in_half - n * share).abs() > FAR * (n * share * (1.0 - share)).sqrt() + 1.0 {
        return Err(format!(
            "{in_half} of the {rewritten} pages overwritten before the run are in the first half \
             of {filled}"
        ));
    }
    Ok(())
}

/// Checks the steady state of each domain: of each die with parity, or of the drive without.
fn check_steady_states(drive: &Drive) -> Result<(), String> {
    let geometry = drive.geometry();
    let mut pages = vec![0u32; geometry.domains() as usize];
    for row in drive.all_map_rows() {
        pages[geometry.stripes.map_or(0, |stripes| stripes.die(row.lpn)) as usize] += 1;
    }
    let mut valid = vec![vec![]; pages.len()];
    for (block, row) in geometry.block_ids().zip(drive.block_states()) {
        if row.written > 0 {
            valid[geometry.domain_of(block)].push(u32::from(row.valid));
        }
    }
    let b = f64::from(geometry.pages_per_block);
    valid.into_iter().zip(pages).try_for_each(|(valid, pages)| check_steady_state(valid, pages, b))
}

/// Checks the steady state of greedy GC under uniform overwrites (Desnoyers, 2014). A block has b
/// pages. On average, a share alpha of the pages of closed blocks is valid, and a share v of the
/// pages of a victim. They satisfy ln(1/v) = (1 - v) / alpha. At a share u of the time from being
/// full to becoming the victim, a block has b v^u valid pages.
fn check_steady_state(mut valid: Vec<u32>, filled: u32, b: f64) -> Result<(), String> {
    valid.sort_unstable_by(|a, b| b.cmp(a));
    let closed = valid.len() as f64;
    let alpha = f64::from(filled) / (closed * b);
    // The equation has 1 as a larger solution. The bisection stays below the point of the smallest
    // difference.
    let above = |v: f64| (1.0 / v).ln() > (1.0 - v) / alpha;
    let (mut low, mut high) = (1e-300, alpha.min(1.0));
    for _ in 0..2000 {
        let middle = f64::midpoint(low, high);
        if above(middle) { low = middle } else { high = middle }
    }
    let v: f64 = if alpha >= 1.0 { 1.0 } else { low };
    for (k, valid) in (0..).zip(valid) {
        let exact = b * v.powf((f64::from(k) + 0.5) / closed);
        if (f64::from(valid) - exact).abs() > 2.0 + b / 50.0 {
            return Err(format!(
                "block {k} of {closed}, fullest first, starts with {valid} valid pages; the steady \
                 state has {exact:.1}"
            ));
        }
    }
    Ok(())
}

/// Compares limits that follow from a code with the oracle's own limits.
///
/// # Errors
/// If a limit differs.
pub(super) fn check_limits(config: &DriveConfig) -> Result<(), String> {
    if config.error.model != ErrorLaw::Bch {
        return Ok(());
    }
    let pecs = [config.start.pec.max(1), config.bch.pec, config.bch.pec + 1];
    limits_apart(config, config, &pecs).map_or(Ok(()), |apart| {
        Err(format!("a limit differs from the limit of the code: {apart:?}"))
    })
}

/// Checks the counts just after the measured phase began.
///
/// # Errors
/// If a count is not zero.
pub(super) fn check_counts(drive: &Drive) -> Result<(), String> {
    let own = drive.technique_counts().into_iter().find(|(_, count)| *count > 0);
    let blamed: Vec<BlamedRange> = drive.blamed_ranges().collect();
    let zero = *drive.host_counts() == HostCounts::default()
        && *drive.flash_counts() == FlashCounts::default()
        && *drive.reclaim_counts() == ReclaimCounts::default()
        && (drive.lost_pages(), drive.uncorrectable_reads()) == (0, 0)
        && blamed.is_empty();
    match own {
        Some((name, count)) => Err(format!("the measured phase starts with {name} at {count}")),
        None if !zero => Err("the measured phase starts with counts above zero".into()),
        None => Ok(()),
    }
}
