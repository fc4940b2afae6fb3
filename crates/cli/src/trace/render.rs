//! Descriptions of trace files, as text for a terminal.

use std::fmt::Write;

use vpass_lab::numbers::{bytes, count, digits, plural, seconds};

use super::blocks::{BlockReads, Endurance, ReadIntensity};
use super::info::{FileInfo, Info, Requests, Reuse};
use super::sparkline::sparkline;
use crate::table::{Look, Table};
use vpass_lab::plain;

/// Largest number of devices that the text shows.
const MOST_DEVICES: usize = 16;
const WEEK_S: f64 = 7.0 * 86_400.0;

/// Describes each trace file. If there are several files, an overview follows.
pub(super) fn render(info: &Info, colour: bool) -> String {
    let mut parts: Vec<_> =
        info.files.iter().map(|file| file_text(file, info.page_bytes, colour)).collect();
    if info.files.len() > 1 {
        parts.push(overview(&info.files, colour));
    }
    parts.join("\n")
}

fn file_text(f: &FileInfo, page_bytes: u32, colour: bool) -> String {
    let mut text = String::new();
    let rate = if f.span_s > 0.0 {
        format!("over {} ({} per second)", seconds(f.span_s), digits(f.rows as f64 / f.span_s))
    } else {
        "all at one time".into()
    };
    let title = format!("{}: {}, {} {rate}", f.file, f.format, plural(f.rows, "row"));
    heading(&mut text, &title, colour);
    if let Some(line) = f.times.line() {
        let _ = writeln!(text, "  {line}");
    }
    for warning in &f.warnings {
        let _ = writeln!(text, "  {}", Look::Bad.paint(&plain::line(warning), colour));
    }
    if let Some(first) = &f.first_bad_line {
        let _ = writeln!(
            text,
            "  skipped {} that cannot be read; the first: {}",
            plural(f.bad_lines, "line"),
            plain::line(first)
        );
    }
    if f.rows_back_in_time > 0 {
        let (rows, back) = (plural(f.rows_back_in_time, "row"), seconds(f.longest_step_back_s));
        let _ = writeln!(
            text,
            "  {rows} earlier than a row before them, by at most {back}; a run moves them to \
             its time"
        );
    }
    text.push_str(&requests(f, colour));
    text.push('\n');
    let estimated = f
        .pages_estimated_from_one_in
        .map_or_else(String::new, |one_in| format!(", estimated from 1 in {one_in}"));
    heading(&mut text, &format!("Pages of {}{estimated}", bytes(page_bytes.into())), colour);
    text.push_str(&pages(f, colour));
    text.push('\n');
    let wide = f.devices.len() > 1;
    heading(&mut text, &format!("Busiest regions of {}", bytes(f.region_bytes)), colour);
    text.push_str(&regions(f, wide, colour));
    text.push('\n');
    if f.pages_estimated_from_one_in.is_none() {
        heading(&mut text, "Regions with large untouched gaps between them", colour);
        text.push_str(&separate_regions(f, wide, colour));
        text.push('\n');
    }
    text.push_str(&blocks(&f.blocks, f.span_s, wide, colour));
    if f.span_s > 0.0 {
        text.push('\n');
        text.push_str(&over_time(f, colour));
    }
    if wide {
        text.push('\n');
        text.push_str(&devices(f, colour));
    }
    text
}

fn heading(text: &mut String, title: &str, colour: bool) {
    let _ = writeln!(text, "{}", Look::Heading.paint(&plain::line(title), colour));
}

fn requests(f: &FileInfo, colour: bool) -> String {
    let mut table =
        Table::new(["", "rows", "share", "bytes", "mean size", "p50", "p90", "p99", "max"]);
    for (name, r) in [("reads", &f.reads), ("writes", &f.writes), ("trims", &f.trims)] {
        let size = |n: Option<u64>| n.map_or_else(|| "-".into(), bytes);
        let Requests { rows, share, bytes: all, mean_bytes, .. } = r;
        let mean = mean_bytes.map(|mean| mean.round() as u64);
        let sizes = [mean, r.p50_bytes, r.p90_bytes, r.p99_bytes, r.max_bytes].map(size);
        table.row(
            [name.into(), count(*rows), percent(*share), bytes(*all)].into_iter().chain(sizes),
        );
    }
    let sizes: Vec<_> =
        f.sizes.iter().map(|s| format!("{} {}", bytes(s.bytes), percent(s.share))).collect();
    table.render(colour) + &format!("  most frequent sizes: {}\n", sizes.join(", "))
}

fn pages(f: &FileInfo, colour: bool) -> String {
    let mut table =
        Table::new(["", "pages", "accesses", "per page", "p50", "p90", "p99", "max", "only once"]);
    let p = &f.footprint;
    for (name, pages, reuse) in [
        ("read", p.pages_read, &f.reads_per_page),
        ("written", p.pages_written, &f.writes_per_page),
    ] {
        let Reuse { total, pages_once, mean, p50, p90, p99, max } = reuse;
        let numbers = [p50, p90, p99, max].map(|n| n.map_or_else(|| "-".into(), count));
        let head =
            [name.into(), count(pages), count(*total), mean.map_or_else(|| "-".into(), digits)];
        table.row(head.into_iter().chain(numbers).chain([count(*pages_once)]));
    }
    let mut text = table.render(colour);
    let (touched, extent) = (bytes(p.bytes_touched), bytes(p.extent_bytes));
    let reach =
        if f.devices.len() > 1 { "the devices' addresses end at" } else { "the addresses end at" };
    let together = if f.devices.len() > 1 { " together" } else { "" };
    let _ = writeln!(
        text,
        "  {} touched, {touched}; {reach} {extent}{together}",
        plural(p.pages_touched, "page")
    );
    if p.pages_read > 0 {
        let hottest: Vec<_> = f
            .hottest
            .iter()
            .map(|h| format!("{} %: {}", h.percent_of_pages_read, percent(h.share_of_page_reads)))
            .collect();
        let _ = writeln!(
            text,
            "  the most-read pages, and their share of all page reads: {}",
            hottest.join(", ")
        );
    }
    text
}

fn regions(f: &FileInfo, with_device: bool, colour: bool) -> String {
    if f.busiest_regions.is_empty() {
        return "  no region is read\n".into();
    }
    let mut table = Table::new(["at", "page reads", "of all", "page writes"]);
    for r in &f.busiest_regions {
        let share = r.page_reads as f64 / f.reads_per_page.total as f64;
        table.row([
            place(with_device.then_some(&r.device), r.offset_bytes),
            count(r.page_reads),
            percent(share),
            count(r.page_writes),
        ]);
    }
    table.render(colour)
}

/// Returns a table of the address regions with the most accesses, sorted by address.
fn separate_regions(f: &FileInfo, with_device: bool, colour: bool) -> String {
    let accesses =
        |i: &usize| f.separate_regions[*i].page_reads + f.separate_regions[*i].page_writes;
    let mut shown: Vec<usize> = (0..f.separate_regions.len()).collect();
    shown.sort_by_key(|i| std::cmp::Reverse(accesses(i)));
    let more = shown.split_off(shown.len().min(MOST_DEVICES)).len();
    shown.sort_unstable();
    let mut table = Table::new(["at", "spans", "touched", "page reads", "page writes"]);
    for r in shown.into_iter().map(|i| &f.separate_regions[i]) {
        let sizes = [bytes(r.span_bytes), bytes(r.touched_bytes)];
        let at = place(with_device.then_some(&r.device), r.offset_bytes);
        table.row([at].into_iter().chain(sizes).chain([count(r.page_reads), count(r.page_writes)]));
    }
    let mut text = table.render(colour);
    if more > 0 {
        let _ = writeln!(
            text,
            "  and {} with fewer accesses; --json has all",
            plural(more as u64, "region")
        );
    }
    text
}

fn place(device: Option<&String>, offset_bytes: u64) -> String {
    device.map_or_else(String::new, |device| format!("{device}, ")) + &bytes(offset_bytes)
}

fn blocks(b: &BlockReads, span_s: f64, with_device: bool, colour: bool) -> String {
    let mut text = String::new();
    let size = bytes(b.block_bytes);
    heading(&mut text, &format!("Page reads per block of {size}, as on drive {}", b.drive), colour);
    let mut columns = vec![String::new(), "page reads".into(), "per week".into()];
    if let Some(e) = &b.endurance {
        columns.push(format!("{} beside one wordline", digits(e.worst_case_reads)));
        columns.push(format!("{} spread evenly", digits(e.even_reads)));
    }
    let mut table = Table::new(columns);
    let mut row = |name: String, intensity: &ReadIntensity| {
        let mut cells = vec![
            name,
            digits(intensity.reads),
            intensity.reads_per_week.map_or_else(|| "-".into(), digits),
        ];
        if b.endurance.is_some() {
            let after = |weeks: Option<f64>| {
                weeks.map_or_else(|| "-".into(), |w| format!("after {}", seconds(w * WEEK_S)))
            };
            cells.extend([after(intensity.weeks_to_worst_case), after(intensity.weeks_to_even)]);
        }
        table.row(cells);
    };
    row(
        format!("mean over the {} that the touched pages fill", blocks_in_words(b.blocks)),
        &b.mean,
    );
    if let Some(busiest) = &b.busiest {
        let at = place(with_device.then_some(&busiest.device), busiest.offset_bytes);
        row(format!("busiest range of {size}, at {at}"), &busiest.intensity);
    }
    text.push_str(&table.render(colour));
    if span_s > 0.0 && span_s < WEEK_S {
        let _ = writeln!(
            text,
            "  Numbers per week are extrapolated from the {} that the trace covers",
            seconds(span_s)
        );
    }
    text.push_str(
        &b.endurance
            .as_ref()
            .map_or_else(|| "  reads disturb nothing on this drive\n".into(), endurance),
    );
    text
}

fn blocks_in_words(blocks: f64) -> String {
    if blocks <= 1.0 { "1 block".into() } else { format!("{} blocks", digits(blocks)) }
}

fn endurance(e: &Endurance) -> String {
    let mut text = format!(
        "  at {} P/E cycles, a block loses data after {} reads if all reads are beside one \
         wordline (group {}: limit {} / alpha {}),\n  or after {} reads if the reads spread evenly",
        count(e.pec.into()),
        digits(e.worst_case_reads),
        e.group,
        digits(e.limit),
        digits(e.alpha),
        digits(e.even_reads),
    );
    if let Some(reads) = e.rewritten_at_reads {
        let _ = write!(
            text,
            "; the technique `block` rewrites such a block at {} reads",
            count(reads.into())
        );
    }
    text.push('\n');
    text
}

fn over_time(f: &FileInfo, colour: bool) -> String {
    let mut text = String::new();
    let steps = &f.over_time;
    heading(
        &mut text,
        &format!("Page accesses over time, in steps of {}", seconds(steps.step_s)),
        colour,
    );
    for (name, numbers) in [("reads", &steps.page_reads), ("writes", &steps.page_writes)] {
        let most = numbers.iter().copied().max().unwrap_or(0) as f64 / steps.step_s;
        let _ = writeln!(
            text,
            "  {name:<6} |{}| at most {} per second",
            sparkline(numbers),
            digits(most)
        );
    }
    text
}

fn devices(f: &FileInfo, colour: bool) -> String {
    let mut text = String::new();
    heading(&mut text, &format!("Devices: {}", f.devices.len()), colour);
    let mut by_rows: Vec<_> = f.devices.iter().collect();
    by_rows.sort_by_key(|d| std::cmp::Reverse(d.rows));
    let mut table = Table::new([
        "",
        "rows",
        "reads",
        "bytes read",
        "bytes written",
        "pages touched",
        "addresses end at",
    ]);
    for d in by_rows.iter().take(MOST_DEVICES) {
        let reads = percent(d.reads as f64 / d.rows.max(1) as f64);
        let sizes = [
            bytes(d.bytes_read),
            bytes(d.bytes_written),
            count(d.pages_touched),
            bytes(d.extent_bytes),
        ];
        table.row([d.name.clone(), count(d.rows), reads].into_iter().chain(sizes));
    }
    text.push_str(&table.render(colour));
    if let Some(more) = f.devices.len().checked_sub(MOST_DEVICES).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "  and {} with fewer rows; --json has all",
            plural(more as u64, "device")
        );
    }
    text
}

fn overview(files: &[FileInfo], colour: bool) -> String {
    let mut text = String::new();
    heading(&mut text, "All files", colour);
    let mut table = Table::new([
        "",
        "format",
        "rows",
        "span",
        "reads",
        "bytes read",
        "bytes written",
        "touched",
    ]);
    for f in files {
        let sizes = [bytes(f.reads.bytes), bytes(f.writes.bytes), bytes(f.footprint.bytes_touched)];
        let span = if f.span_s > 0.0 { seconds(f.span_s) } else { "-".into() };
        table.row(
            [f.file.clone(), f.format.into(), count(f.rows), span, percent(f.reads.share)]
                .into_iter()
                .chain(sizes),
        );
    }
    text.push_str(&table.render(colour));
    text
}

/// Formats a share in percent, rounded to one decimal. For example, 99.97 % becomes 100.0 %.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
