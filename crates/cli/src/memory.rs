//! How much memory drives need, and how much there is: a drive that does not fit is refused before it is made.

use std::fs::read_to_string;

use vpass_core::config::{DisturbModel, DriveConfig};
use vpass_core::geometry::Geometry;
use vpass_oracle::{Level, Oracle};

use crate::exit::Failure;
use crate::load::Loaded;
use crate::numbers::bytes;
use crate::plan::Plan;

/// Bytes that a drive takes, with an oracle beside it or without.
pub(crate) fn needed(config: &DriveConfig, oracle: Option<Level>) -> u64 {
    let geometry = Geometry::new(config);
    let counted = if config.disturb.model == DisturbModel::None { 0 } else { u64::from(geometry.wordlines()) * 8 };
    // Map and reverse map of 4 bytes a page, about 64 bytes a block, and what the engine and its queues take.
    let drive =
        4 * (u64::from(geometry.host_pages) + u64::from(geometry.raw_pages())) + 64 * u64::from(geometry.blocks) + counted + (32 << 20);
    drive + oracle.map_or(0, |level| Oracle::memory(&geometry, level).0)
}

/// How many drives of a plan so many bytes hold.
pub(crate) fn drives_in(memory: Option<u64>, plan: &Plan) -> usize {
    memory.map_or(usize::MAX, |memory| (memory / needed(&plan.drive.config, plan.oracle.level())) as usize)
}

/// Refuses a drive that does not fit, which would end the process in its midst.
///
/// # Errors
/// What it needs and what there is.
pub(crate) fn require(drive: &Loaded<DriveConfig>, oracle: Option<Level>) -> Result<(), Failure> {
    let (needed, Some(there)) = (needed(&drive.config, oracle), available()) else { return Ok(()) };
    if needed <= there {
        return Ok(());
    }
    let oracle = if oracle.is_some() { "--oracle off, " } else { "" };
    Err(Failure::failed(format!(
        "drive {}: a run needs {} of memory and {} are to be had; {oracle}a smaller drive.capacity or a larger geometry.page_size is expected",
        drive.name,
        bytes(needed),
        bytes(there)
    )))
}

/// Bytes that this process may still take, where the system tells: the machine's, of those the control group's, of those its own.
pub(crate) fn available() -> Option<u64> {
    let kib = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    };
    let info = read_to_string("/proc/meminfo").ok()?;
    let machine = kib(&info, "MemAvailable:")? + kib(&info, "SwapFree:").unwrap_or(0);
    let number = |path: &str| read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    let group = group.map_or(u64::MAX, |(most, now)| most.saturating_sub(now));
    let limits = read_to_string("/proc/self/limits").ok();
    let addresses = limits.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("Max address space")));
    let addresses = addresses.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    let taken = read_to_string("/proc/self/status").ok().and_then(|status| kib(&status, "VmSize:")).unwrap_or(0);
    Some(machine.min(group).min(addresses.map_or(u64::MAX, |most| most.saturating_sub(taken))))
}
