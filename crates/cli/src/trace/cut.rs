//! `vpass trace cut`: writes a part of a trace. The part has the rows of a time span, of a device,
//! or of a sample of the addresses.

use std::collections::HashMap;
use vpass_workload::traces::shown;

use vpass_lab::failure::Failure;
use vpass_lab::suggest;
use vpass_workload::traces::{TraceFile, TraceRow};

use super::args::CutArgs;
use super::rewrite::{self, Rewrite};
use super::{Go, for_each_row, progress_over, read_options, say_skipped};
use crate::out;

/// Reads the input trace and writes the selected rows.
pub(super) fn cut(args: &CutArgs) -> Result<(), Failure> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from.ns >= to.ns
    {
        return Err(Failure::usage("--from must come before --to"));
    }
    let target = rewrite::target(&args.out, args.form, "--as")?;
    let needs_clock = args.from.is_some() || args.to.is_some();
    let options = read_options(&args.read, needs_clock)?;
    let mut file = TraceFile::open(&args.input, &options)?;
    let mut wanted = Wanted::new(args);
    let mut output = None;
    let progress = progress_over(std::slice::from_ref(&args.input));
    let seen = for_each_row(&mut file, &progress, |file, row| {
        if output.is_none() {
            output = Some(Rewrite::begin(&args.out, target, file.clock(), &args.write)?);
        }
        let output = output.as_mut().expect("the output was begun");
        if wanted.has(row, file) {
            output.row(row, file)?;
        }
        Ok(if args.rows.is_some_and(|most| output.rows() == most.get()) {
            Go::Stop
        } else {
            Go::On
        })
    })?;
    drop(progress);
    wanted.check_device(args)?;
    say_skipped(&args.input, &seen.skipped);
    out::say_all(&seen.doubts(&file, options.time_unit));
    let mut output = output.expect("a trace without rows was refused before");
    output.count_events(&file);
    output.finish(&format!(
        "{}: no row matches the options; no trace was written",
        shown(&args.input)
    ))
}

/// Selection of the rows that `vpass trace cut` writes.
struct Wanted<'a> {
    args: &'a CutArgs,
    /// Time of the first row in the trace, in ns.
    start: Option<u64>,
    devices: HashMap<u32, Device>,
    latest: Option<(u32, bool, u64)>,
    /// Bound for the hashes of sampled regions, in units of 2^-64. A region is in the sample if its
    /// hash is below the bound. `None` selects all regions.
    sampled_below: Option<u64>,
}

/// Device that occurs in the trace.
struct Device {
    name: String,
    wanted: bool,
    /// Hash of the device's name. The hash gives each device its own sample. The sample of a device
    /// is the same in every format of the trace.
    salt: u64,
}

impl<'a> Wanted<'a> {
    fn new(args: &'a CutArgs) -> Self {
        let sampled_below =
            args.sample.filter(|share| *share < 1.0).map(|share| (share * 2f64.powi(64)) as u64);
        Self { args, start: None, devices: HashMap::new(), latest: None, sampled_below }
    }

    fn has(&mut self, row: &TraceRow, file: &TraceFile) -> bool {
        let since = row.at_ns.saturating_sub(*self.start.get_or_insert(row.at_ns));
        let (wanted, salt) = self.device(row.device, file);
        let in_time = self.args.from.is_none_or(|from| since >= from.ns)
            && self.args.to.is_none_or(|to| since < to.ns);
        wanted && in_time && self.is_sampled(row.offset, salt)
    }

    /// Returns whether a device is selected, and the salt of the device. The salt makes the hashes
    /// of the device's regions differ from those of other devices.
    fn device(&mut self, number: u32, file: &TraceFile) -> (bool, u64) {
        if let Some((latest, wanted, salt)) = self.latest
            && latest == number
        {
            return (wanted, salt);
        }
        let Device { wanted, salt, .. } = self.devices.entry(number).or_insert_with(|| {
            let name = file.device_name(number);
            let salt =
                name.bytes().fold(hash(self.args.seed), |salt, byte| hash(salt ^ u64::from(byte)));
            Device {
                wanted: self.args.only.as_ref().is_none_or(|only| file.is_device(number, only)),
                name,
                salt,
            }
        });
        self.latest = Some((number, *wanted, *salt));
        (*wanted, *salt)
    }

    /// Returns whether the region that contains this offset is in the sample. A region is in the
    /// sample if its hash is below a threshold. All requests of such a region are kept.
    ///
    /// This choice of regions is called spatial sampling (Waldspurger et al., "Efficient MRC
    /// Construction with SHARDS", FAST '15).
    fn is_sampled(&self, offset: u64, salt: u64) -> bool {
        self.sampled_below.is_none_or(|below| hash(salt ^ (offset / self.args.region.0)) < below)
    }

    /// Checks that the device which `--only` names occurs in the trace.
    fn check_device(&self, args: &CutArgs) -> Result<(), Failure> {
        let Some(only) = &args.only else { return Ok(()) };
        if self.devices.values().any(|device| device.wanted) {
            return Ok(());
        }
        let mut names: Vec<_> = self.devices.values().map(|device| device.name.as_str()).collect();
        names.sort_unstable();
        let hint = suggest::hint(only, names.iter().copied());
        names.truncate(MOST_NAMES);
        let more = if self.devices.len() > MOST_NAMES { ", .." } else { "" };
        let path = shown(&args.input);
        Err(Failure::usage(format!(
            "--only {only}: {path} has no device of this name{hint}; its devices are {}{more}",
            names.join(", ")
        )))
    }
}

/// Largest number of device names that an error message lists.
const MOST_NAMES: usize = 12;

/// Returns a hash of a number: the finaliser of splitmix64. If one input bit changes, half of the
/// output bits change on average.
fn hash(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
