//! Stored random drives, called cases: configuration, techniques, failures and requests as plain
//! data. A case depends on no random number of the code that drew it. Its results have digests in
//! a text file, so a change that moves a result is seen.

mod digest;
mod draw;
mod play;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;
use vpass_drive::hints::HintRange;
use vpass_techniques::card;

use self::digest::Digest;
pub(crate) use self::draw::{DrawArgs, draw};
use self::play::{PARTS, Played, play};

/// All cases, a JSON object a line, compressed with zstd.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/cases.jsonl.zst");
/// Digests of the results, a line for each case: its number, and a word for each of [`PARTS`].
const DIGESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/digests.txt");
/// Step of `make test` through the cases.
const EVERY: usize = 10;
/// Operation of a row for a flush. The other operations are those of [`OPS`].
const FLUSH: u8 = 3;
const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// Gear of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Gear {
    Timed,
    Untimed,
    Fluid,
}

/// Equal requests, one after another, as numbers: operation; first page, less that of the row
/// before; first byte within this page; bytes; time in ns before each request; number of requests;
/// hint, from 1 on, or 0 without a hint.
type Row = (u8, i64, u32, u32, u64, u32, u8);

/// Hint of a range: first byte, bytes, access latency, rank.
type Range = (u64, u64, String, u32);

/// Request of a host.
enum Step {
    Request(Request),
    /// Flush of the write buffer. Only the timed gear has flushes.
    Flush,
}

/// Stored random drive.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    reclaim: String,
    gc: String,
    refresh: String,
    parity: String,
    /// Seed of the techniques, of the start-up state and of the fluid gear.
    seed: u64,
    gear: Gear,
    /// Whether the start-up state is computed, as for large drives.
    computed: bool,
    /// Number of outstanding requests in a closed loop; 0 for requests with times of their own.
    depth: u32,
    /// Hints of the host; `None` without hints.
    hints: Option<Vec<Range>>,
    /// Failures, such as `die:1@r900`.
    failures: Vec<String>,
    /// Number of rows of the warm-up. The other rows are the measured phase.
    warm_up: usize,
    rows: Vec<Row>,
    /// Drive file, without parameters of techniques that the case does not use.
    drive: String,
}

impl Case {
    /// Reads all cases.
    fn all() -> Vec<Self> {
        let packed = fs::File::open(CASES).expect("the cases are in the repository");
        let text = zstd::decode_all(packed).expect("zstd");
        let lines = std::str::from_utf8(&text).expect("UTF-8").lines();
        lines.map(|line| serde_json::from_str(line).expect("a case")).collect()
    }

    /// Returns the resolved drive, with the hints of the host.
    fn config(&self) -> Result<DriveConfig, String> {
        let config: DriveConfig = toml::from_str(&self.drive).map_err(|e| e.to_string())?;
        let mut config = config.resolve().map_err(|e| e.to_string())?;
        let range = |(offset, bytes, latency, rank): &Range| {
            Ok(HintRange {
                offset: Bytes(*offset),
                bytes: Bytes(*bytes),
                access_latency: AccessLatency::parse(latency)?,
                rank: *rank,
            })
        };
        let ranges = |ranges: &Vec<Range>| ranges.iter().map(range).collect::<Result<_, String>>();
        config.hints.said = self.hints.as_ref().map(ranges).transpose()?;
        Ok(config)
    }

    fn techniques(&self) -> Techniques {
        Techniques {
            reclaim: card(&self.reclaim),
            gc: card(&self.gc),
            refresh: card(&self.refresh),
            parity: card(&self.parity),
            seed: self.seed,
        }
    }

    /// Returns the requests of the warm-up, and those of the measured phase. The time of both
    /// begins at 0.
    fn steps(&self, page_bytes: u64) -> [Vec<Step>; 2] {
        let mut page = 0;
        let (before, measured) = self.rows.split_at(self.warm_up);
        [before, measured].map(|rows| {
            let (mut at, mut steps) = (0, vec![]);
            for &(op, further, skip, bytes, gap, times, hint) in rows {
                page += further;
                for _ in 0..times {
                    at += gap;
                    let offset = page.unsigned_abs() * page_bytes + u64::from(skip);
                    let hint = AccessLatency::ALL.get(usize::from(hint).wrapping_sub(1)).copied();
                    let request = |op| Request { at, offset, bytes, op, origin: 0, hint };
                    let op = OPS.get(usize::from(op)).copied();
                    steps.push(op.map_or(Step::Flush, |op| Step::Request(request(op))));
                }
            }
            steps
        })
    }

    /// Returns the number of measured requests.
    fn requests(&self) -> u64 {
        self.rows[self.warm_up..].iter().map(|row| u64::from(row.5)).sum()
    }

    /// Returns all that the case has, for the table of coverage.
    fn features(&self) -> Result<Vec<String>, String> {
        let (config, ops) = (self.config()?, |op| self.rows.iter().any(|row| row.0 == op));
        let page = config.geometry.page_size.0;
        let is_part = |row: &Row| row.0 == 1 && !u64::from(row.3).is_multiple_of(page);
        let conditions = [
            ("write buffer 0", config.drive.write_buffer.0 == 0),
            ("writes of parts of pages", self.rows.iter().any(is_part)),
            ("trims", ops(2)),
            ("flushes", ops(FLUSH)),
            ("closed loop", self.depth > 0),
            ("warm-up", self.warm_up > 0),
            ("computed start", self.computed),
            ("hints of ranges", self.hints.as_ref().is_some_and(|hints| !hints.is_empty())),
            ("hints of requests", self.rows.iter().any(|row| row.6 > 0)),
            ("retries", config.ecc.levels() > 1),
            ("reads that begin at the last level", config.ecc.start_from_last),
            ("drawn retries", config.error.noise),
            ("static levelling", config.wear.static_gap > 0),
            ("background GC", config.gc.background > 0.0),
            ("ages", config.start.age.0 > 0),
        ];
        let failures = self
            .failures
            .iter()
            .map(|text| format!("failure of a {}", text.split(':').next().unwrap_or("")));
        let named = [
            format!("reclaim {}", self.reclaim),
            format!("gc {}", self.gc),
            format!("refresh {}", self.refresh),
            format!("parity {}", self.parity),
            format!("gear {:?}", self.gear),
            format!("errors {:?}", config.error.model),
            format!("disturb {:?}", config.disturb.model),
            format!("schedule {}", config.reclaim.schedule),
        ];
        let conditions = conditions.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).into());
        Ok(named.into_iter().chain(conditions).chain(failures).collect())
    }
}

/// Outcome of a case, or why it cannot be played.
type Outcome = Result<Played, String>;

/// Plays a case. A panic of the drive is an outcome, too.
fn outcome(case: &Case, is_logged: bool) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| play(case, is_logged)))
        .unwrap_or_else(|_| Err("the drive panicked; its message is above".into()))
}

/// Plays every nth case.
fn outcomes(every: usize) -> Vec<(usize, Outcome)> {
    let cases: Vec<_> = Case::all().into_iter().enumerate().step_by(every).collect();
    cases.into_par_iter().map(|(n, case)| (n, outcome(&case, false))).collect()
}

/// Returns the line of a case in the file of digests. If the case cannot be played, the line tells
/// why.
fn line(number: usize, outcome: &Outcome) -> String {
    let words = match outcome {
        Ok(played) => played.parts.each_ref().map(|part| format!("{:08x}", part.word())).join(" "),
        Err(why) => why.replace('\n', " "),
    };
    format!("{number:04} {words}")
}

/// Returns a sentence for each outcome that differs from the recorded digests.
fn differences(outcomes: &[(usize, Outcome)]) -> Vec<String> {
    let record = fs::read_to_string(DIGESTS).unwrap_or_default();
    let recorded: Vec<&str> = record.lines().collect();
    let of = |(n, outcome): &(usize, Outcome)| {
        let (old, now) = (recorded.get(*n).copied().unwrap_or_default(), line(*n, outcome));
        let differs = |part: usize| old.split(' ').nth(part + 1) != now.split(' ').nth(part + 1);
        let parts: Vec<&str> =
            PARTS.into_iter().enumerate().filter_map(|(n, of)| differs(n).then_some(of)).collect();
        let what = outcome.as_ref().err().cloned().unwrap_or_else(|| parts.join(", "));
        (old != now).then(|| format!("case {n}: {what}"))
    };
    outcomes.iter().filter_map(of).collect()
}

/// Options of `vpass-conform play`.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct PlayArgs {
    /// Number of a case: its map, counts and completions are printed. By default, all cases are
    /// compared with their digests.
    #[arg(long)]
    case: Option<usize>,
    /// Print the events of the case instead.
    #[arg(long, requires = "case")]
    events: bool,
    /// Print the drive file and the requests of the case instead.
    #[arg(long, requires = "case", conflicts_with = "events")]
    input: bool,
    /// Write the digests of all cases.
    #[arg(long, conflicts_with = "case")]
    record: bool,
    /// Print a table of what the cases cover.
    #[arg(long, conflicts_with_all = ["case", "record"])]
    coverage: bool,
}

/// Plays stored cases. Returns what to print, and an exit code: 1 if a result has changed.
pub(crate) fn run(args: &PlayArgs) -> Result<(String, u8), String> {
    if let Some(number) = args.case {
        let cases = Case::all();
        let case = cases.get(number).ok_or(format!("there are {} cases", cases.len()))?;
        if args.input {
            let Case { drive, rows, .. } = case;
            let bare = Case { drive: String::new(), rows: vec![], ..case.clone() };
            let rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            let bare = serde_json::to_string(&bare).map_err(|e| e.to_string())?;
            return Ok((format!("{bare}\n{drive}\n{}", rows.join("\n")), 0));
        }
        let parts = play(case, true)?.parts;
        let chosen = if args.events { &parts[3..] } else { &parts[..3] };
        return Ok((chosen.iter().map(Digest::log).collect(), 0));
    }
    let outcomes = outcomes(1);
    if args.coverage {
        return Ok((table(&coverage(&outcomes)?), 0));
    }
    let differences = differences(&outcomes);
    let summary = format!("{} of {} cases differ", differences.len(), outcomes.len());
    let text = [differences.as_slice(), &[summary]].concat().join("\n");
    if args.record {
        let lines: Vec<String> = outcomes.iter().map(|(n, of)| line(*n, of) + "\n").collect();
        fs::write(DIGESTS, lines.concat()).map_err(|e| format!("{DIGESTS}: {e}"))?;
        return Ok((text, 0));
    }
    Ok((text, u8::from(!differences.is_empty())))
}

/// Returns the number of cases with each feature and with each kind of event: of all, and of those
/// that `make test` plays.
fn coverage(outcomes: &[(usize, Outcome)]) -> Result<BTreeMap<String, [u32; 2]>, String> {
    let mut table = BTreeMap::<String, [u32; 2]>::new();
    for ((number, outcome), case) in outcomes.iter().zip(Case::all()) {
        let played = outcome.as_ref().map_err(|why| format!("case {number}: {why}"))?;
        let events = played.kinds.iter().map(|words| format!("event {}", words.join(" ")));
        let mut names: Vec<String> = case.features()?.into_iter().chain(events).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let [all, part] = table.entry(name).or_default();
            (*all, *part) = (*all + 1, *part + u32::from(number.is_multiple_of(EVERY)));
        }
    }
    Ok(table)
}

fn table(coverage: &BTreeMap<String, [u32; 2]>) -> String {
    let rows = coverage.iter().map(|(name, [all, part])| format!("{name:<44}{all:>6}{part:>6}"));
    let head = format!("{:<44}{:>6}{:>6}", "cases with", "all", "test");
    [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
