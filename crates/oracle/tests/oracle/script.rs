//! Scenes as text: the events of a drive in order, and the oracle's verdict on them.
//!
//! ```text
//! // Title of a scene. An empty line ends the scene.
//! write 5 6 at 0; 12 x read 5 at 0       host pages 5 and 6 go to flash pages 0 and 1
//! clean 12 reads                         no finding, and 12 checked reads
//! read 5 at 1
//! stamp: host read of lpn 5              one finding of this kind, with these words
//! | carries version 1 of lpn 6           further words of the finding
//! doses: 18 0 18 2                       doses of the first wordlines, in dose units
//! ```

use vpass_drive::base::request::Op;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn, WordlineInBlock};
use vpass_drive::watch::observer::{
    Event, FROM_BUFFER, NO_LPN, NO_OWNER, NO_PPN, Observer, Origin, ReadResult,
};
use vpass_oracle::OracleReport;

use crate::common::{Scene, UNIT};

/// Plays scenes, each from the same beginning. Every scene must end with a verdict.
#[track_caller]
pub(crate) fn play(begin: impl Fn() -> Scene, scenes: &str) {
    let (mut s, mut title, mut is_judged) = (begin(), "", true);
    for line in scenes.lines().chain([""]).map(str::trim) {
        let at = format!("{title}, `{line}`");
        if line.is_empty() {
            assert!(is_judged, "{at}: a scene without a verdict");
            s = begin();
        } else if let Some(words) = line.strip_prefix("// ") {
            title = words;
        } else if let Some(words) = line.strip_prefix("| ") {
            let report = s.oracle.finish();
            assert!(report.findings[0].contains(words), "{at}: {:?}", report.findings);
        } else if let Some(wanted) = line.strip_prefix("doses: ") {
            let wanted: Vec<f64> = wanted.split(' ').map(|dose| dose.parse().unwrap()).collect();
            let doses: Vec<f64> = (0..wanted.len() as u32).map(|n| dose_of(&s, n)).collect();
            assert_eq!(doses, wanted, "{at}");
            is_judged = true;
        } else if let Some((kind, words)) = line.split_once(": ") {
            judge(&s.oracle.finish(), kind, words, &at);
            is_judged = true;
        } else if let Some(numbers) = line.strip_prefix("clean") {
            is_clean(&s.oracle.finish(), numbers, &at);
            is_judged = true;
        } else {
            s = after(s, line);
            is_judged = false;
        }
    }
}

/// Returns a scene after more events.
pub(crate) fn after(mut s: Scene, steps: &str) -> Scene {
    steps.split("; ").for_each(|text| step(&mut s, text));
    s
}

/// Returns the dose of a wordline, in dose units.
fn dose_of(s: &Scene, wordline: u32) -> f64 {
    s.truth(wordline * 3).unwrap().0 as f64 / UNIT as f64
}

fn judge(report: &OracleReport, kind: &str, words: &str, at: &str) {
    let OracleReport { findings, .. } = report;
    let count = match kind {
        // The end of the run finds the same page again.
        "first limit" => u64::from(report.limit_violations > 0),
        "stamp" => report.stamp_errors,
        "limit" => report.limit_violations,
        "false loss" => report.false_losses,
        "protocol" => report.protocol_errors,
        "books" => report.books_errors,
        "request" => report.request_errors,
        _ => panic!("{at}: unknown kind"),
    };
    let is_one = findings.len() == 1 || kind == "first limit" && !findings.is_empty();
    assert!(is_one && count == 1 && report.is_bug(), "{at}: one finding is expected: {report:?}");
    assert!(findings[0].contains(words), "{at}: {findings:?}");
}

fn is_clean(report: &OracleReport, numbers: &str, at: &str) {
    assert!(!report.is_bug() && report.findings.is_empty(), "{at}: {:?}", report.findings);
    let words: Vec<&str> = numbers.split_whitespace().collect();
    for of in words.chunks(2) {
        let count = match of[1] {
            "reads" => report.reads_checked,
            "lost" => report.lost_pages,
            "failed" => report.uncorrectable_reads,
            _ => panic!("{at}: unknown number"),
        };
        assert_eq!(count, number(of[0]), "{at}: {}", of[1]);
    }
}

fn step(s: &mut Scene, text: &str) {
    if let Some((times, text)) = text.split_once(" x ") {
        return (0..number(times)).for_each(|_| step(s, text));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["write", ref lpns @ .., "at", ppn] => s.write(place(ppn), pages(lpns)),
        ["wrote", ref lpns @ ..] => pages(lpns).into_iter().for_each(|lpn| s.wrote(lpn)),
        ["part", lpn] => s.wrote_part(page(lpn)),
        ["trim", lpn] => s.oracle.take(Event::Trimmed { lpn: page(lpn) }),
        ["lose", ref lpns @ ..] => s.lose(pages(lpns)),
        ["ask", op, from, bytes] => s.ask(&[(operation(op), number(from), number(bytes))]),
        ["take", parts, "of", lpn] => s.take_in(page(lpn), number(parts)),
        ["program", lpn, "at", ppn] => s.program_host(place(ppn), page(lpn)),
        ["program", lpn, "at", ppn, "by", by, "from", "memory"] => {
            s.program(place(ppn), page(lpn), Origin::Gathered, cause(by));
        }
        ["program", lpn, "at", ppn, "by", by, "from", source] => {
            s.program(place(ppn), page(lpn), Origin::Copy(place(source)), cause(by));
        }
        ["pad", ppn] => s.pad(place(ppn)),
        ["copy", lpn, "from", from, "to", to] => s.copy(place(from), place(to), page(lpn)),
        ["gather", lpn, "from", ppn] => {
            s.oracle.take(Event::Gathered { lpn: page(lpn), from: place(ppn) });
        }
        ["read", lpn, "at", ppn] => s.read(page(lpn), place(ppn)),
        ["read", lpn, "at", ppn, "by", by] => {
            s.read_by(cause(by), page(lpn), place(ppn), ReadResult::Good);
        }
        ["fail", lpn, "at", ppn] => s.fail(page(lpn), place(ppn)),
        ["fail", lpn, "at", ppn, "by", by] => {
            s.read_by(cause(by), page(lpn), place(ppn), ReadResult::Uncorrectable);
        }
        ["fill", lpn, "at", ppn] => s.fill(page(lpn), place(ppn), ReadResult::Good),
        ["fill", lpn, "at", ppn, "in", "vain"] => {
            s.fill(page(lpn), place(ppn), ReadResult::Uncorrectable);
        }
        ["filled", lpn] => s.oracle.take(Event::Filled { lpn: page(lpn) }),
        ["erase", block] => s.erase(number(block) as u32),
        ["preload", block, ref lpns @ ..] => {
            s.oracle.take(Event::Preloaded { block: number_of(block), lpns: &pages(lpns) });
        }
        ["merge", wordline, "to", mode, "by", by] => s.oracle.take(Event::Merged {
            block: BlockId::new(0),
            wordline: WordlineInBlock::new(number(wordline) as u32),
            mode: number(mode) as u8,
            cause: cause(by),
        }),
        ["recode", ref wordline @ .., "to", mode] => s.oracle.take(Event::Recoded {
            block: BlockId::new(0),
            wordline: wordline.first().map(|n| WordlineInBlock::new(number(n) as u32)),
            mode: number(mode) as u8,
        }),
        // Merges a wordline whose first two pages still hold host data, or all wordlines.
        ["sense", "and", "merge", wordline] => {
            let first = number(wordline) as u32 * 3;
            s.read_by(Cause::Reclaim, first, first, ReadResult::Good);
            s.read_by(Cause::Reclaim, first + 1, first + 1, ReadResult::Good);
            s.read_by(Cause::Reclaim, NO_OWNER, first + 2, ReadResult::Good);
            step(s, &format!("merge {wordline} to 1 by reclaim"));
        }
        ["reprogram"] => {
            (0..4).for_each(|wordline| step(s, &format!("sense and merge {wordline}")));
            step(s, "recode to 1");
        }
        ["measure"] => s.oracle.take(Event::MeasuredPhase),
        _ => panic!("unknown step: {text}"),
    }
}

/// Returns a number. `K` stands for 1,024, and `0x` begins a number in hexadecimal digits.
fn number(text: &str) -> u64 {
    let (digits, factor) = text.strip_suffix('K').map_or((text, 1), |digits| (digits, 1024));
    let parsed = digits
        .strip_prefix("0x")
        .map_or_else(|| digits.parse(), |digits| u64::from_str_radix(digits, 16));
    parsed.unwrap_or_else(|e| panic!("{text}: {e}")) * factor
}

fn number_of(block: &str) -> BlockId {
    BlockId::new(number(block) as u32)
}

fn place(text: &str) -> Ppn {
    match text {
        "buffer" => FROM_BUFFER,
        "nowhere" => NO_PPN,
        _ => Ppn::new(number(text) as u32),
    }
}

fn page(text: &str) -> Lpn {
    match text {
        "-" => NO_LPN,
        "nobody" => NO_OWNER,
        _ => Lpn::new(number(text) as u32),
    }
}

/// Returns pages, given singly or as ranges.
fn pages(texts: &[&str]) -> Vec<Lpn> {
    let range = |text: &&str| match text.split_once("..") {
        Some((from, to)) => Lpn::range(number(from) as u32..number(to) as u32).collect(),
        None => vec![page(text)],
    };
    texts.iter().flat_map(range).collect()
}

fn operation(text: &str) -> Op {
    match text {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Trim,
        _ => panic!("unknown operation: {text}"),
    }
}

fn cause(text: &str) -> Cause {
    let found = Cause::ALL.into_iter().find(|cause| cause.name() == text);
    found.unwrap_or_else(|| panic!("unknown cause: {text}"))
}
