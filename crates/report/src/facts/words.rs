//! Words for keys that a reader would not understand, and notes that explain sections.

/// Words for whole keys. Words for other keys follow from the words of the key.
const KEYS: [(&str, &str); 89] = [
    ("access_latency", "hint"),
    ("acceleration", "aging speed, as a multiple of that at error.reference_c"),
    ("another_gb_of_cache", "another GB of cache"),
    ("bad_lines", "skipped lines that cannot be read"),
    ("because", "computed as"),
    ("bits_read", "bits read"),
    ("blame", "address ranges whose reads caused most copies"),
    ("books_errors", "wrong counts or map entries"),
    ("cap", "decodes up to RBER"),
    ("clamped", "requests moved to the later time of a request before"),
    ("controller_ram_bytes", "controller RAM"),
    ("corrupted_pages", "pages that merges corrupted"),
    ("cycles_observed", "P/E cycles seen"),
    ("deadline_misses", "jobs that missed the deadline"),
    ("dissolved", "stripes that released their parity"),
    ("ends_days", "unread data lasts"),
    ("even_reads", "reads until loss, if spread evenly"),
    ("expected_failed_reads", "reads expected to need parity"),
    ("expected_uber_at_most", "expected UBER, upper bound"),
    ("extent_bytes", "addresses end at"),
    ("extra_blocks", "blocks that merging costs"),
    ("factor", "threshold, times"),
    ("fill_reads", "pages read to complete small writes"),
    ("first_bad_line", "first skipped line"),
    ("formed", "stripes that got parity"),
    ("from", "where to get the number"),
    ("gc_technique", "GC"),
    ("hottest", "most-read pages"),
    ("invocations", "jobs"),
    ("lacks", "numbers that the snapshots lack"),
    ("left_to_parity_blocks", "blocks that only parity protects"),
    ("limit_violations", "uses of data past its limit"),
    ("longest_age", "oldest readable data (error.longest_age)"),
    ("longest_step_back_s", "longest step back in time"),
    ("lost_not_worn_pages", "lost pages of stripes without a worn block"),
    ("lost_twice_failed_pages", "lost pages of stripes that failed twice"),
    ("lost_unprotected_pages", "lost pages without parity in place"),
    ("lost_waiting_pages", "lost pages whose parity was not formed yet"),
    ("mended_after_s", "rebuilt within"),
    ("merged_blocks", "blocks with merged wordlines"),
    ("miscounted_stripes", "stripes with a wrong counter"),
    ("modified", "parity updates from the old parity"),
    ("most_stripes", "most stripes with pending parity"),
    ("most_waiting", "most stripes that waited for parity"),
    ("oldest_s", "oldest page"),
    ("open_blocks", "jobs for open blocks"),
    ("page_bytes", "page size"),
    ("pages_mean", "pages lost on average"),
    ("pages_most", "pages lost at most"),
    ("pages_once", "only once"),
    ("parity_technique", "parity"),
    ("partial_page_writes", "writes of only a part of a page"),
    ("peak_rss_bytes", "memory"),
    ("power_loss", "cost of a power loss"),
    ("programs_per_page_write", "page programs per page written"),
    ("protocol_errors", "violations of flash rules"),
    ("raised", "raised by the factor"),
    ("reads_first", "reads first, parity second"),
    ("real_drives", "thresholds of real drives"),
    ("reclaim_technique", "reclaim"),
    ("refitted", "requests with an address changed to fit the drive"),
    ("refresh_technique", "refresh"),
    ("request", "after requests"),
    ("request_errors", "pages not served as requested"),
    ("rewritten_at_reads", "`block` rewrites at reads"),
    ("rounds", "rounds of reads per rewrite"),
    ("rounds_per_rewrite", "rounds of reads per rewrite"),
    ("rows_back_in_time", "rows earlier than a row before"),
    ("seconds", "time between the snapshots"),
    ("seconds_from", "time according to"),
    ("separate_regions", "regions with large untouched gaps between them"),
    ("slow_reads_at_most", "reads that meet a busy die, at most"),
    ("stall_us", "wait of host reads for reclaim, summed"),
    ("stamp_errors", "reads of wrong data"),
    ("stripe_s", "time with outdated parity, summed over stripes"),
    ("stripe_writes", "page writes with outdated parity, summed over stripes"),
    ("t_p", "P/E cycles of a worn block, more than"),
    ("threshold_unchanged", "the same estimate without a change"),
    ("threshold_used", "largest dose at a reclaim job, of the read limit"),
    ("to_come", "failures that did not happen before the end"),
    ("unmapped_read_pages", "pages read that hold no data"),
    ("unmended_pages", "pages still to rebuild"),
    ("waiting_s", "time that stripes waited, summed"),
    ("waiting_writes", "page writes while stripes waited, summed"),
    ("weeks_to_even", "until loss, if spread evenly"),
    ("weeks_to_worst_case", "until loss, beside one wordline"),
    ("whole", "parity updates from the whole stripe"),
    ("worst_case_reads", "reads until loss, beside one wordline"),
    ("worst_dose_ratio", "dose of the most disturbed page, of its limit"),
];

/// Notes of sections, by key.
const NOTES: [(&str, &str); 9] = [
    (
        "groups",
        "A wordline endures its limit of reads that are not beside it, or limit / alpha of reads \
         beside it. Limits hold for the weakest page kind.",
    ),
    (
        "code",
        "At the limits, errors are as many as the code corrects: by reads and age together \
         (combine sum), or by each alone (independent). JESD218 allows UBER 1e-15 for client \
         drives and 1e-16 for enterprise drives.",
    ),
    (
        "dose",
        "A read adds weight x alpha to both neighbours of the wordline read, and weight to the \
         other wordlines of the block. Without neighbours in the model, each page gets weight. \
         Wordlines not yet programmed get disturb.preprogram_weight times as much.",
    ),
    (
        "error_budget",
        "RBER = base + retention + slope x dose, for the weakest page at each P/E count; the JSON \
         output has all pages. Retention and dose have one value for each of the ages. A dose \
         below 0: age alone is too much. A slope of 0: fresh data already needs a retry, and vpass \
         rejects a drive that can reach this P/E count.",
    ),
    ("real_drives", "Life if this drive rewrote as seldom as real drives were seen to do."),
    ("hints", "Retries that the host's hints allow."),
    (
        "mapping_unit",
        "To write a part of a page, the drive reads this page and programs a whole page. Costs \
         exclude garbage collection.",
    ),
    (
        "stripes",
        "Expected values for fresh data. The first row holds if there is no parity, or if parity \
         is programmed later than the data.",
    ),
    ("drive_estimate", "The same load on the given drive, by equations."),
];

/// Returns the words for a key, without the unit that its value has.
pub(super) fn label(key: &str) -> String {
    if let Some((_, words)) = KEYS.iter().find(|(of, _)| *of == key) {
        return (*words).to_owned();
    }
    let words: Vec<&str> = key.split('_').collect();
    let has_unit = |word: &&&str| ["us", "percent"].contains(*word);
    let ends_in_unit = words.len() > 1
        && !words.contains(&"per")
        && !words.contains(&"mib")
        && ["bytes", "s", "days"].contains(&words[words.len() - 1]);
    let word = |word: &str| match word {
        "pec" => "P/E cycles".to_owned(),
        "ecc" | "uber" | "rber" | "gc" | "ram" => word.to_uppercase(),
        "iops" => "requests per second".to_owned(),
        "consumed" => "programmed for".to_owned(),
        _ => word.to_owned(),
    };
    let words = &words[..words.len() - usize::from(ends_in_unit)];
    let kept = words.iter().filter(|word| words.len() == 1 || !has_unit(word));
    let text = kept.map(|of| word(of)).collect::<Vec<_>>().join(" ");
    text.replace("p99 9", "p99.9").replace("mib s", "MiB/s")
}

/// Returns the note of a section.
pub(super) fn note(key: &str) -> Option<&'static str> {
    NOTES.iter().find(|(of, _)| *of == key).map(|(_, note)| *note)
}
