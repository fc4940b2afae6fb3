//! `vpass check`: searches for bugs of the simulated drive. Small random drives serve random
//! requests on all cores. An independent checker, the oracle, watches the drives.
//!
//! Each case is made from its own seed. If a case fails, a command line with this seed runs the
//! case again.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{NO_PARITY, ParityTechnique};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_lab::failure::Failure;
use vpass_lab::numbers;
use vpass_lab::plan::{gc_named, parity_named, reclaim_named, refresh_named};
use vpass_lab::pool;
use vpass_lab::progress::Progress;
use vpass_oracle::swarm::{Case, CaseSummary, Digest, RESTLESS};
use vpass_techniques::all;

use crate::exit::Exit;
use crate::out;
use crate::progress::{Bar, is_interrupted};
use crate::table::{Table, wants_colour};

/// Number of cases per core in a batch. With fewer cases, cores would wait for each other. With
/// more cases, the last batch would exceed the time limit.
const CASES_PER_CORE: u64 = 8;

/// Techniques that the user has named for all cases. Where a field is `None`, each case draws a
/// random technique.
#[derive(Clone, Copy)]
pub(crate) struct Battery {
    reclaim: Option<&'static Technique>,
    gc: Option<&'static GcTechnique>,
    parity: Option<&'static ParityTechnique>,
    refresh: Option<&'static RefreshTechnique>,
    /// Whether each erase counts as several P/E cycles.
    accelerates: bool,
}

impl Battery {
    /// Looks up techniques by name.
    pub(crate) fn named(
        reclaim: Option<&str>,
        gc: Option<&str>,
        parity: Option<&str>,
        refresh: Option<&str>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            reclaim: reclaim.map(reclaim_named).transpose()?,
            gc: gc.map(gc_named).transpose()?,
            parity: parity.map(parity_named).transpose()?,
            refresh: refresh.map(refresh_named).transpose()?,
            accelerates: false,
        })
    }

    /// Returns this battery with accelerated wear on or off. Accelerated wear means that an erase
    /// counts as several P/E cycles.
    pub(crate) fn accelerated(self, accelerates: bool) -> Self {
        Self { accelerates, ..self }
    }

    /// Makes the case for this seed, with the techniques of the battery. With `fail`, flash fails.
    /// If the user has named no technique, the drive then has a drawn parity technique.
    fn case(self, number: u64, fail: bool) -> Case {
        if fail && !self.is_named() {
            return Case::new(number).failing_with_parity();
        }
        let case =
            self.reclaim.map_or(Case::new(number), |technique| Case::new(number).under(technique));
        let striped = self.parity.filter(|parity| parity.name != NO_PARITY);
        let case = striped.map_or(case, |parity| case.striped(parity));
        let case = self.gc.map_or(case, |gc| case.cleaned(gc));
        let case = self.refresh.map_or(case, |refresh| case.refreshed(refresh));
        let case = if self.accelerates { case.accelerated() } else { case };
        if fail { case.failing() } else { case }
    }

    /// Returns whether the user has chosen a technique or the acceleration of wear.
    fn is_named(self) -> bool {
        self.reclaim.is_some()
            || self.gc.is_some()
            || self.parity.is_some()
            || self.refresh.is_some()
            || self.accelerates
    }

    /// Returns the command-line options that select this battery of cases.
    fn flags(self) -> String {
        let named = [
            ("reclaim", self.reclaim.map(|technique| technique.name)),
            ("gc", self.gc.map(|gc| gc.name)),
            ("parity", self.parity.map(|parity| parity.name)),
            ("refresh", self.refresh.map(|refresh| refresh.name)),
        ];
        let named: String = named
            .iter()
            .filter_map(|(flag, name)| Some(format!(" --{flag} {}", (*name)?)))
            .collect();
        named + if self.accelerates { " --accelerate" } else { "" }
    }
}

/// Runs cases with the seeds `seed`, `seed + 1` and so on. The command ends after this many
/// `minutes` or after `count` cases. Without any limit, one case runs.
pub(crate) fn run(
    seed: u64,
    minutes: Option<f64>,
    count: Option<NonZeroU64>,
    of: Battery,
    fail: bool,
) -> Result<Exit, Failure> {
    if let Some(m) = minutes.filter(|m| !(*m > 0.0 && *m < 1e6)) {
        return Err(Failure::usage(format!("--minutes {m}: must be above 0")));
    }
    let end = minutes.map(|m| Instant::now() + Duration::from_secs_f64(m * 60.0));
    let wanted = count.map_or(if end.is_some() { u64::MAX } else { 1 }, NonZeroU64::get);
    let progress = Bar::new(count.map(NonZeroU64::get), "cases");
    let mut counts = Counts::default();
    let pool = pool::threads(pool::cores(), &progress)?;
    let batch = CASES_PER_CORE * pool.current_num_threads() as u64;
    let mut cases = 0;
    let mut failed = 0u64;
    while cases < wanted && end.is_none_or(|end| cases == 0 || Instant::now() < end) {
        let size = batch.min(wanted - cases);
        let one = |i: u64| {
            let case = seed.wrapping_add(cases + i);
            if is_interrupted() {
                return None;
            }
            let result = of.case(case, fail).run();
            progress.advance(1);
            Some((case, result))
        };
        let done: Vec<_> = pool.install(|| (0..size).into_par_iter().filter_map(one).collect());
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        for (case, result) in &done {
            match result {
                Ok(summary) => counts.note(summary),
                Err(sentence) => {
                    failed += 1;
                    let flags = format!("{}{}", of.flags(), if fail { " --fail" } else { "" });
                    out::print(&format!(
                        "seed {case}: {sentence}\n  replay: vpass check --seed {case}{flags}\n"
                    ))?;
                }
            }
        }
        cases += size;
    }
    drop(progress);
    let drives = numbers::plural(cases, "random drive");
    if failed > 0 {
        return Err(Failure::failed(format!("{} of {drives} failed", numbers::count(failed))));
    }
    if cases > 1 {
        out::print(&counts.table())?;
    }
    let requests = numbers::plural(counts.requests(), "request");
    out::print(&format!(
        "{drives} (seeds {seed} and up) served {requests}; the oracle found no error\n"
    ))?;
    Ok(Exit::Done)
}

/// Number of cases drawn between two checks for an interrupt.
const DRAWN_AT_ONCE: u64 = 10_000;

/// Draws the cases and prints their digest (checksum). No case runs.
pub(crate) fn digest(
    seed: u64,
    count: NonZeroU64,
    of: Battery,
    fail: bool,
) -> Result<Exit, Failure> {
    let progress = Bar::new(Some(count.get()), "cases");
    let pool = pool::threads(pool::cores(), &progress)?;
    let one = |i: u64| Digest::default().and(of.case(seed.wrapping_add(i), fail).digest());
    let (mut digest, mut first) = (Digest::default(), 0);
    while first < count.get() {
        let end = count.get().min(first + DRAWN_AT_ONCE);
        let digests: Vec<_> = pool.install(|| (first..end).into_par_iter().map(one).collect());
        if is_interrupted() {
            return Err(Failure::interrupted());
        }
        digest = digests.into_iter().fold(digest, |digest, case| digest.and(case.value()));
        progress.advance(end - first);
        first = end;
    }
    drop(progress);
    let cases = numbers::plural(count.get(), "case");
    out::print(&format!(
        "{:016x}: digest of {cases} (seeds {seed} and up); no case was run\n",
        digest.value()
    ))?;
    Ok(Exit::Done)
}

/// Totals over the cases that ran one technique, without cases in which the oracle found an error.
#[derive(Clone, Copy, Default)]
struct Count {
    cases: u64,
    refused: u64,
    attacked: u64,
    requests: u64,
    reads_checked: u64,
    lost_pages: u64,
    worst_dose_ratio: f64,
}

/// Totals of each technique, by the name of the technique.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, Count>);

impl Counts {
    fn note(&mut self, summary: &CaseSummary) {
        let count = self.0.entry(summary.technique).or_default();
        count.cases += 1;
        count.attacked += u64::from(summary.adversary);
        count.requests += summary.requests;
        let Some(report) = &summary.report else {
            count.refused += 1;
            return;
        };
        count.reads_checked += report.reads_checked;
        count.lost_pages += report.lost_pages;
        count.worst_dose_ratio = count.worst_dose_ratio.max(report.worst_dose_ratio);
    }

    fn requests(&self) -> u64 {
        self.0.values().map(|count| count.requests).sum()
    }

    /// Returns the table of results, with one row per technique. Only pages whose data was used
    /// count for the worst dose (read disturbance). The lost pages in the table break no guarantee:
    /// the technique gives none, or only for lower P/E counts.
    fn table(&self) -> String {
        let mut table = Table::new([
            "technique",
            "cases",
            "refused",
            "attacked",
            "reads checked",
            "worst dose / limit",
            "pages lost, none guaranteed",
        ]);
        for name in all().reclaim.iter().map(|t| t.name).chain([RESTLESS]) {
            let Some(c) = self.0.get(name) else { continue };
            // The ratio is infinite if age alone had used up the limit of a page that was read. By
            // chance, the read of such a page can succeed.
            let is_by_age = c.worst_dose_ratio.is_infinite();
            let ratio =
                if is_by_age { "too old".into() } else { format!("{:.6}", c.worst_dose_ratio) };
            let [cases, refused, attacked, reads, lost] =
                [c.cases, c.refused, c.attacked, c.reads_checked, c.lost_pages].map(numbers::count);
            table.row([name.to_owned(), cases, refused, attacked, reads, ratio, lost]);
        }
        table.render(wants_colour())
    }
}
