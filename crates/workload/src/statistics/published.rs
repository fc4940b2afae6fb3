//! Reads the statistics of a disk from two tables, in the form published for collections of block
//! traces.
//!
//! The first table has one row per disk, with totals, working sets and percentiles. The second
//! table has one row per window of time, with the number of pages read and the number of pages
//! written in the window.
//!
//! ```text
//! totals    workload, {read,write}_block_req_count,
//!           {read,write}_io_request_size_sum (bytes), {read,write}_page_access_count,
//!           page_working_set_size, {read,write}_page_working_set_size (bytes),
//!           P_{read,write}_page_popularity, P_{read,write}_block_request_size (bytes),
//!           with P = 1, 5, 10, .. 100; other columns are ignored
//! windows   workload, window (from 0), end_us, read_pages_4k, write_pages_4k
//! ```
//!
//! The meaning of the columns was checked with the 53 disks of one collection:
//! - The numbers of pages in all windows add up exactly to the number of page accesses. A page of 4
//!   KiB that a request touches only in part also counts as a page.
//! - The numbers for working sets are multiples of 4,096, so these numbers are in bytes.
//! - The product of a popularity and the number of page accesses is a whole number, up to rounding.
//!   A popularity is therefore the share of all accesses of a direction that go to one page. Pages
//!   that are never touched are left out.
//! - `end_us` is the time of the last request in the window.
//!
//! On 19 of the 53 disks, the most popular page is read about as often as the most popular page is
//! written. All 19 disks have misaligned writes. It seems that the tables count a page as read if a
//! write touches only a part of the page. On seven disks, the popularities and the working set of
//! reads contradict each other, because the working set is too large. [`import`] repairs
//! contradictions and reports each repair.

use std::path::Path;

use vpass_drive::base::request::SourceError;
use vpass_drive::base::units::Bytes;

use super::columns::Table;
use super::imported::Imported;
use super::percentiles::usual;
use super::statistics_config::{SideConfig, StatisticsConfig, WindowsConfig};
use crate::nearest::nearest;

const PAGE_BYTES: u64 = 4096;

/// Imports the statistics of a disk from the two tables.
///
/// # Errors
/// Returns an error if a file does not have the form of these tables, or if numbers are impossible.
/// Also returns an error if the table does not contain the disk; this error suggests the nearest
/// name.
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
            return Err(SourceError::new(format!(
                "{}: the windows of {disk} hold {all} {kind} page accesses in total, but {} gives \
                 {given}",
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
        .map_err(|e| SourceError::new(format!("{}, disk {disk}: {e}", totals.display())))?;
    Ok(imported)
}

/// Goes to the row of the disk with the given name.
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
    Err(SourceError::new(format!(
        "{}: there is no disk `{disk}`{near} (there are {}, from {first} to {last})",
        path.display(),
        names.len()
    )))
}

/// Returns the value of a column as a number of pages. In the table, the value is in bytes.
fn pages(table: &Table, column: &str) -> Result<u64, SourceError> {
    let column = table.column(column)?;
    let bytes = table.count(column)?;
    if bytes.is_multiple_of(PAGE_BYTES) {
        Ok(bytes / PAGE_BYTES)
    } else {
        Err(table.wrong(column, "is not a multiple of 4096; whole pages are expected"))
    }
}

/// Returns the statistics and the number of page accesses of one direction in a row. Returns `None`
/// if there are no requests of this direction.
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

/// Returns the windows of a disk. In the table, a window without requests has the same end as the
/// previous window. The result contains the true end of such a window.
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
            return Err(table.wrong(
                end,
                "is not after the end of the previous window; a later time is expected",
            ));
        }
        rows.push((end_s, pages));
    }
    if rows.is_empty() {
        return Err(SourceError::new(format!(
            "{}: there is no window of disk `{disk}`",
            path.display()
        )));
    }
    // In the table, the end of a window is the time of the window's last request. The true length
    // of all windows is the length of the longest window in the table, rounded up to whole seconds.
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
