//! Reads the statistics of a disk from two tables as they are published of collections of block
//! traces: one row a disk with totals, working sets and percentiles, and one row a window with the
//! pages read and written in it.
//!
//! ```text
//! totals    workload, {read,write}_block_req_count, {read,write}_io_request_size_sum (bytes), {read,write}_page_access_count,
//!           page_working_set_size, {read,write}_page_working_set_size (bytes), P_{read,write}_page_popularity,
//!           P_{read,write}_block_request_size (bytes), with P = 1, 5, 10, .. 100; more columns are passed over
//! windows   workload, window (from 0), end_us, read_pages_4k, write_pages_4k
//! ```
//!
//! What the columns mean was checked on the 53 disks of a collection: the pages of all windows add
//! up to the page accesses exactly, so both count every 4-KiB page that a request touches, also in
//! part. Working sets are multiples of 4,096: bytes. The popularity at P times the page accesses is
//! a whole number, up to rounding: it is the share of all accesses of this direction that one page
//! has, and pages that were never touched are not among them. `end_us` is the time of the last
//! request of the window.
//!
//! On 19 of those disks, all with misaligned writes, the most popular page is read exactly or
//! almost as often as the most popular one is written: there, it seems, a page that a write touches
//! in part was counted as read. On seven the working set of reads is even larger than all reads can
//! touch at that popularity. [`import`] repairs what contradicts itself, and says so.

use std::path::Path;

use vpass_core::base::request::SourceError;
use vpass_core::base::units::Bytes;

use super::columns::Table;
use super::imported::Imported;
use super::percentiles::usual;
use super::statistics_config::{SideConfig, StatisticsConfig, WindowsConfig};
use crate::nearest::nearest;

const PAGE_BYTES: u64 = 4096;

/// Reads a disk.
///
/// # Errors
/// A file that is no such table, a disk that is not in it (the nearest name is suggested), or
/// numbers that cannot be.
pub fn import(totals: &Path, windows: &Path, disk: &str) -> Result<Imported, SourceError> {
    let mut table = Table::open(totals)?;
    find(&mut table, disk, totals)?;
    let footprint_pages = pages(&table, "page_working_set_size")?;
    let reads = side(&table, "read")?;
    let writes = side(&table, "write")?;
    let windows_table = windows_of(windows, disk)?;
    let name = |path: &Path| {
        path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    };
    let mut config = StatisticsConfig {
        disk: disk.into(),
        source: format!("{} and {}", name(totals), name(windows)),
        page: Bytes(PAGE_BYTES),
        footprint_pages,
        windows: windows_table,
        ..StatisticsConfig::blank()
    };
    for (kind, side, pages) in [
        ("read", &reads, &config.windows.read_pages),
        ("write", &writes, &config.windows.write_pages),
    ] {
        let (all, given): (u64, u64) =
            (pages.iter().sum(), side.as_ref().map_or(0, |(_, accesses)| *accesses));
        if all != given {
            return Err(SourceError(format!(
                "{}: the windows of {disk} hold {all} pages of {kind}s, but {} counts {given} {kind} page accesses",
                windows.display(),
                totals.display()
            )));
        }
    }
    (config.reads, config.writes) = (reads.map(|s| s.0), writes.map(|s| s.0));
    let imported = Imported::repaired(config);
    imported
        .config
        .check()
        .map_err(|e| SourceError(format!("{}, disk {disk}: {e}", totals.display())))?;
    Ok(imported)
}

/// Goes to the row of a disk.
fn find(table: &mut Table, disk: &str, path: &Path) -> Result<(), SourceError> {
    let column = table.column("workload")?;
    let mut names = vec![];
    while table.next_row()? {
        if table.text(column) == disk {
            return Ok(());
        }
        names.push(table.text(column).to_owned());
    }
    let near = nearest(disk, names.iter().map(String::as_str))
        .map_or_else(String::new, |n| format!("; did you mean {n}?"));
    let (first, last) =
        (names.first().map_or("none", String::as_str), names.last().map_or("none", String::as_str));
    Err(SourceError(format!(
        "{}: there is no disk `{disk}`{near} (there are {}, from {first} to {last})",
        path.display(),
        names.len()
    )))
}

/// A column in bytes, in pages.
fn pages(table: &Table, column: &str) -> Result<u64, SourceError> {
    let column = table.column(column)?;
    let bytes = table.count(column)?;
    if bytes.is_multiple_of(PAGE_BYTES) {
        Ok(bytes / PAGE_BYTES)
    } else {
        Err(table.wrong(column, "is no multiple of 4096; whole pages are expected"))
    }
}

/// One direction of a row with its page accesses; none where there are no requests.
fn side(table: &Table, name: &str) -> Result<Option<(SideConfig, u64)>, SourceError> {
    let count = |column: &str| table.count(table.column(&format!("{name}_{column}"))?);
    let (requests, accesses) = (count("block_req_count")?, count("page_access_count")?);
    let (bytes, pages) =
        (count("io_request_size_sum")?, pages(table, &format!("{name}_page_working_set_size"))?);
    if requests == 0 && accesses == 0 {
        return Ok(None);
    }
    let percentiles = usual();
    let mut side =
        SideConfig { requests, bytes, pages, percentiles, accesses: vec![], sizes: vec![] };
    for percentile in &side.percentiles {
        let column = table.column(&format!("{percentile}_{name}_page_popularity"))?;
        let popularity = table.number(column)?;
        if popularity > 1.0 {
            return Err(table.wrong(column, "is more than 1; a share of all accesses is expected"));
        }
        side.accesses.push(((popularity * accesses as f64).round() as u64).max(1));
        let column = table.column(&format!("{percentile}_{name}_block_request_size"))?;
        side.sizes.push(table.number(column)?.round() as u64);
    }
    Ok(Some((side, accesses)))
}

/// The windows of a disk. A window without requests repeats the end of the one before; it is given
/// the end of its time.
fn windows_of(path: &Path, disk: &str) -> Result<WindowsConfig, SourceError> {
    let mut table = Table::open(path)?;
    let [name, window, end, read, written] =
        ["workload", "window", "end_us", "read_pages_4k", "write_pages_4k"]
            .map(|column| table.column(column));
    let (name, window, end, read, written) = (name?, window?, end?, read?, written?);
    let mut rows: Vec<(f64, [u64; 2])> = vec![];
    while table.next_row()? {
        if table.text(name) != disk {
            continue;
        }
        let number = table.count(window)?;
        if number != rows.len() as u64 {
            return Err(table.wrong(
                window,
                &format!("is out of order; window {} of {disk} is expected", rows.len()),
            ));
        }
        let pages = [table.count(read)?, table.count(written)?];
        let end_s = table.number(end)? / 1e6;
        if pages != [0, 0]
            && rows
                .iter()
                .rev()
                .find(|(_, pages)| *pages != [0, 0])
                .is_some_and(|(before, _)| end_s <= *before)
        {
            return Err(table.wrong(end, "is no time after the window before it"));
        }
        rows.push((end_s, pages));
    }
    if rows.is_empty() {
        return Err(SourceError(format!(
            "{}: there is no window of disk `{disk}`",
            path.display()
        )));
    }
    // A window ends with its last request, so the fullest of them show how long they are; to the
    // second.
    let length_s =
        (1..).zip(&rows).map(|(i, (end_s, _))| end_s / f64::from(i)).fold(0.0, f64::max).ceil();
    let ends = (1..)
        .zip(&rows)
        .map(|(i, (end_s, pages))| if *pages == [0, 0] { length_s * f64::from(i) } else { *end_s });
    Ok(WindowsConfig {
        ends_s: ends.collect(),
        read_pages: rows.iter().map(|(_, pages)| pages[0]).collect(),
        write_pages: rows.iter().map(|(_, pages)| pages[1]).collect(),
    })
}
