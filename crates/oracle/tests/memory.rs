//! Compares the stated memory of a drive and its oracle with the memory that they take. Each case
//! is a process of its own.

#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::process::Command;

use vpass_drive::base::units::Lpn;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_oracle::{Level, Oracle};
use vpass_techniques::{card, resolve, usual};

/// Memory of the process itself, and of partly filled blocks of the allocator, in MiB.
const BESIDE: f64 = 8.0;

/// Returns a number of MiB from the process's own record.
fn mib(key: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<f64>().unwrap() / 1024.0
}

/// Returns the largest resident memory while a drive was made, filled, read and written. Also
/// returns the stated memory. Both are in MiB.
fn taken_and_said(
    preset: &str,
    capacity: &str,
    reclaim: &str,
    more: &str,
    watched: bool,
) -> (f64, f64) {
    let text = fs::read_to_string(format!(
        "{}/../../presets/drives/{preset}.toml",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    let mut table: toml::Table = text.parse().unwrap();
    for (key, value) in format!("drive.capacity = \"{capacity}\"\n{more}")
        .lines()
        .map(|line| line.split_once(" = ").unwrap())
    {
        let (of, key) = key.split_once('.').unwrap();
        let value = format!("v = {value}").parse::<toml::Table>().unwrap()["v"].clone();
        table
            .entry(of)
            .or_insert(toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .unwrap()
            .insert(key.into(), value);
    }
    table["geometry"].as_table_mut().unwrap().remove("blocks_per_plane");
    let config = resolve(table.try_into::<DriveConfig>().unwrap()).unwrap();
    let said = Drive::memory(&config, card(reclaim)).0;

    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    let mut drive = Drive::new(config, &techniques, false).unwrap();
    let said = said + if watched { Oracle::memory(drive.geometry(), Level::On).0 } else { 0 };
    if watched {
        drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config()).at(Level::On)));
    }
    drive.precondition(1);
    let pages = drive.geometry().host_pages;
    // Untouched memory is never resident.
    for lpn in Lpn::range(0..pages).step_by(16) {
        drive.read_page(lpn);
    }
    for n in 0..400_000u32 {
        let page = n.wrapping_mul(2_654_435_769) % pages;
        // These reads are hot enough to make techniques act.
        drive.read_page(Lpn::new(if n % 2 == 0 { page } else { page % 64 }));
        if n % 16 == 0 {
            drive.write_page(Lpn::new(page), u64::MAX);
        }
    }
    (mib("VmHWM:"), said as f64 / f64::from(1 << 20))
}

struct Case {
    preset: &'static str,
    capacity: &'static str,
    reclaim: &'static str,
    more: &'static str,
    watched: bool,
    /// Smallest share of the stated memory that must be taken. Some counters exist only for blocks
    /// that need them. The owners of flash pages take memory only for programmed pages.
    least: f64,
}

const fn case(
    preset: &'static str,
    capacity: &'static str,
    reclaim: &'static str,
    more: &'static str,
    watched: bool,
    least: f64,
) -> Case {
    Case { preset, capacity, reclaim, more, watched, least }
}

const CASES: [Case; 10] = [
    case("straw-2t-tlc", "256GiB", "none", "", false, 0.6),
    case("straw-2t-tlc", "256GiB", "straw-wl", "start.overwrite = 0", true, 0.6),
    case("modern-qlc", "256GB", "block", "", false, 0.6),
    case("modern-qlc", "256GB", "straw-ss-sound", "reclaim.counters = 256", true, 0.6),
    case("ipr-128g-tlc", "256GiB", "ipr", "density.monitor = 0.5", false, 0.45),
    case("ipr-128g-tlc", "256GiB", "ipr", "", true, 0.55),
    case("ipr-128g-tlc", "256GiB", "straw-ss", "reclaim.counters = 256", false, 0.6),
    case("ipr-128g-tlc", "256GiB", "tiered", "reclaim.wordline_sets = 1", false, 0.3),
    case("ipr-128g-tlc", "256GiB", "ipr-wl", "", false, 0.55),
    case("ida-512g-tlc", "128GiB", "none", "", true, 0.6),
];

/// Variable with the number of the process's case.
const CASE: &str = "VPASS_MEMORY_CASE";

#[test]
#[ignore = "the test below runs it, each case in a process of its own"]
fn one_case() {
    let Case { preset, capacity, reclaim, more, watched, least } =
        CASES[env::var(CASE).unwrap().parse::<usize>().unwrap()];
    let (taken, said) = taken_and_said(preset, capacity, reclaim, more, watched);
    let numbers = format!(
        "{preset} {capacity} {reclaim}, watched {watched}: {taken:.0} MiB taken, {said:.0} said"
    );
    assert!(taken <= 1.02 * said + BESIDE, "{numbers}");
    assert!(taken >= least * said, "{numbers}");
}

#[test]
fn what_is_said_is_what_is_taken() {
    for case in 0..CASES.len() {
        let arguments = ["one_case", "--exact", "--ignored", "--nocapture"];
        let run = Command::new(env::current_exe().unwrap())
            .args(arguments)
            .env(CASE, case.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(
            run.status.success() && said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
}
