//! Collects the values of a section of a fio job file. Each line is parsed and checked by itself.
//! If an option is given twice, the last line counts. A section starts with the values of the
//! `[global]` sections above it.

use std::collections::BTreeMap;

use vpass_drive::base::request::SourceError;

use super::grammar::{Assignment, SourceLine};
use super::options::{self, Role};
use super::sizes::Blocks;
use super::skew::Distribution;
use super::values::{self, Amount, KbBase, PerOp};
use crate::synthetic::MAX_QUEUE_DEPTH;

use Setter::{Flag, Value};

/// Directions of a fio job's requests: reads, writes, trims or a mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ways {
    #[default]
    Read,
    Write,
    Trim,
    /// Mix of reads and writes.
    Mixed,
}

/// Value of the option `rw`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Value of the option `rw`, copied from the job file.
    pub(super) text: String,
    pub(super) ways: Ways,
    pub(super) random: bool,
    /// Number of consecutive requests for each random address, such as 8 in `randread:8`. The first
    /// of these requests goes to the random address, and the others follow sequentially.
    pub(super) every: u32,
    /// Bytes skipped between two requests, such as 4 KiB in `read:4k`. With a negative value,
    /// addresses run backwards.
    pub(super) gap: i64,
}

/// Files and region of a fio job, before the size of the drive is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Target {
    /// Names of the job's files. If there are no names, each clone has `files_per_clone` files of
    /// its own.
    pub(super) files: Vec<String>,
    pub(super) files_per_clone: u32,
    pub(super) directory: String,
    pub(super) name_format: String,
    pub(super) size: Option<Amount>,
    pub(super) file_size: Option<u64>,
    pub(super) offset: Amount,
    pub(super) offset_increment: Amount,
    pub(super) offset_align: u64,
}

/// Values of the options in one section of a job file.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option that is a flag")]
pub(super) struct Draft {
    pub(super) base: KbBase,
    pub(super) label: Option<String>,
    pub(super) pattern: Pattern,
    pub(super) read_percent: u32,
    pub(super) blocks: PerOp<Option<Blocks>>,
    /// Sizes from the options `bsrange` and `bssplit`, which take precedence over `bs`.
    pub(super) mixed_blocks: PerOp<Option<Blocks>>,
    pub(super) align: PerOp<Option<u64>>,
    pub(super) target: Target,
    pub(super) io_size: Option<Amount>,
    pub(super) number_ios: Option<u64>,
    pub(super) loops: u32,
    pub(super) clones: u32,
    pub(super) open_files: Option<u32>,
    /// Distribution of random addresses; `None` if uniform.
    pub(super) distribution: Option<Distribution>,
    pub(super) map: bool,
    pub(super) engine: String,
    pub(super) depth: u32,
    pub(super) rate: PerOp<Option<u64>>,
    pub(super) rate_iops: PerOp<Option<u64>>,
    pub(super) poisson: bool,
    pub(super) runtime_ns: u64,
    pub(super) ramp_ns: u64,
    pub(super) time_based: bool,
    pub(super) start_ns: u64,
    pub(super) stonewall: bool,
    pub(super) verify: bool,
    /// For each option, the last line of the job file that sets the option.
    places: BTreeMap<&'static str, SourceLine>,
}

/// Block size that fio uses if `bs` is not given, in bytes.
pub(super) const BLOCK: u64 = 4096;
/// Largest number of jobs that fio starts (`REAL_MAX_JOBS`).
pub(super) const MOST_JOBS: u32 = 4096;
/// Largest count that fio reads.
const MOST: u32 = u32::MAX;
const SECOND_NS: u64 = 1_000_000_000;

/// Values that fio uses for options that are not given. Other options are 0, empty or off. Without
/// `norandommap`, a job has a random map.
const DEFAULTS: [(&str, &str); 9] = [
    ("rw", "read"),
    ("rwmixread", "50"),
    ("filename_format", "$jobname.$jobnum.$filenum"),
    ("nrfiles", "1"),
    ("loops", "1"),
    ("numjobs", "1"),
    ("norandommap", "0"),
    ("ioengine", "psync"),
    ("iodepth", "1"),
];

impl Draft {
    /// Returns the values that fio uses for options that are not given.
    pub(super) fn of_fio() -> Self {
        let mut draft = Self::default();
        for (name, value) in DEFAULTS {
            let option = USED.iter().find(|(known, ..)| *known == name);
            let (_, _, setter) = option.expect("each of these options is used");
            setter.set(&mut draft, Some(value)).expect("fio's own value is valid");
        }
        draft
    }

    /// Reads the lines of a section. The option `kb_base` is read first, because it defines the
    /// units of all other values. Options that do not affect a simulated drive are added to
    /// `left_out`. Options that ask for safe writes are added to `safe`.
    ///
    /// # Errors
    /// Returns an error that quotes the first invalid line.
    pub(super) fn take(
        &mut self,
        lines: &[Assignment],
        left_out: &mut Vec<String>,
        safe: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        let is_base = |line: &&Assignment| line.name == "kb_base";
        for line in lines.iter().filter(is_base).chain(lines.iter().filter(|l| !is_base(l))) {
            match options::role(&line.name, line.value.as_deref()) {
                Some(Role::Used(name, setter)) => {
                    let taken = setter.set(self, line.value.as_deref());
                    taken.map_err(|what| {
                        line.place.complain(format_args!("{}: {what}", line.name))
                    })?;
                    self.places.insert(name, line.place.clone());
                    if name == "ioengine" {
                        left_out.push(line.name.clone());
                    }
                }
                Some(Role::Unsupported(why)) => {
                    return Err(line
                        .place
                        .complain(format_args!("{} is not supported: {why}", line.name)));
                }
                Some(Role::Safe) => safe.push(line.name.clone()),
                Some(Role::NotApplicable) => left_out.push(line.name.clone()),
                None => return Err(unknown(line)),
            }
        }
        Ok(())
    }

    /// Returns the last line of the job file that sets the option.
    pub(super) fn place(&self, option: &str) -> Option<&SourceLine> {
        self.places.get(option)
    }
}

/// Function that stores the value of an option.
#[derive(Clone, Copy)]
pub(super) enum Setter {
    /// Stores a flag. An option without a value sets the flag.
    Flag(fn(&mut Draft, bool)),
    Value(fn(&mut Draft, &str) -> Result<(), String>),
}

impl Setter {
    fn set(self, draft: &mut Draft, value: Option<&str>) -> Result<(), String> {
        match self {
            Self::Flag(set) => values::flag(value).map(|on| set(draft, on)),
            Self::Value(set) => {
                let value = value.filter(|v| !v.is_empty());
                set(draft, value.ok_or("the option has no value; name=value is expected")?)
            }
        }
    }
}

/// Options of fio that describe the workload, each with its alternative name, which may be empty.
#[rustfmt::skip]
pub(super) const USED: [(&str, &str, Setter); 37] = [
    ("name", "", Value(|d, v| put(&mut d.label, Ok(Some(v.into()))))),
    ("description", "", Value(|_, _| Ok(()))),
    ("kb_base", "", Value(|d, v| put(&mut d.base, kb_base(v)))),
    ("rw", "readwrite", Value(|d, v| put(&mut d.pattern, pattern(v, d.base)))),
    ("rwmixread", "", Value(|d, v| put(&mut d.read_percent, percent(v)))),
    ("rwmixwrite", "", Value(|d, v| put(&mut d.read_percent, percent(v).map(|p| 100 - p)))),
    ("bs", "blocksize", Value(|d, v| put(&mut d.blocks,
        each(v, Some(Blocks::One(BLOCK)), |v| Blocks::one(v, d.base).map(Some))))),
    ("bsrange", "blocksize_range", Value(|d, v| put(&mut d.mixed_blocks,
        each(v, None, |v| Blocks::range(v, d.base).map(Some))))),
    ("bssplit", "", Value(|d, v| put(&mut d.mixed_blocks,
        each(v, None, |v| Blocks::split(v, d.base).map(Some))))),
    ("blockalign", "ba", Value(|d, v| put(&mut d.align, each_number(v, d.base)))),
    ("size", "", Value(|d, v| put(&mut d.target.size, some_amount(v, d.base)))),
    ("io_size", "io_limit", Value(|d, v| put(&mut d.io_size, some_amount(v, d.base)))),
    ("filesize", "", Value(|d, v| put(&mut d.target.file_size,
        number(v, d.base).map_err(|e| format!("{e}; a range of sizes is not supported"))))),
    ("offset", "fileoffset", Value(|d, v| put(&mut d.target.offset, values::amount(v, d.base)))),
    ("offset_increment", "", Value(|d, v| put(&mut d.target.offset_increment,
        values::amount(v, d.base)))),
    ("offset_align", "", Value(|d, v| put(&mut d.target.offset_align, values::bytes(v, d.base)))),
    ("number_ios", "", Value(|d, v| put(&mut d.number_ios, number(v, d.base)))),
    ("loops", "", Value(|d, v| put(&mut d.loops, d.base.count(v, 0, MOST).map(|n| n.max(1))))),
    ("numjobs", "", Value(|d, v| put(&mut d.clones, d.base.count(v, 1, MOST_JOBS)))),
    ("filename", "", Value(|d, v| put(&mut d.target.files, file_names(v)))),
    ("directory", "", Value(|d, v| put(&mut d.target.directory,
        Ok(v.split(':').next().unwrap_or_default().into())))),
    ("filename_format", "", Value(|d, v| put(&mut d.target.name_format, Ok(v.into())))),
    ("nrfiles", "nr_files", Value(|d, v| put(&mut d.target.files_per_clone,
        d.base.count(v, 1, MOST_JOBS)))),
    ("openfiles", "", Value(|d, v| put(&mut d.open_files,
        d.base.count(v, 0, MOST).map(|n| Some(n).filter(|n| *n > 0))))),
    ("random_distribution", "", Value(|d, v| put(&mut d.distribution, Distribution::read(v)))),
    ("norandommap", "", Flag(|d, on| d.map = !on)),
    ("ioengine", "", Value(|d, v| put(&mut d.engine, engine(v)))),
    ("iodepth", "", Value(|d, v| put(&mut d.depth, d.base.count(v, 1, MAX_QUEUE_DEPTH)))),
    ("rate", "", Value(|d, v| put(&mut d.rate, each_number(v, d.base)))),
    ("rate_iops", "", Value(|d, v| put(&mut d.rate_iops, each_number(v, d.base)))),
    ("rate_process", "", Value(|d, v| put(&mut d.poisson,
        one_of(v, &["linear", "poisson"]).map(|word| word == 1)))),
    ("runtime", "timeout", Value(|d, v| put(&mut d.runtime_ns, values::time_ns(v, SECOND_NS)))),
    ("ramp_time", "", Value(|d, v| put(&mut d.ramp_ns, values::time_ns(v, SECOND_NS)))),
    ("time_based", "", Flag(|d, on| d.time_based = on)),
    ("startdelay", "", Value(|d, v| put(&mut d.start_ns, values::time_ns(v, SECOND_NS)))),
    ("stonewall", "wait_for_previous", Flag(|d, on| d.stonewall = on)),
    ("verify", "", Value(|d, v| put(&mut d.verify, Ok(v != "0")))),
];

/// Stores a value that was read without an error.
fn put<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

/// Parses a number. 0 means that the option is not given.
fn number(value: &str, base: KbBase) -> Result<Option<u64>, String> {
    values::bytes(value, base).map(|n| Some(n).filter(|n| *n > 0))
}

fn each_number(value: &str, base: KbBase) -> Result<PerOp<Option<u64>>, String> {
    each(value, None, |v| number(v, base))
}

fn some_amount(value: &str, base: KbBase) -> Result<Option<Amount>, String> {
    Ok(Some(values::amount(value, base)?).filter(|a| *a != Amount::Bytes(0)))
}

fn unknown(line: &Assignment) -> SourceError {
    let hint = options::hint(&line.name);
    line.place.complain(format_args!(
        "fio 3.33 has no option {}{hint}",
        crate::traces::quote(line.name.as_bytes())
    ))
}

/// Parses a value for each direction: reads, writes and trims. Directions without a value get
/// `missing`.
fn each<T: Clone>(
    value: &str,
    missing: T,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<PerOp<T>, String> {
    let [r, w, t] = values::per_op(value)?.map(|v| v.map_or_else(|| Ok(missing.clone()), &read));
    Ok([r?, w?, t?])
}

fn percent(value: &str) -> Result<u32, String> {
    value
        .trim_end_matches('%')
        .parse()
        .ok()
        .filter(|p| *p <= 100)
        .ok_or_else(|| "a percentage from 0 to 100 is expected".into())
}

/// Returns the index of a value in a list of allowed values.
fn one_of(value: &str, words: &[&str]) -> Result<usize, String> {
    words
        .iter()
        .position(|w| *w == value)
        .ok_or_else(|| format!("one of {} is expected{}", words.join(", "), hint(value, words)))
}

fn hint(value: &str, words: &[&str]) -> String {
    crate::nearest::nearest(value, words.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

fn kb_base(value: &str) -> Result<KbBase, String> {
    match value {
        "1024" => Ok(KbBase::Binary),
        "1000" => Ok(KbBase::Standard),
        _ => Err("1024 or 1000 is expected".into()),
    }
}

/// Allowed values of `rw`. Each value has its directions, and a flag that is true if addresses are
/// random.
const PATTERNS: [(&str, Ways, bool); 9] = [
    ("read", Ways::Read, false),
    ("write", Ways::Write, false),
    ("trim", Ways::Trim, false),
    ("randread", Ways::Read, true),
    ("randwrite", Ways::Write, true),
    ("randtrim", Ways::Trim, true),
    ("rw", Ways::Mixed, false),
    ("readwrite", Ways::Mixed, false),
    ("randrw", Ways::Mixed, true),
];

fn pattern(value: &str, base: KbBase) -> Result<Pattern, String> {
    let (word, postfix) =
        value.split_once(':').map_or((value, None), |(word, postfix)| (word, Some(postfix)));
    if word.ends_with("trimwrite") {
        return Err(format!(
            "{word} is not supported; write a job that trims and a job that writes"
        ));
    }
    let words = PATTERNS.map(|(word, ..)| word);
    let (_, ways, random) = PATTERNS[one_of(word, &words)?];
    let mut pattern = Pattern { text: value.into(), ways, random, every: 1, gap: 0 };
    match postfix {
        None => {}
        Some(every) if random => {
            pattern.every = base.count(every, 1, MOST)?;
        }
        Some(gap) => {
            let (sign, digits) = gap.strip_prefix('-').map_or((1, gap), |digits| (-1, digits));
            pattern.gap = sign * values::bytes(digits, base)?.cast_signed();
        }
    }
    Ok(pattern)
}

fn engine(value: &str) -> Result<String, String> {
    if options::NO_DRIVE.contains(&value) {
        return Err(format!(
            "the engine {value} sends no reads or writes to a drive; leave the job out"
        ));
    }
    Ok(value.into())
}

/// Splits a list of file names at colons. In a name, `\:` stands for a colon.
fn file_names(value: &str) -> Result<Vec<String>, String> {
    let value = value.replace("\\:", "\0");
    let names: Vec<String> = value
        .split(':')
        .map(|name| name.trim().replace('\0', ":"))
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        return Err("a name is expected, or several names separated by colons".into());
    }
    if names.iter().any(|name| name == "-") {
        return Err("standard input and output are not drives; name a file or a device".into());
    }
    Ok(names)
}
