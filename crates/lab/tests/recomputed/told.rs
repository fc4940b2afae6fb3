//! Numbers that only the drive counts, and that the summary must show unchanged.

use vpass_lab::run::Outcome;

use crate::expected::Book;

/// Returns the drive's own counts, each at its place in the summary.
pub(crate) fn as_told(outcome: &Outcome) -> Book {
    let mut book = Book::default();
    reclaim(&mut book, outcome);
    refresh(&mut book, outcome);
    parity(&mut book, outcome);
    smart(&mut book, outcome);
    failures(&mut book, outcome);
    hints(&mut book, outcome);
    memory(&mut book, outcome);
    book
}

fn reclaim(book: &mut Book, outcome: &Outcome) {
    let counts = outcome.drive.reclaim_counts();
    let told = [
        ("alarms", counts.alarms),
        ("invocations", counts.invocations),
        ("pages_copied", counts.pages_copied),
        ("deadline_misses", counts.deadline_misses),
        ("gc_erases", counts.gc_erases),
        ("pool_openings", counts.pool_openings),
        ("pool_misses", counts.pool_misses),
        ("reprograms", counts.reprograms),
        ("low_density_refused", counts.low_density_refused),
        ("low_density_erases_by_gc", counts.low_density_erases_by_gc),
    ];
    for (key, n) in told {
        book.note(format!("reclaim.{key}"), n as f64);
    }
    book.note("reclaim.stall_us", counts.stall_ns as f64 / 1e3);
    for (name, n) in outcome.drive.technique_counts() {
        book.note(format!("reclaim.{name}"), n as f64);
    }
    for (twentieth, n) in counts.low_density_used.0.iter().enumerate() {
        book.note(format!("reclaim.low_density_used.{twentieth}"), *n as f64);
    }
}

fn refresh(book: &mut Book, outcome: &Outcome) {
    if outcome.summary.refresh.is_none() {
        return;
    }
    let counts = outcome.drive.refresh_counts();
    let mut told = vec![
        ("invocations", counts.invocations),
        ("open_blocks", counts.open_blocks),
        ("unused_pages", counts.unused_pages),
        ("deadline_misses", counts.deadline_misses),
    ];
    if outcome.drive.adjusts() {
        told.push(("merged_wordlines", counts.merged_wordlines));
        told.push(("corrupted_pages", counts.corrupted_pages));
        told.push(("no_room", counts.no_room));
        told.push(("merged_blocks", outcome.drive.adjusted_blocks().0.into()));
    }
    for (key, n) in told {
        book.note(format!("refresh.{key}"), n as f64);
    }
    book.note("refresh.oldest_s", outcome.drive.oldest_age() as f64 / 1e9);
}

fn parity(book: &mut Book, outcome: &Outcome) {
    let (counts, drive) = (outcome.drive.parity_counts(), &outcome.drive);
    let Some(parity) = &outcome.summary.parity else { return };
    let mut told = vec![
        ("modified", counts.modified),
        ("whole", counts.whole),
        ("rebuilt_pages", counts.rebuilt),
    ];
    told.extend([
        ("given_up", counts.given_up),
        ("unprotected_stripes", drive.unprotected_stripes()),
    ]);
    if let Some(window) = drive.forming_window().filter(|_| parity.by_wear.is_some()) {
        told.extend([("by_wear.formed", counts.formed), ("by_wear.dissolved", counts.dissolved)]);
        told.push(("by_wear.protected_stripes", drive.stripes_with_parity()));
        book.note(
            "parity.by_wear.waiting_s",
            drive.is_timed().then(|| window.stripe_ns as f64 / 1e9),
        );
    }
    if let Some(window) = drive.parity_window() {
        told.extend([
            ("delayed.made_whole", counts.made_whole),
            ("delayed.cache_pages", drive.parity_cache_pages().into()),
        ]);
        book.note(
            "parity.delayed.stripe_s",
            drive.is_timed().then(|| window.stripe_ns as f64 / 1e9),
        );
    }
    for (key, n) in told {
        book.note(format!("parity.{key}"), n as f64);
    }
}

fn smart(book: &mut Book, outcome: &Outcome) {
    let drive = &outcome.drive;
    let refreshed = drive.reclaim_counts().invocations + drive.refresh_counts().invocations;
    book.note("smart.refresh_count", refreshed as f64);
}

fn failures(book: &mut Book, outcome: &Outcome) {
    let Some(books) = outcome.drive.failure_books() else { return };
    let told = [
        ("lost_pages", books.taken.pages),
        ("lost_twice_failed_pages", books.taken.twice_failed),
        ("lost_unprotected_pages", books.taken.unprotected),
        ("rebuilt_in_background_pages", books.rebuilt_in_background),
        ("rebuilt_for_reads_pages", books.rebuilt_for_reads),
        ("rebuilt_for_writes_pages", books.rebuilt_for_writes),
        ("unmended_pages", outcome.drive.pages_to_rebuild()),
    ];
    for (key, n) in told {
        book.note(format!("failures.{key}"), n as f64);
    }
}

fn hints(book: &mut Book, outcome: &Outcome) {
    let Some(words) = outcome.drive.hint_outcomes() else { return };
    for (name, word) in ["smallest", "typical", "idle"].into_iter().zip(words) {
        let mut note = |key: &str, n: f64| book.note(format!("hints.{name}.{key}"), n);
        note("pages", word.pages as f64);
        note("pages_kept_tighter", word.pages_kept_tighter as f64);
        note("reads", word.counts.reads as f64);
        note("missed_budgets", word.counts.missed as f64);
        note("retries", f64::from(word.budget.retries));
    }
}

/// Adds the memory of three techniques, computed by hand. A count takes three bytes. A technique
/// has a count per block, or a count per block and per wordline.
fn memory(book: &mut Book, outcome: &Outcome) {
    let geometry = outcome.drive.geometry();
    let (blocks, wordlines) = (f64::from(geometry.blocks), f64::from(geometry.wordlines()));
    let bytes = match outcome.summary.reclaim_technique.as_str() {
        "none" => 0.0,
        "block" => 3.0 * blocks,
        "straw-wl" => 3.0 * (blocks + wordlines),
        _ => return,
    };
    if outcome.summary.parity.is_none() && outcome.summary.refresh.is_none() {
        book.note("controller_ram_bytes", bytes);
    }
}
