//! Table that compares the numbers of a simulated drive with those of its data sheet. Each number
//! of the simulated drive comes from a short run, an equation, or an estimate.

use serde::Serialize;
use vpass_drive::config::DriveConfig;

use super::copy::{self, Load, RANDOM, SEQUENTIAL, SEQUENTIAL_DEPTH};
use super::{RANDOM_BYTES, endurance, link};
use crate::failure::Failure;
use crate::load::Loaded;
use crate::numbers::digits;
use crate::progress::Begin;

/// Number of requests in a run of random reads.
const READS: u32 = 20_000;
/// Length of a run of random writes: requests per die, smallest total number, and largest total
/// number. The run must be so long that garbage collection settles. On 16 dies, rates with 50,000
/// and with a million requests differ by at most 4 %.
const WRITES: (u32, u32, u32) = (3000, 50_000, 200_000);
/// Rate of SATA in 10^6 bytes per second. On faster links, hosts keep more than 32 requests
/// outstanding.
const SATA_MB_S: f64 = 600.0;

/// Difference, in percent, above which a note calls the drive better than its data sheet. Smaller
/// differences may come from rounded program times and rounded P/E cycles.
const ABOVE_PERCENT: f64 = 1.0;

/// Table with the numbers of a simulated drive and those of its data sheet.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Version of vpass.
    pub vpass: &'static str,
    /// Preset or path of the drive.
    pub drive: String,
    /// Rows of the table, one for each quantity.
    pub rows: Vec<Row>,
    /// Sentences that explain how the numbers were found, and which effects the numbers leave out.
    pub notes: Vec<String>,
}

/// Comparison of drive and data sheet in a single quantity, for example the rate of sequential
/// reads.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the quantity.
    pub quantity: String,
    /// Unit of the quantity. Empty for a ratio.
    pub unit: &'static str,
    /// Value on the data sheet. Null if the drive file does not contain this value.
    pub sheet: Option<f64>,
    /// Value of the simulated drive. Null if it cannot be estimated.
    pub drive: Option<f64>,
    /// Drive's value minus the sheet's value, in percent of the sheet's value. Null if the drive or
    /// the sheet has no value.
    pub difference_percent: Option<f64>,
    /// Source of the simulated drive's value.
    pub from: String,
}

impl Row {
    fn new(
        quantity: impl Into<String>,
        unit: &'static str,
        sheet: Option<f64>,
        drive: Option<f64>,
        from: impl Into<String>,
    ) -> Self {
        let difference_percent =
            sheet.zip(drive).map(|(sheet, drive)| 100.0 * (drive / sheet - 1.0));
        let (quantity, from) = (quantity.into(), from.into());
        Self { quantity, unit, sheet, drive, difference_percent, from }
    }

    /// Returns whether the simulated drive is clearly better than its data sheet, because the
    /// drive's value is higher. Returns false for write amplification, for which lower is better.
    fn is_above(&self) -> bool {
        let has_unit = !self.unit.is_empty();
        has_unit && self.difference_percent.is_some_and(|percent| percent > ABOVE_PERCENT)
    }
}

/// Returns the table that compares a drive with its data sheet.
///
/// # Errors
/// Returns an error if the drive cannot be simulated, or if the user interrupts the work.
pub fn table(drive: &Loaded<DriveConfig>, begin: Begin) -> Result<Beside, Failure> {
    let mut rows = sequential(drive, begin)?;
    rows.extend(random(drive, begin)?);
    rows.extend(lives(drive)?);
    let (g, page) = (&drive.config.geometry, drive.config.geometry.page_size);
    let mut notes = vec![
        "run: a short run without read reclaim on a new copy of the drive. The copy has the same \
         dies, channels and spare share, but fewer blocks. For random requests, the blocks also \
         have fewer wordlines."
            .to_owned(),
        "estimate: from the equations of `vpass life` (docs/estimate.md), with the largest error \
         that was measured."
            .to_owned(),
    ];
    if g.planes_per_die > 1 {
        notes.push(format!(
            "In vpass, a sequential stream uses only one of the {} planes of each die at a time, \
             because a die programs one plane at a time. Real drives read all planes at once, and \
             read ahead.",
            g.planes_per_die
        ));
    }
    if page.0 as f64 > RANDOM_BYTES {
        notes.push(format!(
            "In vpass, a random 4-KiB write programs a page of {page}, because the mapping unit is \
             a flash page. A drive with a mapping unit of 4 KiB programs {} times less for such a \
             write.",
            page.0 / RANDOM_BYTES as u64
        ));
    }
    notes.extend(above(&rows));
    Ok(Beside { vpass: env!("CARGO_PKG_VERSION"), drive: drive.name.clone(), rows, notes })
}

/// Returns a sentence that lists each quantity in which the drive is better than its data sheet.
/// Returns `None` if there is no such quantity.
fn above(rows: &[Row]) -> Option<String> {
    let named: Vec<String> = rows
        .iter()
        .filter(|row| row.is_above())
        .filter_map(|row| {
            Some(format!("{} by {} %", row.quantity, digits(row.difference_percent?)))
        })
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "Above the data sheet: {}. Here, the simulated drive is better than the sheet, so \
             results that depend on these numbers may be better than those of the real drive.",
            named.join("; ")
        )
    })
}

/// Returns the rows for sequential requests.
fn sequential(drive: &Loaded<DriveConfig>, begin: Begin) -> Result<Vec<Row>, Failure> {
    let sheet = &drive.config.sheet;
    let from = format!("run, {SEQUENTIAL}, depth {SEQUENTIAL_DEPTH}");
    let row = |what: &str, stated, mb_s| {
        Row::new(format!("sequential {what}"), "MB/s", stated, Some(mb_s), from.as_str())
    };
    let read = copy::sequential_read(drive, &[], begin)?;
    let written = copy::run(drive, Load::sequential(false), &[], begin)?;
    Ok(vec![
        row("read", sheet.sequential_read_mb_s, read),
        row("write", sheet.sequential_write_mb_s, copy::mb_s(written.throughput.write_mib_s)),
    ])
}

/// Returns the rows for random requests at several queue depths. Only the row with the deepest
/// queue has the data sheet's value, because vendors are assumed to use this depth.
fn random(drive: &Loaded<DriveConfig>, begin: Begin) -> Result<Vec<Row>, Failure> {
    let (sheet, link) = (&drive.config.sheet, drive.config.timing.host_mb_s);
    let deep =
        if link > 0.0 && link <= SATA_MB_S { vec![1, 32] } else { vec![1, 32, link::NVME_DEPTH] };
    let g = &drive.config.geometry;
    let writes = (WRITES.0 * g.channels * g.dies_per_channel).clamp(WRITES.1, WRITES.2);
    let mut rows = vec![];
    for (reads, depths, stated) in
        [(true, deep, sheet.random_read_iops), (false, vec![1, 32], sheet.random_write_iops)]
    {
        let last = depths.last().copied();
        for depth in depths {
            let requests = if reads { READS } else { writes };
            let load = Load { reads, random: true, depth, requests };
            let throughput = copy::run(drive, load, &[], begin)?.throughput;
            let (what, iops) = if reads {
                ("read", throughput.read_iops)
            } else {
                ("write", throughput.write_iops)
            };
            rows.push(Row::new(
                format!("random {what}, depth {depth}"),
                "requests/s",
                stated.filter(|_| Some(depth) == last),
                iops,
                format!("run, {RANDOM}"),
            ));
        }
    }
    Ok(rows)
}

/// Returns the rows for the drive's life.
fn lives(drive: &Loaded<DriveConfig>) -> Result<[Row; 3], Failure> {
    let config = &drive.config;
    let at_one = endurance::terabytes_at_one(config);
    let (random, from) = match endurance::estimated(drive)? {
        Ok(estimate) => (
            estimate.host_bytes.map(|bytes| bytes / 1e12),
            format!("estimate, within {:.0} %", 100.0 * estimate.within),
        ),
        Err(why) => (None, format!("no estimate: {why}")),
    };
    let sheet = &config.sheet;
    // If sequential writes are programmed only once, the sheet implies the write amplification of
    // random writes: the sequential write rate divided by the random write rate.
    let implied = sheet
        .sequential_write_mb_s
        .zip(sheet.random_write_iops)
        .map(|(mb_s, iops)| mb_s * 1e6 / (iops * RANDOM_BYTES));
    Ok([
        Row::new(
            "TBW, write amplification 1",
            "TB",
            None,
            Some(at_one),
            "rated P/E cycles x bytes of flash",
        ),
        Row::new("TBW, random writes of pages", "TB", sheet.tbw, random, from),
        Row::new(
            "write amplification, random",
            "",
            implied,
            random.filter(|tb| *tb > 0.0).map(|tb| at_one / tb),
            "ratio of the two rows above; sheet: sequential rate / random rate",
        ),
    ])
}
