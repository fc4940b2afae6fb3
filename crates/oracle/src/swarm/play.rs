//! Run of a case: a drive under the oracle, the source of its requests, and the conditions at the
//! end.

use std::sync::PoisonError;

use vpass_drive::api::reclaim::{CHECK_INTERVAL, OWN_AGE, Technique};
use vpass_drive::base::metrics::{FlashCounts, HostCounts, ReclaimCounts};
use vpass_drive::config::{ConfigError, ErrorLaw};
use vpass_drive::drive::Drive;
use vpass_drive::time::{Replay, RunError, warm_up};

use super::ageing::Ages;
use super::drawing::Drawn;
use super::policy_numbers::{Ear, PolicyNumbers};
use super::promises::{Answers, Broken, Knows, Promises};
use super::restless::Restless;
use super::stream::{GROUP_OF, Stream};
use super::witness::Witness;
use super::{Host, border, keeps_promises, lost_die};
use crate::adversary::{Adversary, Coming, Siege, serve};
use crate::dice::Dice;
use crate::{Oracle, OracleReport};

/// Requests of a siege for each request of a stream. A siege acts in order and has no random
/// requests in between.
const SIEGE: u64 = 3;

/// Share of a stream's requests that belongs to the warm-up.
const WARM_UP: (u64, u64) = (1, 4);

/// Result of a run.
pub(super) struct Played {
    /// State that must be equal in a second run.
    pub(super) end: String,
    pub(super) requests: u64,
    pub(super) report: OracleReport,
    /// Number of pages lost before and in the measured phase.
    pub(super) lost: u64,
    /// Whether no page may be lost at the P/E counts that the drive has reached.
    pub(super) promised: bool,
}

impl Drawn {
    /// Runs the case.
    pub(super) fn play(&self) -> Result<Played, String> {
        let mut dice = self.dice.clone();
        let seed = dice.next();
        let broken = Broken::default();
        let mut drive = self.drive(seed, &broken).map_err(|e| e.to_string())?;
        let computed = self.computed && drive.config().start.overwrite >= 1.0;
        if computed {
            drive.precondition_computed(seed);
        } else {
            drive.precondition(seed);
        }
        drive.begin_measurement();
        check_counts(&drive)?;
        let keeps_apart = self.named.is_none_or(|t| t.keeps_apart);
        let mut source = Stream::new(&mut dice, &drive, keeps_apart, self.longest);
        source.left *= self.lives;
        if self.is_nested {
            source.write_parts();
        }
        let asked = source.left;
        if let Some(ages) = self.ages {
            source.go_by_a_clock(ages.gap(asked));
        }
        let (warmed, lost_before) =
            if self.warms_up { warmed_up(&mut drive, &mut source)? } else { (0, 0) };
        let mut engine = self.timed.then(|| Replay::new(&drive));
        if let Some(engine) = &mut engine {
            engine.count_groups(&GROUP_OF);
        }
        if let Some(seed) = self.fails {
            drive.expect_failures(&lost_die::failures(seed, drive.geometry(), source.left));
        }
        let served = match self.serve(&mut dice, &mut drive, engine.as_mut(), &mut source) {
            Err(RunError::Stopped(_)) => return Ok(stopped(&mut drive, engine.as_ref())),
            served => served.map_err(|e| format!("{e:?}"))?,
        };
        let requests = warmed + served;
        // A siege always completes the sequence of requests that it has begun, so it may serve more
        // requests.
        if requests != asked && !(self.host == Host::Siege && requests > asked) {
            return Err(format!("{requests} of {asked} requests were served"));
        }
        drive.report_unread_losses();
        let mut oracle = drive.end_observation_of::<Oracle>().expect("the oracle watched");
        oracle.check_doses(&drive);
        oracle.check_counters(&drive);
        let all_lost = lost_before + drive.lost_pages();
        // Nothing guarantees data beyond its largest age, or data in blocks that are left alone.
        let lost = all_lost.saturating_sub(oracle.losses_not_promised(drive.now()));
        let promised = self.named.map_or_else(
            || border::has_room(&drive),
            |technique| border::promised(&drive, technique),
        );
        let end = end(&drive, engine.as_ref());
        let broken = broken.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(broken) = broken.filter(|_| promised && self.fails.is_none()) {
            return Err(broken);
        }
        Ok(Played { end, requests, report: oracle.conclude(&drive), lost, promised })
    }

    /// Serves the rest of the stream's requests, or as many requests of an adversary or a siege.
    fn serve(
        &self,
        dice: &mut Dice,
        drive: &mut Drive,
        engine: Option<&mut Replay>,
        source: &mut Stream,
    ) -> Result<u64, RunError> {
        let left = source.left;
        if self.host == Host::Stream {
            return serve(drive, engine, source, &mut |_, _| true);
        }
        let (seed, depth) = (dice.next(), dice.pick(&[1, 4, 32]));
        let by_clock = |ages: Ages| Coming::ByClock { gap: ages.gap(left), at: 0 };
        let coming = self.ages.map_or(Coming::Outstanding(depth), by_clock);
        if self.host == Host::Siege {
            return Siege::new(seed, coming).lay(drive, engine, SIEGE * left);
        }
        Adversary::coming(seed, coming).attack(drive, engine, left, &mut |_, _| true)
    }

    /// Returns the drive, watched by an oracle.
    fn drive(&self, seed: u64, broken: &Broken) -> Result<Drive, ConfigError> {
        let config = self.config.clone();
        let techniques = &self.techniques;
        let mut drive = match self.named {
            None => {
                let policy = Box::new(Restless::new(seed, self.is_reckless));
                Drive::with_policy(config, policy, techniques, self.timed)?
            }
            Some(_) => Drive::new(config, techniques, self.timed)?,
        };
        let mut oracle = Oracle::new(drive.geometry(), drive.config());
        let refresh = techniques.refresh.name;
        oracle.expect_refresh(drive.config(), refresh, techniques.seed, self.timed);
        let ear = Ear::default();
        if self.named.is_some() {
            oracle.expect_low_density(drive.config());
        }
        if self.named.is_some_and(keeps_promises) {
            oracle.expect_budgets(drive.config());
        }
        // Retries add dose, so a technique has a reserve for them. The worst host is not judged by
        // that reserve.
        let has_rates = drive.config().error.model != ErrorLaw::None;
        let is_judged =
            |technique: &&Technique| !has_rates && !self.timed && keeps_promises(technique);
        let answers = self.named.filter(is_judged).map(|technique| (Answers::default(), technique));
        if let Some((answers, technique)) = &answers {
            let merges_wordlines = technique.lowers_density && !technique.keeps_apart;
            let interval = merges_wordlines.then(|| {
                CHECK_INTERVAL.value(&drive.config().reclaim.params, technique.name) as u32
            });
            let knows = Knows {
                late: drive.late_reads(),
                counts_blocks: technique.params.iter().all(|param| *param == OWN_AGE),
                interval,
            };
            let of_drive = (drive.geometry(), drive.config());
            oracle.also(Box::new(Promises::new(of_drive, knows, (answers, broken))));
        }
        let (geometry, watched) = (drive.geometry().clone(), drive.config().clone());
        drive = drive.interpose(|policy| {
            let streams = policy.streams();
            oracle.also(Box::new(PolicyNumbers::new(&geometry, &watched, streams, &ear)));
            if policy.follows_age() {
                oracle.deadlines.expect_follows_age(&oracle.truth, &watched, self.timed);
            }
            Box::new(Witness::of(policy, &ear, answers.as_ref().map(|(answers, _)| answers)))
        });
        oracle.expect_groups(&GROUP_OF);
        drive.observe(Box::new(oracle));
        Ok(drive)
    }
}

/// Returns the result of a run that ended because too much flash had failed.
fn stopped(drive: &mut Drive, engine: Option<&Replay>) -> Played {
    let end = end(drive, engine);
    let oracle = drive.end_observation_of::<Oracle>().expect("the oracle watched");
    Played { end, requests: 0, report: oracle.report(), lost: drive.lost_pages(), promised: false }
}

/// Serves a part of a stream without time and restarts the counts. Returns the numbers of requests
/// and of lost pages.
fn warmed_up(drive: &mut Drive, source: &mut Stream) -> Result<(u64, u64), String> {
    let after = source.left - source.left * WARM_UP.0 / WARM_UP.1;
    source.left -= after;
    let served = warm_up(drive, source, &mut |_, _| true).map_err(|e| format!("{e:?}"))?;
    source.left = after;
    if drive.keeps_time() {
        drive.restart_clock();
        source.restart_clock();
    }
    let lost = drive.lost_pages();
    drive.begin_measurement();
    check_counts(drive)?;
    Ok((served, lost))
}

/// Checks the counts just after the measured phase began.
///
/// # Errors
/// If a count is not zero.
fn check_counts(drive: &Drive) -> Result<(), String> {
    let own = drive.technique_counts().into_iter().find(|(_, count)| *count > 0);
    let zero = *drive.host_counts() == HostCounts::default()
        && *drive.flash_counts() == FlashCounts::default()
        && *drive.reclaim_counts() == ReclaimCounts::default()
        && (drive.lost_pages(), drive.uncorrectable_reads()) == (0, 0)
        && drive.blamed_ranges().next().is_none();
    match own {
        Some((name, count)) => Err(format!("the measured phase starts with {name} at {count}")),
        None if !zero => Err("the measured phase starts with counts above zero".into()),
        None => Ok(()),
    }
}

/// Returns a text of the drive's map, wear and counts, and of the end of the last request.
fn end(drive: &Drive, engine: Option<&Replay>) -> String {
    let map = drive.map_rows().fold(0u64, |sum, row| {
        sum.rotate_left(5).wrapping_mul(31)
            ^ u64::from(row.ppn.number()) << 20
            ^ u64::from(row.lpn.number())
    });
    let worn: u64 = drive
        .block_states()
        .map(|row| row.effective_milli)
        .fold(0, |sum, milli| sum.rotate_left(7) ^ milli);
    let counts = (
        drive.host_counts(),
        drive.flash_counts(),
        drive.reclaim_counts(),
        drive.refresh_counts(),
        drive.technique_counts(),
    );
    format!(
        "{map} {worn} {counts:?} {} {} {:?}",
        drive.oldest_age(),
        drive.lost_pages(),
        engine.map(|e| (e.last_completion(), e.metrics().read.total_ns()))
    )
}
