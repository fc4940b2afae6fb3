//! Random drives that lose a die at a random time. They have four dies with stripes of three pages
//! and parity, or without parity, and 24 blocks of 16 pages on each die. The drive must lose
//! nothing that parity can restore, and must report every other loss. Cases in which wear decides
//! on parity have their own random numbers.

mod worn;

use vpass_drive::api::parity::{REBUILD, STRIPE};
use vpass_drive::base::failure::{Failure, Unit, When};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::drive::failing::{FailureBooks, TakenByFailures};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, RunError};
use vpass_techniques::{card, resolve, usual};

use super::{Digest, without_panic};
use crate::adversary::serve;
use crate::dice::Dice;
use crate::{Oracle, OracleReport};

/// Number of requests of a case.
const REQUESTS: u64 = 2000;
/// Bytes of a page.
const PAGE: u64 = 4096;

/// Parity techniques, each with a number of dies per channel.
const DRIVES: [(&str, u32); 7] =
    [("raid5", 2), ("raid5", 2), ("ppc", 2), ("hc", 2), ("raid5", 3), ("hc", 3), ("none", 2)];

/// Reclaim techniques, each with a page's limit.
const RECLAIM: [(&str, f64); 3] = [("block", 4000.0), ("block", 4000.0), ("none", 60.0)];

const DRIVE: &str = r#"
    geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 16, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    start = { fill = 1.0, overwrite = 0.5 }
    disturb = { model = "count", table = [{ pec = 0, limit = [4000] }] }
"#;

/// Result of a case without an error.
#[derive(Clone, Debug)]
pub struct LostDie {
    /// Reclaim technique.
    pub reclaim: &'static str,
    /// Number of requests served.
    pub requests: u64,
    /// Verdict of the oracle.
    pub report: OracleReport,
    /// Number of lost pages.
    pub lost: u64,
    /// Effects of the failures.
    pub books: FailureBooks,
    /// Reason for which the drive stopped; `None` if it did not stop.
    pub stopped: Option<String>,
}

/// Requests of a random host.
struct Host {
    dice: Dice,
    left: u64,
    pages: u64,
    writes: f64,
    longest: u64,
    arrival: Arrival,
    clock: u64,
}

impl RequestSource for Host {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..self.left.min(max as u64) {
            self.left -= 1;
            let op = match self.dice.unit() {
                share if share < self.writes => Op::Write,
                share if share > 0.97 => Op::Trim,
                _ => Op::Read,
            };
            let pages = self.dice.between(1, self.longest);
            let first = self.dice.between(0, self.pages - pages);
            // Some requests begin or end within a page.
            let (skip, short) = (self.dice.pick(&[0, 0, 0, 512]), self.dice.pick(&[0, 0, 0, 1024]));
            self.clock += self.dice.between(0, 2_000_000);
            let (offset, bytes) = (first * PAGE + skip, (pages * PAGE - skip - short) as u32);
            out.push(Request { at: self.clock, offset, bytes, op, origin: 0, hint: None });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }
}

/// A drawn case.
struct Drawn {
    /// Random numbers of the run.
    dice: Dice,
    config: DriveConfig,
    timed: bool,
    parity: &'static str,
    /// Dies per channel.
    dies: u32,
    reclaim: &'static str,
    is_published: bool,
    failures: Vec<Failure>,
}

/// A case: the number of a random drive that loses a die.
#[derive(Clone, Copy)]
pub struct LostDieCase {
    /// Number of the case.
    pub seed: u64,
    /// Whether wear decides which stripes have parity.
    pub by_wear: bool,
}

impl LostDieCase {
    /// Draws the case without a run.
    fn draw(self) -> Result<Drawn, String> {
        let (of_kind, drives): (u64, &[(&str, u32)]) = if self.by_wear {
            (0xDEAD_D1E0_0EA2_0000, &worn::DRIVES)
        } else {
            (0xDEAD_D1E0_0000_0000, &DRIVES)
        };
        let mut dice = Dice::new(self.seed ^ of_kind);
        let timed = dice.chance(0.5);
        let (parity, dies) = dice.pick(drives);
        let (mut config, is_published) = draw(&mut dice, parity, dies)?;
        if self.by_wear {
            worn::draw(&mut dice, &mut config, parity);
        }
        let reclaim: &[(&str, f64)] = if self.by_wear { worn::reclaim(parity) } else { &RECLAIM };
        let (reclaim, limit) = dice.pick(reclaim);
        config.disturb.table[0].limit = vec![limit];
        let config = resolve(config).map_err(|e| e.to_string())?;
        let below = |dice: &mut Dice, count: u32| dice.between(0, u64::from(count) - 1) as u32;
        let unit = Unit::Die(below(&mut dice, 2 * dies));
        let mut failures = vec![Failure { unit, when: Self::when(&mut dice, timed) }];
        if dice.chance(0.3) {
            let second = match dice.between(0, 2) {
                0 => Unit::Block(below(&mut dice, 2 * dies * 24)),
                1 => Unit::Page(below(&mut dice, 2 * dies * 24 * 16)),
                _ => Unit::Die(below(&mut dice, 2 * dies)),
            };
            if second != unit {
                failures.push(Failure { unit: second, when: Self::when(&mut dice, timed) });
            }
        }
        Ok(Drawn { dice, config, timed, parity, dies, reclaim, is_published, failures })
    }

    /// Returns the digest of the drawn case, without a run.
    pub fn digest(self) -> u64 {
        let digest = Digest::default().text(&format!("{}", self.by_wear));
        let drawn = self.draw().map(|drawn| {
            let Drawn { mut dice, config, timed, parity, dies, reclaim, is_published, failures } =
                drawn;
            digest.config(&config).text(&format!(
                "{timed} {parity} {dies} {reclaim} {is_published} {failures:?} {}",
                dice.next()
            ))
        });
        drawn.unwrap_or_else(|said| digest.text(&said)).value()
    }

    /// Runs the case.
    ///
    /// # Errors
    /// The errors found, as sentences.
    pub fn run(self) -> Result<LostDie, String> {
        let drawn = self.draw()?;
        let Drawn { timed, parity, dies, reclaim, is_published, failures, .. } = &drawn;
        let what = format!(
            "{parity}, {reclaim}, {} dies, {}, {failures:?}",
            2 * dies,
            if *timed { "timed" } else { "untimed" }
        );
        let done = without_panic(|| self.play(&drawn)).map_err(|e| format!("{what}: {e}"))?;
        if done.report.is_bug() {
            return Err(format!("{what}: {}", done.report.findings.join("; ")));
        }
        // Under the published rule, pages have no protection until their parity is committed. If
        // wear decides on parity, some stripes have none. The drive reports losses of both kinds.
        let TakenByFailures { unprotected, not_worn, waiting, .. } = done.books.taken;
        let excused = if *is_published { unprotected } else { not_worn + waiting };
        if *parity != "none" && *reclaim == "block" && failures.len() == 1 && done.lost > excused {
            return Err(format!("{what}: {} pages were lost with one die", done.lost));
        }
        Ok(done)
    }

    fn when(dice: &mut Dice, timed: bool) -> When {
        if timed && dice.chance(0.3) {
            When::At(dice.between(0, REQUESTS * 1_000_000))
        } else {
            When::Request(dice.between(0, REQUESTS))
        }
    }

    fn play(
        self,
        &Drawn { ref dice, ref config, timed, parity, reclaim, ref failures, .. }: &Drawn,
    ) -> Result<LostDie, String> {
        let mut dice = dice.clone();
        let techniques =
            Techniques { reclaim: card(reclaim), parity: card(parity), seed: self.seed, ..usual() };
        let drive = Drive::new(config.clone(), &techniques, timed);
        let mut drive = drive.map_err(|e| e.to_string())?;
        let mut oracle = Oracle::new(drive.geometry(), drive.config());
        oracle.expect_refresh(drive.config(), techniques.refresh.name, self.seed, timed);
        drive.observe(Box::new(oracle));
        drive.precondition(dice.next());
        drive.begin_measurement();
        drive.expect_failures(failures);
        let arrival = if dice.chance(0.5) {
            Arrival::Open
        } else {
            Arrival::Closed { depth: dice.pick(&[1, 4, 32]) }
        };
        let mut host = Host {
            left: REQUESTS,
            pages: u64::from(drive.geometry().host_pages),
            writes: dice.pick(if self.by_wear { &worn::WRITES } else { &[0.0, 0.2, 0.6] }),
            longest: dice.pick(&[1, 3, 8]),
            arrival,
            dice: Dice::new(dice.next()),
            clock: 0,
        };
        let mut engine = timed.then(|| Replay::new(&drive));
        let stopped = match serve(&mut drive, engine.as_mut(), &mut host, &mut |_, _| true) {
            Ok(_) => None,
            Err(RunError::Stopped(why)) => Some(why),
            Err(other) => return Err(format!("{other:?}")),
        };
        let books = drive.failure_books().unwrap_or_default();
        if stopped.is_none() {
            drive.report_unread_losses();
        }
        let oracle = drive.end_observation_of::<Oracle>().expect("the oracle watched");
        let report = if stopped.is_none() { oracle.conclude(&drive) } else { oracle.report() };
        let (requests, lost) = (REQUESTS - host.left, drive.lost_pages());
        Ok(LostDie { reclaim, requests, report, lost, books, stopped })
    }
}

/// Draws the drive of a case. The second value tells whether its technique keeps to the published
/// rule.
fn draw(dice: &mut Dice, parity: &str, dies: u32) -> Result<(DriveConfig, bool), String> {
    let mut config: DriveConfig = toml::from_str(DRIVE).map_err(|e| e.to_string())?;
    // With three dies per channel, stripes may use the spare dies.
    config.geometry.dies_per_channel = dies;
    config.drive.spare = Some(if (parity, dies) == ("none", 2) || dies == 3 { 0.55 } else { 0.45 });
    // Techniques that keep a stripe together need a stripe in half of the buffer.
    let buffers: &[u64] =
        if matches!(parity, "hc" | "da-raid5") { &[6, 8, 64] } else { &[0, 8, 64] };
    config.drive.write_buffer.0 = dice.pick(buffers) * PAGE;
    config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
    config.parity.params.set(None, REBUILD.key, REBUILD.number(dice.pick(REBUILD.draw)));
    let (pages, is_published) =
        (dice.between(1, 24).cast_signed(), dice.chance(0.2) && parity == "hc");
    if matches!(parity, "ppc" | "hc") {
        config.parity.params.set(Some(parity), "pages", Number::Whole(pages));
    }
    if is_published {
        config.parity.params.set(Some(parity), "published", Number::Whole(1));
        config.parity.params.set(Some(parity), "n_update", Number::Whole(1));
    }
    Ok((config, is_published))
}

/// Returns one or two failures of a drive during this number of requests.
pub fn failures(seed: u64, geometry: &Geometry, requests: u64) -> Vec<Failure> {
    let mut dice = Dice::new(seed ^ 0xFA11_ED00_0000_0000);
    let mut failures: Vec<Failure> = vec![];
    for _ in 0..dice.pick(&[1, 1, 2]) {
        let (dies, blocks) = (u64::from(geometry.dies()), u64::from(geometry.blocks));
        let planes = dies * u64::from(geometry.planes_per_die);
        let below = |dice: &mut Dice, count: u64| dice.between(0, count - 1) as u32;
        let unit = match dice.between(0, 3) {
            0 => Unit::Die(below(&mut dice, dies)),
            1 => Unit::Plane(below(&mut dice, planes)),
            2 => Unit::Block(below(&mut dice, blocks)),
            _ => Unit::Page(below(&mut dice, u64::from(geometry.raw_pages()))),
        };
        let when = When::Request(dice.between(0, requests));
        if failures.iter().all(|failure| failure.unit != unit) {
            failures.push(Failure { unit, when });
        }
    }
    failures
}
