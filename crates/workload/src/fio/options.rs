//! Roles of the options of fio 3.33 in vpass. The options that describe the workload are those of
//! [`USED`]. `options.txt` lists all others.

use super::draft::{Setter, USED};
use super::values::KbBase;

/// Role of a fio option in vpass.
pub(super) enum Role {
    /// The option describes the workload. The fields are its name, and the function that stores its
    /// value.
    Used(&'static str, Setter),
    /// The option has no effect on a drive. For example, it selects the host's memory, or the
    /// format of reports.
    NotApplicable,
    /// The option asks for safe writes. In vpass, writes that the drive has acknowledged are always
    /// safe.
    Safe,
    /// The option would change the workload. The text says why vpass does not support the option.
    Unsupported(&'static str),
}

/// Values that turn off an unsupported option of fio.
const OFF: [&str; 5] = ["0", "none", "false", "default", "group"];

/// Returns the names of options in `options.txt`. Each name comes with the line that says its role.
fn listed() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut role = "";
    let lines = include_str!("options.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(move |line| {
        let begun = line.strip_prefix("= ");
        role = begun.unwrap_or(role);
        let names = if begun.is_some() { "" } else { line };
        names.split_whitespace().map(move |name| (name, role))
    })
}

/// Returns the role of a fio option with this value, or `None` if fio has no option of this name.
pub(super) fn role(name: &str, value: Option<&str>) -> Option<Role> {
    let is_used = |(known, other, _): &&(&str, &str, Setter)| [*known, *other].contains(&name);
    if let Some((known, _, setter)) = USED.iter().filter(|_| !name.is_empty()).find(is_used) {
        return Some(Role::Used(known, *setter));
    }
    let (_, role) = listed().find(|(known, _)| *known == name)?;
    let (role, why) = role.split_once(": ").unwrap_or((role, ""));
    let (role, unless) = role.split_once(" unless ").unwrap_or((role, ""));
    Some(match role {
        "host" => Role::NotApplicable,
        _ if is_off(unless, value) => Role::NotApplicable,
        "safe" => Role::Safe,
        _ => Role::Unsupported(why),
    })
}

/// Returns whether a value turns off an option. The values `unless` are separated by blanks.
fn is_off(unless: &str, value: Option<&str>) -> bool {
    let Some(value) = value else { return false };
    if !unless.is_empty() {
        return unless.split(' ').any(|known| known == value);
    }
    let is_zero = super::values::bytes(value, KbBase::Binary) == Ok(0)
        || super::values::time_ns(value, 1) == Ok(0);
    is_zero || OFF.contains(&value)
}

/// Returns the question whether the option that is most similar to a misspelt name was meant.
pub(super) fn hint(name: &str) -> String {
    let used = USED.iter().flat_map(|(a, b, _)| [*a, *b]).filter(|n| !n.is_empty());
    crate::nearest::hint(name, used.chain(listed().map(|(name, _)| name)))
}

/// Engines of fio that wait for each request. With these engines, vpass and fio keep only one
/// request outstanding, whatever the value of `iodepth`.
pub(super) const SYNCHRONOUS: [&str; 10] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libpmem", "dev-dax", "mtd"];

/// Engines of fio that send no requests to a drive.
#[rustfmt::skip]
pub(super) const NO_DRIVE: [&str; 15] = [
    "cpuio", "net", "netsplice", "rdma", "exec", "ftruncate", "filecreate", "filestat",
    "filedelete", "dircreate", "dirstat", "dirdelete", "falloc", "e4defrag", "http",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_has_one_known_role() {
        let mut all: Vec<&str> =
            USED.iter().flat_map(|(a, b, _)| [*a, *b]).filter(|n| !n.is_empty()).collect();
        all.extend(listed().map(|(name, _)| name));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.len() > 230, "the list is cut");
        for (name, role) in listed() {
            let is_known = ["host", "safe"].contains(&role) || role.starts_with("unsupported");
            let reason = role.split_once(": ").map_or("", |(_, why)| why);
            assert!(is_known && role.starts_with('u') != reason.is_empty(), "{name}: {role}");
        }
    }

    #[test]
    fn an_unsupported_option_may_be_off() {
        let role = |name: &str, value: Option<&str>| match role(name, value) {
            Some(Role::Used(name, _)) => name.to_owned(),
            Some(Role::NotApplicable) => "off".into(),
            Some(Role::Safe) => "safe".into(),
            Some(Role::Unsupported(why)) => why.to_string(),
            None => "unknown".into(),
        };
        assert_eq!(role("fsync", Some("0")), "off");
        assert_eq!(role("fsync", Some("32")), "safe");
        assert_eq!(role("end_fsync", None), "safe");
        assert!(role("readfua", Some("1")).contains("set this option to 0"));
        assert_eq!(role("sync", Some("none")), "off");
        assert_eq!(role("iodepth_batch_complete_min", Some("1")), "off");
        assert!(role("fill_device", None).contains("give a size"));
        assert_eq!(role("do_verify", Some("1")), "off");
        assert!(role("do_verify", Some("0")).contains("leave this option"));
        assert_eq!(role("thinktime", Some("0")), "off");
        assert_eq!(role("threads", Some("1")), "off");
        assert_eq!(role("readwrite", Some("read")), "rw");
        assert_eq!([role("iodpth", Some("1")), role("", None)], ["unknown", "unknown"]);
        assert_eq!(hint("iodpth"), " (did you mean iodepth?)");
    }
}
