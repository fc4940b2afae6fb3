//! The oracle's verdict: the number of checks, the number of findings, and the first findings of
//! each kind as sentences.

use serde::{Deserialize, Deserializer, Serialize};

/// Number of sentences kept for each kind of finding: enough to see a pattern and few enough to
/// read.
const SENTENCES_PER_KIND: u64 = 5;

/// Kind of error of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A page holds wrong data.
    Stamp,
    /// Data past its limit was used, or was not reported.
    Limit,
    /// The drive reported data as lost that was not.
    FalseLoss,
    /// The drive broke the rules of flash or of time.
    Protocol,
    /// A request was not served as the host asked.
    Request,
    /// The drive's counts or its map do not match its operations.
    Books,
}

const KINDS: usize = 6;

/// Counts of each kind of finding, and the first few as sentences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    counts: [u64; KINDS],
    sentences: Vec<String>,
}

impl Findings {
    /// Adds a finding. Makes its sentence only if that is kept.
    #[cold]
    pub(crate) fn add(&mut self, kind: Kind, sentence: impl FnOnce() -> String) {
        self.counts[kind as usize] += 1;
        if self.counts[kind as usize] <= SENTENCES_PER_KIND {
            self.sentences.push(sentence());
        }
    }

    /// Adds the error of a check, if it has one.
    #[inline]
    pub(crate) fn note(&mut self, kind: Kind, checked: Result<(), String>) {
        if let Err(sentence) = checked {
            self.add(kind, || sentence);
        }
    }

    /// Compares counts that the drive reports with those that were seen. Each line has a name, the
    /// drive's count and the count seen.
    pub(crate) fn compare(&mut self, lines: &[(&str, u64, u64)]) {
        for (what, claimed, seen) in lines.iter().filter(|(_, claimed, seen)| claimed != seen) {
            self.add(Kind::Books, || {
                format!("the drive reports {claimed} {what}; {seen} were seen")
            });
        }
    }

    pub(crate) fn count(&self, kind: Kind) -> u64 {
        self.counts[kind as usize]
    }

    pub(crate) fn sentences(&self) -> &[String] {
        &self.sentences
    }
}

/// Counts of a drive's reads and losses since the measured phase began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// Number of host page reads.
    pub(crate) reads_checked: u64,
    /// Number of host page reads answered with an error.
    pub(crate) uncorrectable_reads: u64,
    /// Number of different pages reported lost.
    pub(crate) lost_pages: u64,
    /// Largest dose of a used page, as a share of the page's limit.
    pub(crate) worst_dose_ratio: f64,
}

/// Reads a number. JSON writes infinity as null.
fn or_infinite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// The oracle's verdict on a run. Errors count from the start of the drive; all other numbers count
/// from the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OracleReport {
    /// Number of host page reads that the oracle compared with the truth.
    pub reads_checked: u64,
    /// Number of reads, programs and copies that had the wrong data.
    pub stamp_errors: u64,
    /// Number of losses that the drive did not report: used reads of pages past their true limit,
    /// and valid pages past it at the end.
    pub limit_violations: u64,
    /// Number of host page reads that the drive answered with an error, rightly or not.
    pub uncorrectable_reads: u64,
    /// Number of different pages whose data the drive reported lost.
    pub lost_pages: u64,
    /// Largest share of its limit that a page reached whose data was used, or was valid at the end.
    #[serde(deserialize_with = "or_infinite")]
    pub worst_dose_ratio: f64,
    /// Number of readable pages that the drive reported uncorrectable or lost.
    pub false_losses: u64,
    /// Number of violations of the rules of flash, and of operations that overlap in time.
    pub protocol_errors: u64,
    /// Number of pages of requests that were not served once and in order, or whose written parts
    /// differ from the request.
    pub request_errors: u64,
    /// Number of counts and map entries of the drive that do not agree with its operations.
    pub books_errors: u64,
    /// First findings of each kind, as sentences.
    pub findings: Vec<String>,
}

impl OracleReport {
    pub(crate) fn new(findings: &Findings, tally: Tally) -> Self {
        Self {
            reads_checked: tally.reads_checked,
            stamp_errors: findings.count(Kind::Stamp),
            limit_violations: findings.count(Kind::Limit),
            uncorrectable_reads: tally.uncorrectable_reads,
            lost_pages: tally.lost_pages,
            worst_dose_ratio: tally.worst_dose_ratio,
            false_losses: findings.count(Kind::FalseLoss),
            protocol_errors: findings.count(Kind::Protocol),
            request_errors: findings.count(Kind::Request),
            books_errors: findings.count(Kind::Books),
            findings: findings.sentences().to_vec(),
        }
    }

    /// Returns whether something is wrong that the drive did not report as a loss.
    pub fn is_bug(&self) -> bool {
        let of_data = self.stamp_errors + self.limit_violations + self.false_losses;
        of_data + self.protocol_errors + self.request_errors + self.books_errors > 0
    }
}
