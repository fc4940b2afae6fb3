//! `vpass trace info`: describes trace files as text or as one JSON object.

use std::cmp::Reverse;

use serde::Serialize;
use vpass_drive::base::request::Op;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::numbers::{bytes, count, seconds};
use vpass_lab::progress::Progress;
use vpass_workload::profile::{Device, Island, Popularity, Profile};
use vpass_workload::traces::shown;
use vpass_workload::traces::{TimeUnit, TraceFile};

use super::args::InfoArgs;
use super::blocks::{BlockReads, Scale};
use super::times::Times;
use super::{Go, for_each_row, progress_over, read_options};
use crate::dialect;
use crate::out;
use crate::report;
use crate::table::{Table, wants_colour};
use vpass_report::facts;

/// Size of an address region in bytes. Regions of this size are usual in the literature on hot
/// spots.
pub(super) const REGION_BYTES: u64 = 4 << 20;
const BUSIEST_REGIONS: usize = 5;
/// Largest number of gaps between the separate regions of a device. A device thus has at most 16
/// such regions.
const MOST_GAPS: usize = 15;
/// Percentages P in the description of hot pages. For each P, the description says how many reads
/// hit the hottest P % of all pages that were read.
const HOTTEST_PERCENT: [f64; 6] = [0.1, 1.0, 5.0, 10.0, 20.0, 50.0];
/// Largest number of time steps that fit on one line of text.
const STEPS: usize = 64;
const COMMONEST_SIZES: usize = 8;
const WEEK_S: f64 = 7.0 * 86_400.0;

#[derive(Serialize)]
pub(super) struct Info {
    /// Page size of the drive. All pages of the trace are counted in this size.
    pub(super) page_bytes: u32,
    pub(super) files: Vec<FileInfo>,
}

#[derive(Serialize)]
pub(super) struct FileInfo {
    pub(super) file: String,
    pub(super) format: &'static str,
    pub(super) rows: u64,
    /// Number of lines that were skipped because they cannot be read. The field after this one has
    /// the error of the first such line.
    pub(super) bad_lines: u64,
    pub(super) first_bad_line: Option<String>,
    #[serde(flatten)]
    pub(super) times: Times,
    /// Reasons to doubt the numbers in this description, one sentence each.
    pub(super) warnings: Vec<String>,
    pub(super) span_s: f64,
    /// Number of rows that are earlier than a row before them. The field after this one has the
    /// largest difference between two such times.
    pub(super) rows_back_in_time: u64,
    pub(super) longest_step_back_s: f64,
    pub(super) reads: Requests,
    pub(super) writes: Requests,
    pub(super) trims: Requests,
    /// Most frequent request sizes, with the most frequent size first.
    pub(super) sizes: Vec<Size>,
    /// Sampling factor N: only one page in N was counted, so all page counts are estimates. Null if
    /// every page was counted.
    pub(super) pages_estimated_from_one_in: Option<u64>,
    pub(super) footprint: Footprint,
    /// Reads per page, counted only for pages with at least one read.
    pub(super) reads_per_page: Reuse,
    /// Writes per page, counted only for pages with at least one write.
    pub(super) writes_per_page: Reuse,
    pub(super) hottest: Vec<Hottest>,
    pub(super) region_bytes: u64,
    /// Address regions with the most page reads.
    pub(super) busiest_regions: Vec<Region>,
    /// Parts of the address space with requests. Between two parts of a device lies a large gap
    /// without any request. The parts are sorted by device and address.
    pub(super) separate_regions: Vec<SeparateRegion>,
    pub(super) blocks: BlockReads,
    pub(super) over_time: OverTime,
    pub(super) devices: Vec<DeviceInfo>,
}

/// Requests of one kind: reads, writes or trims.
#[derive(Serialize)]
pub(super) struct Requests {
    pub(super) rows: u64,
    pub(super) share: f64,
    pub(super) bytes: u64,
    pub(super) mean_bytes: Option<f64>,
    pub(super) p50_bytes: Option<u64>,
    pub(super) p90_bytes: Option<u64>,
    pub(super) p99_bytes: Option<u64>,
    pub(super) max_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Size {
    pub(super) bytes: u64,
    pub(super) rows: u64,
    pub(super) share: f64,
    pub(super) reads: u64,
    pub(super) writes: u64,
}

#[derive(Serialize)]
pub(super) struct Footprint {
    pub(super) pages_read: u64,
    pub(super) pages_written: u64,
    pub(super) pages_touched: u64,
    pub(super) bytes_touched: u64,
    /// Number of bytes up to the highest address of a device, summed over all devices.
    pub(super) extent_bytes: u64,
}

#[derive(Serialize)]
pub(super) struct Reuse {
    pub(super) total: u64,
    /// Number of pages that were accessed exactly once.
    pub(super) pages_once: u64,
    pub(super) mean: Option<f64>,
    pub(super) p50: Option<u64>,
    pub(super) p90: Option<u64>,
    pub(super) p99: Option<u64>,
    pub(super) max: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Hottest {
    pub(super) percent_of_pages_read: f64,
    pub(super) pages: u64,
    pub(super) share_of_page_reads: f64,
}

#[derive(Serialize)]
pub(super) struct Region {
    pub(super) device: String,
    pub(super) offset_bytes: u64,
    pub(super) page_reads: u64,
    pub(super) page_writes: u64,
}

#[derive(Serialize)]
pub(super) struct SeparateRegion {
    pub(super) device: String,
    /// Offset of the first touched page, in bytes.
    pub(super) offset_bytes: u64,
    /// Number of bytes from the start of the first touched page to the end of the last touched
    /// page.
    pub(super) span_bytes: u64,
    pub(super) touched_bytes: u64,
    pub(super) page_reads: u64,
    pub(super) page_writes: u64,
}

#[derive(Serialize)]
pub(super) struct OverTime {
    pub(super) step_s: f64,
    pub(super) page_reads: Vec<u64>,
    pub(super) page_writes: Vec<u64>,
}

#[derive(Serialize)]
pub(super) struct DeviceInfo {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) trims: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
    pub(super) pages_touched: u64,
    pub(super) extent_bytes: u64,
}

/// Reads trace files and prints their descriptions.
pub(super) fn info(args: &InfoArgs) -> Result<(), Failure> {
    let sets = load::overrides(&args.set)?;
    if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
        let what = "`vpass trace info` accepts only keys of the drive";
        return Err(Failure::usage(what).at(set.said.clone()));
    }
    let scale = Scale::new(&args.drive, &load::drive(&args.drive, &sets)?.config)?;
    let options = read_options(&args.read, false)?;
    let progress = progress_over(&args.files);
    let mut info = Info { page_bytes: scale.page_bytes, files: vec![] };
    let mut refused = None;
    for path in &args.files {
        let found = TraceFile::open(path, &options)
            .map_err(Failure::from)
            .and_then(|file| file_info(file, options.time_unit, &scale, &progress));
        match found {
            Ok(file) => info.files.push(file),
            Err(failure) if failure == Failure::interrupted() => return Err(failure),
            Err(failure) => {
                // The first error is returned after all files were read. The error of each later
                // file is printed at once.
                match &refused {
                    None => refused = Some(failure),
                    Some(_) => out::say(&format!("vpass: {}", dialect::sentence(&failure))),
                }
            }
        }
    }
    drop(progress);
    if !info.files.is_empty() {
        out::print(&if args.json { as_json::text(&info)? } else { render(info, wants_colour()) })?;
    }
    refused.map_or(Ok(()), Err)
}

/// Describes each trace file as text. If there are several files, an overview follows.
fn render(info: Info, colour: bool) -> String {
    let page_bytes = info.page_bytes;
    let mut overview =
        Table::new(["", "format", "rows", "span", "reads", "bytes read", "bytes written"]);
    let text = |mut file: FileInfo| {
        let name = file.file.clone();
        let cells = [count(file.rows), seconds(file.span_s), count(file.reads.rows)];
        let sizes = [file.reads.bytes, file.writes.bytes].map(bytes);
        overview.row([name.clone(), file.format.into()].into_iter().chain(cells).chain(sizes));
        let mut left_out = vec!["file", "first_ns", "last_ns", "warnings"];
        if file.devices.len() < 2 {
            left_out.extend(["device", "devices"]);
        }
        // A long table is cut at its end.
        file.devices.sort_by_key(|device| Reverse(device.rows));
        file.separate_regions.sort_by_key(|region| Reverse(region.page_reads + region.page_writes));
        let warnings = report::warnings(&file.warnings, colour);
        let pages = format!("  pages of {}\n", bytes(page_bytes.into()));
        let mut text = facts::heading(&name, colour) + &warnings + &pages;
        text += &facts::text(&file, &left_out, colour);
        if file.blocks.mean.reads_per_week.is_some() && file.span_s < WEEK_S {
            let span = seconds(file.span_s);
            text.extend(["  Reads per week are extrapolated from the ", &span, " of the trace.\n"]);
        }
        text
    };
    let several = info.files.len() > 1;
    let mut texts: Vec<_> = info.files.into_iter().map(text).collect();
    if several {
        texts.push(facts::heading("All files", colour) + &overview.render(colour));
    }
    texts.join("\n")
}

fn file_info(
    mut file: TraceFile,
    said: Option<TimeUnit>,
    scale: &Scale,
    progress: &dyn Progress,
) -> Result<FileInfo, Failure> {
    let mut profile = Profile::new(scale.page_bytes);
    let seen = for_each_row(&mut file, progress, |_, row| {
        profile.add(row);
        Ok(Go::On)
    })?;
    let (reads, writes) = (profile.reads(), profile.writes());
    let time = profile.timeline();
    let (step_ns, steps) = time.steps(STEPS);
    let pages_touched = profile.pages_touched();
    let warnings = dialect::all_words(&seen.doubts(&file, said))
        .into_iter()
        .chain(estimates(&profile))
        .collect();
    let name = |device: &Device| file.device_name(device.number);
    let region = |r: vpass_workload::profile::Region| Region {
        device: name(&profile.devices()[r.device]),
        offset_bytes: r.number * REGION_BYTES,
        page_reads: r.reads,
        page_writes: r.writes,
    };
    let page_bytes = u64::from(scale.page_bytes);
    let separate_region = |r: &Island| SeparateRegion {
        device: name(&profile.devices()[r.device]),
        offset_bytes: r.first * page_bytes,
        span_bytes: (r.last - r.first + 1) * page_bytes,
        touched_bytes: r.touched * page_bytes,
        page_reads: r.reads,
        page_writes: r.writes,
    };
    let regions = profile.regions(REGION_BYTES / u64::from(scale.page_bytes));
    Ok(FileInfo {
        file: shown(file.path()).into_owned(),
        format: file.format().name,
        rows: rows(&profile),
        bad_lines: seen.skipped.count,
        first_bad_line: seen.skipped.first.as_ref().map(dialect::words),
        times: Times::of(&file, said, time),
        warnings,
        span_s: time.span_ns() as f64 / 1e9,
        rows_back_in_time: time.late_rows(),
        longest_step_back_s: time.longest_step_back_ns() as f64 / 1e9,
        reads: requests(&profile, Op::Read),
        writes: requests(&profile, Op::Write),
        trims: requests(&profile, Op::Trim),
        sizes: sizes(&profile),
        pages_estimated_from_one_in: Some(profile.one_in()).filter(|one_in| *one_in > 1),
        footprint: Footprint {
            pages_read: reads.pages(),
            pages_written: writes.pages(),
            pages_touched,
            bytes_touched: pages_touched * u64::from(scale.page_bytes),
            extent_bytes: profile.devices().iter().map(|d| d.extent).sum(),
        },
        hottest: HOTTEST_PERCENT.map(|percent| hottest(&reads, percent)).into(),
        reads_per_page: reuse(&reads, profile.accesses(Op::Read)),
        writes_per_page: reuse(&writes, profile.accesses(Op::Write)),
        region_bytes: REGION_BYTES,
        busiest_regions: regions
            .into_iter()
            .filter(|r| r.reads > 0)
            .take(BUSIEST_REGIONS)
            .map(region)
            .collect(),
        separate_regions: profile.islands(MOST_GAPS).iter().map(separate_region).collect(),
        blocks: scale.weigh(&profile, name),
        over_time: OverTime {
            step_s: step_ns as f64 / 1e9,
            page_reads: steps.iter().map(|s| s.reads).collect(),
            page_writes: steps.iter().map(|s| s.writes).collect(),
        },
        devices: profile
            .devices()
            .iter()
            .map(|d| device_info(d, name(d), profile.pages_touched_of(d)))
            .collect(),
    })
}

/// Returns a warning that page counts are estimates; `None` if they are exact.
fn estimates(profile: &Profile) -> Option<String> {
    let sentence = || {
        format!(
            "the trace touches too many pages to count each page in memory, so every number of \
             pages is an estimate from a sample of 1 page in {}, accurate to about {:.2} %; the \
             busiest regions are found among the counted pages",
            profile.one_in(),
            100.0 * profile.uncertainty()
        )
    };
    (profile.one_in() > 1).then(sentence)
}

fn rows(profile: &Profile) -> u64 {
    profile.devices().iter().flat_map(|d| d.rows).sum()
}

fn requests(profile: &Profile, op: Op) -> Requests {
    let of = |what: fn(&Device) -> [u64; 3]| {
        profile.devices().iter().map(|d| what(d)[op as usize]).sum::<u64>()
    };
    let (these, bytes) = (of(|d| d.rows), of(|d| d.bytes));
    let percentile = |percent| profile.sizes().percentile(op, percent);
    Requests {
        rows: these,
        share: share(these, rows(profile)),
        bytes,
        mean_bytes: (these > 0).then(|| bytes as f64 / these as f64),
        p50_bytes: percentile(50.0),
        p90_bytes: percentile(90.0),
        p99_bytes: percentile(99.0),
        max_bytes: percentile(100.0),
    }
}

fn sizes(profile: &Profile) -> Vec<Size> {
    let rows = rows(profile);
    let size = |(bytes, [reads, writes, trims]): (u64, [u64; 3])| {
        let these = reads + writes + trims;
        Size { bytes, rows: these, share: share(these, rows), reads, writes }
    };
    let mut sizes: Vec<_> = profile.sizes().all().into_iter().map(size).collect();
    sizes.sort_by_key(|s| std::cmp::Reverse(s.rows));
    sizes.truncate(COMMONEST_SIZES);
    sizes
}

/// Summarises the accesses per page. `total` is the exact number of accesses, even if only a sample
/// of the pages is counted.
fn reuse(counts: &Popularity, total: u64) -> Reuse {
    Reuse {
        total,
        pages_once: counts.pages_with(1),
        mean: counts.mean(),
        p50: counts.percentile(50.0),
        p90: counts.percentile(90.0),
        p99: counts.percentile(99.0),
        max: counts.percentile(100.0),
    }
}

fn hottest(reads: &Popularity, percent: f64) -> Hottest {
    let (pages, these) = reads.hottest(percent);
    Hottest {
        percent_of_pages_read: percent,
        pages,
        share_of_page_reads: share(these, reads.total()),
    }
}

fn device_info(device: &Device, name: String, pages_touched: u64) -> DeviceInfo {
    let [reads, writes, trims] = device.rows;
    let [bytes_read, bytes_written, _] = device.bytes;
    DeviceInfo {
        name,
        rows: reads + writes + trims,
        reads,
        writes,
        trims,
        bytes_read,
        bytes_written,
        pages_touched,
        extent_bytes: device.extent,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
