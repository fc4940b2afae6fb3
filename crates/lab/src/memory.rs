//! Memory in bytes: the memory that a run needs, the memory that is available, and the memory that
//! simultaneous runs share. A run that does not fit into memory is refused before it starts.

use std::fs::read_to_string;
use std::path::Path;

use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::metrics::AllWindows;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::phrase;
use vpass_oracle::{Level, Oracle};
use vpass_workload::pass::PassSource;

use crate::failure::Failure;
use crate::load::Loaded;
use crate::numbers::bytes;
use crate::plan::{RunPlan, Workload};
use crate::run::memory_of_stages;
use crate::setup::Gear;

/// Memory of a run in bytes, without the drive and the source of requests. The memory holds
/// outstanding requests, queues of the timed gear, counts and histograms.
const OF_A_RUN: u64 = 32 << 20;
/// Divisor for the memory that runs do not use: with a divisor of 4, a fourth of the available
/// memory stays free. Other programs need this memory, and so does data of unknown size. For
/// example, the number of requests that wait for a slow drive is unknown.
const LEFT_ALONE: u64 = 4;

/// Returns the largest number of bytes that a run may need.
///
/// # Errors
/// Returns an error if the workload is invalid or cannot be read.
pub fn needed(plan: &RunPlan) -> Result<u64, Failure> {
    let source = match &plan.workload {
        Workload::Adversary { .. } => 0,
        _ if plan.is_fluid() => plan.fluid_memory()?,
        _ => plan.source()?.memory(),
    };
    let before = plan.source_before()?.map_or(0, |before| before.memory());
    let stages = if plan.stages { memory_of_stages(&Geometry::new(&plan.drive.config)) } else { 0 };
    let doses = if plan.files && plan.oracle.level().is_some() {
        Oracle::memory_of_doses(&Geometry::new(&plan.drive.config)).0
    } else {
        0
    };
    let drive = of_drive(&plan.drive.config, plan.reclaim, plan.oracle.level());
    let windows = if plan.files && plan.gear == Gear::Timed { AllWindows::MEMORY } else { 0 };
    // Up to two drives exist at once: the first drive stays in memory while drives of other ages
    // run.
    let at_once = if plan.ages.is_empty() { 1 } else { 2 };
    Ok(at_once * (drive + source + stages + doses) + before + windows)
}

/// Returns the number of bytes that a run with this drive and this technique needs. If there is an
/// oracle, its memory is included.
fn of_drive(config: &DriveConfig, technique: &Technique, oracle: Option<Level>) -> u64 {
    let oracle = oracle.map_or(0, |level| Oracle::memory(&Geometry::new(config), level).0);
    Drive::memory(config, technique).0 + oracle + OF_A_RUN
}

/// Returns the number of bytes that a run needs. Refuses a run that does not fit into memory,
/// because the system would kill the process.
///
/// # Errors
/// Returns an error if the run needs more memory than is available. The error names both numbers.
/// Also returns an error if the workload is invalid.
pub fn require(plan: &RunPlan) -> Result<u64, Failure> {
    let needed = needed(plan)?;
    fits(&plan.drive, needed, plan.oracle.level().is_some())?;
    Ok(needed)
}

/// Refuses a drive that does not fit into memory.
///
/// # Errors
/// Returns an error if the drive needs more memory than is available.
pub fn require_drive(drive: &Loaded<DriveConfig>, reclaim: &Technique) -> Result<(), Failure> {
    fits(drive, of_drive(&drive.config, reclaim, None), false)
}

fn fits(drive: &Loaded<DriveConfig>, needed: u64, oracle: bool) -> Result<(), Failure> {
    let Some(there) = available().filter(|there| needed > *there) else { return Ok(()) };
    let oracle = if oracle { phrase![Opt::Oracle.to("off"), ", "] } else { Phrase::default() };
    Err(Failure::failed(format!(
        "drive {}: a run needs {} of memory, but {} are available",
        drive.name,
        bytes(needed),
        bytes(there)
    ))
    .with_remedy(phrase![
        oracle,
        "a smaller drive.capacity or a larger geometry.page_size is needed",
    ]))
}

/// Returns the number of bytes that simultaneous runs may use together. The number is unlimited if
/// the system does not report its memory.
pub fn budget() -> u64 {
    available().map_or(u64::MAX, |there| there - there / LEFT_ALONE)
}

/// Returns the number of bytes that this process may still use. The machine, the control groups and
/// the process have a limit each. The smallest limit counts. Returns `None` if the system does not
/// report its memory.
fn available() -> Option<u64> {
    let info = read_to_string("/proc/meminfo").ok()?;
    let machine = kib(&info, "MemAvailable:")? + kib(&info, "SwapFree:").unwrap_or(0);
    let groups = read_to_string("/proc/self/cgroup").ok();
    let groups = groups.map_or(u64::MAX, |own| left_by_groups(&own, Path::new("/sys/fs/cgroup")));
    let limits = read_to_string("/proc/self/limits").ok();
    let addresses = limits.as_deref().and_then(|text| number_after(text, "Max address space"));
    let taken = read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| kib(&status, "VmSize:"))
        .unwrap_or(0);
    Some(machine.min(groups).min(addresses.map_or(u64::MAX, |most| most.saturating_sub(taken))))
}

/// Returns the number of bytes that a process may still use within the limits of its control
/// groups. `own` is the content of `/proc/self/cgroup`. The limit of a group also applies to the
/// groups within that group. Cached files count as free, because the system drops them when memory
/// is short.
fn left_by_groups(own: &str, root: &Path) -> u64 {
    let mut left = u64::MAX;
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, most, now, cached) = match controllers {
            "" => (root.to_owned(), "memory.max", "memory.current", "inactive_file"),
            _ if controllers.split(',').any(|c| c == "memory") => (
                root.join("memory"),
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            _ => continue,
        };
        // The limit of the root group is included, because a process may not see the path of its
        // own group.
        for group in
            Path::new(path.trim_start_matches('/')).ancestors().map(|group| root.join(group))
        {
            let number =
                |file: &str| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
            let Some((most, now)) = number(most).zip(number(now)) else { continue };
            let cached = read_to_string(group.join("memory.stat"))
                .ok()
                .and_then(|stat| number_after(&stat, &format!("{cached} ")))
                .unwrap_or(0);
            left = left.min(most.saturating_sub(now.saturating_sub(cached)));
        }
    }
    left
}

/// Returns the number in the first line that begins with the text `key`. Returns `None` if no line
/// begins with this text.
fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

fn kib(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_tightest_group_counts_and_its_cache_is_free() {
        let root = std::env::temp_dir().join(format!("vpass-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "300\n");
        assert_eq!(left_by_groups("0::/a/b\n", &root), u64::MAX);
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        assert_eq!(left_by_groups("0::/a/b\n", &root), 300);
        write("a/memory.stat", "anon 500\ninactive_file 150\ninactive_file_other 9\n");
        assert_eq!(left_by_groups("0::/a/b\n", &root), 450);
        write("a/b/memory.max", "310\n");
        assert_eq!(left_by_groups("0::/a/b\n", &root), 10);
        write("memory/c/memory.limit_in_bytes", "5000\n");
        write("memory/c/memory.usage_in_bytes", "6000\n");
        write("memory/c/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\n");
        assert_eq!(left_by_groups("12:pids:/c\n3:cpu,memory:/c\n0::/\n", &root), 1000);
        assert_eq!(left_by_groups("12:pids:/c\n", &root), u64::MAX);
        fs::remove_dir_all(&root).unwrap();
    }
}
