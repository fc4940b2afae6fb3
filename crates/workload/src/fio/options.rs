//! Lists the options of fio 3.33, with the role of each option in vpass.
//!
//! There are four roles:
//! - An option describes the workload.
//! - An option does not affect a simulated drive.
//! - An option asks for safe writes, which the drive guarantees anyway.
//! - An option would change the workload in an unsupported way. Such an option stops the run.
//!
//! The names of options come from `fio --cmdhelp` and, for engines, from `fio --enghelp=ENGINE`.

use super::draft::{Setter, USED};
use super::values::KbBase;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::phrase;

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
    Unsupported(Phrase),
}

/// Options of fio that do not affect a simulated drive.
#[rustfmt::skip]
const NOT_APPLICABLE: &[&str] = &[
    // Options for the host, such as the I/O engine, memory, threads and choice of processors.
    "direct", "buffered", "fadvise_hint", "write_hint", "mem", "iomem", "mem_align", "iomem_align",
    "hugepage-size", "lockmem", "thread", "nice", "prio", "prioclass", "cpumask", "cpus_allowed",
    "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "cgroup", "cgroup_weight",
    "cgroup_nodelete", "uid", "gid", "ioscheduler", "clocksource", "gtod_reduce", "gtod_cpu",
    "io_submit_mode", "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete_max",
    "serialize_overlap", "invalidate", "exec_prerun", "exec_postrun", "verify_async",
    "verify_async_cpus", "lockfile",
    // Options that only some I/O engines of fio have.
    "userspace_reap", "nowait", "hipri", "hipri_percentage", "fixedbufs", "registerfiles",
    "sqthread_poll", "sqthread_poll_cpu", "nonvectored", "uncached", "force_async", "cmd_type",
    "cmdprio", "cmdprio_class", "cmdprio_percentage", "cmdprio_bssplit", "thp", "stream_id",
    "clustername", "rbdname", "pool", "clientname", "busy_poll", "touch_objects", "uri", "volume",
    "brick", "cpuload", "cpuchunks",
    // Options of fio's profiles and deprecated options. fio accepts them in each job, without
    // effect.
    "threads", "numruns", "dir", "block", "device-names", "load", "prep", "test-duration",
    "threads-per-queue", "read-req-num-512-blocks", "large-block-op-kbytes", "flow_watermark",
    "verifysort", "verifysort_nr",
    // Options for the creation of files. In vpass, the drive's `[start]` settings decide which data
    // the drive holds.
    "unique_filename", "fallocate", "create_serialize", "create_fsync", "create_on_open",
    "allow_file_create", "allow_mounted_write", "overwrite", "unlink", "unlink_each_loop",
    // Options for the content of buffers.
    "zero_buffers", "refill_buffers", "scramble_buffers", "buffer_pattern",
    "buffer_compress_percentage", "buffer_compress_chunk", "dedupe_percentage", "dedupe_mode",
    "dedupe_working_set_percentage", "dedupe_global",
    // Options for random numbers. vpass uses --seed instead.
    "randrepeat", "allrandrepeat", "randseed", "softrandommap",
    // Options for measurement and reports.
    "group_reporting", "new_group", "stats", "unit_base", "per_job_logs", "write_bw_log",
    "write_lat_log", "write_iops_log", "write_hist_log", "bwavgtime", "iopsavgtime", "log_entries",
    "log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset",
    "log_prio", "log_compression", "log_compression_cpus", "log_store_compressed", "log_unix_epoch",
    "log_alternate_epoch", "log_alternate_epoch_clock_id", "write_iolog", "block_error_percentiles",
    "clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list",
    "significant_figures", "disk_util", "disable_lat", "disable_clat", "disable_slat",
    "disable_bw_measurement", "disable_bw", "unified_rw_reporting", "error_dump",
    "continue_on_error", "ignore_error", "exitall_on_error", "rate_cycle", "ratecycle",
    // Options that only refine an unsupported option. The unsupported option already stops the run.
    "verify_interval", "verify_offset", "verify_pattern", "verify_fatal", "verify_dump",
    "verify_backlog", "verify_backlog_batch", "verify_state_load", "verify_state_save",
    "experimental_verify", "trim_verify_zero", "trim_backlog", "trim_backlog_batch",
    "read_iolog_chunked", "replay_no_stall", "replay_redirect", "replay_scale", "replay_align",
    "replay_time_scale", "replay_skip", "merge_blktrace_scalars", "merge_blktrace_iters",
    "rate_ignore_thinktime", "latency_window", "latency_percentile", "latency_run", "flow_id",
    "flow_sleep", "steadystate_duration", "ss_dur", "steadystate_ramp_time", "ss_ramp",
    "zonecapacity", "read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits",
    "zone_reset_threshold", "zone_reset_frequency",
];

/// Options of fio that ask for safe data. The simulated drive never loses acknowledged data, as if
/// capacitors protected its write buffer. For this reason, a flush does not wait.
#[rustfmt::skip]
const SAFE: [&str; 8] = [
    "fsync", "fdatasync", "sync", "end_fsync", "fsync_on_close", "write_barrier",
    "sync_file_range", "writefua",
];

const FUA: &str = "requests that must reach the flash before they complete are not modelled; set \
    this option to 0";
const ZONES: &str = "zones are not modelled; leave this option out";
const TRACE: &str = "this option replays a recorded trace; run the trace with ";
const BY_LATENCY: &str =
    "a load that depends on the latency is not supported; leave this option out and set iodepth";
const TOO_SLOW: &str = "a job that ends because it is too slow is not supported; leave this option \
    out";
const PAUSES: &str = "pauses between requests are not modelled; leave this option out, or give the \
    job a rate_iops";
const UNALIGNED: &str =
    "sizes that are no multiple of the smallest size are not supported; leave this option out";
const ENDS_OTHERS: &str = "a job that ends other jobs is not supported; leave this option out \
    and give each job a runtime";
const BATCHES: &str = "waiting for several completions at once is not modelled; set this option to \
    1 or leave this option out";

/// Options that would change the workload, each with the reason why vpass does not support the
/// option. vpass accepts such an option if its value turns the option off.
#[rustfmt::skip]
const UNSUPPORTED: [(&str, &str); 45] = [
    ("atomic", FUA), ("readfua", FUA),
    ("sg_write_mode", "SCSI commands other than read and write are not modelled; leave this option \
        out"),
    ("zonemode", ZONES), ("zonesize", ZONES), ("zonerange", ZONES), ("zoneskip", ZONES),
    ("read_iolog", TRACE), ("merge_blktrace_file", TRACE),
    ("latency_target", BY_LATENCY), ("steadystate", BY_LATENCY), ("ss", BY_LATENCY),
    ("iodepth_batch_complete_min", BATCHES), ("iodepth_batch_complete", BATCHES),
    ("thinktime", PAUSES), ("thinktime_spin", PAUSES), ("thinktime_blocks", PAUSES),
    ("thinktime_blocks_type", PAUSES), ("thinktime_iotime", PAUSES),
    ("exitall", ENDS_OTHERS), ("exit_what", ENDS_OTHERS),
    ("bs_unaligned", UNALIGNED), ("blocksize_unaligned", UNALIGNED),
    ("rw_sequencer", "repeated requests to one address are not supported; leave this option out"),
    ("percentage_random", "a job with random and sequential requests is not supported; write two \
        jobs"),
    ("random_generator", "only tausworthe is supported; leave this option out"),
    ("file_service_type", "a job uses its files in turn (roundrobin); leave this option out"),
    ("iodepth_low", "a queue that drains before it is filled again is not modelled; leave this \
        option out"),
    ("do_verify", "reading written data back is not supported; leave this option and verify out"),
    ("wait_for", "waiting for a single job is not supported; with stonewall, a job waits for all \
        jobs before it in the file"),
    ("flow", "a fixed ratio between the request counts of two jobs is not supported; give each job \
        a rate_iops or an iodepth"),
    ("opendir", "directories are not searched; name a file with filename and give its size"),
    ("file_append", "vpass does not know where a file ends; give an offset"),
    ("fill_device", "vpass needs the size after which a job ends; give a size"),
    ("fill_fs", "vpass needs the size after which a job ends; give a size"),
    ("pre_read", "reading a file before the job starts is not supported; add a job that reads the \
        file, and set stonewall in the next job"),
    ("create_only", "it makes no requests"),
    ("verify_only", "the reads of this option depend on an earlier run; add a job with these \
        reads"),
    (
        "trim_percentage",
        "trims after a verification are not supported; add a job that trims",
    ),
    ("bs_is_seq_rand", "different sizes for sequential and random requests are not supported; \
        write two jobs"),
    ("profile", "built-in workloads are not supported; describe the workload as jobs"),
    ("max_latency", TOO_SLOW), ("rate_min", TOO_SLOW), ("ratemin", TOO_SLOW),
    ("rate_iops_min", TOO_SLOW),
];

/// Values that turn off an unsupported option of fio.
const OFF: [&str; 5] = ["0", "none", "false", "default", "group"];

/// Unsupported options that have no value to turn them off, with fio's default values.
const DEFAULTS: [(&str, &str); 7] = [
    ("rw_sequencer", "sequential"),
    ("percentage_random", "100"),
    ("random_generator", "tausworthe"),
    ("random_generator", "tausworthe64"),
    ("file_service_type", "roundrobin"),
    ("thinktime_blocks_type", "complete"),
    ("do_verify", "1"),
];

/// Returns the role of a fio option with this value, or `None` if fio has no option of this name.
pub(super) fn role(name: &str, value: Option<&str>) -> Option<Role> {
    let is_used = |(known, other, _): &&(&str, &str, Setter)| [*known, *other].contains(&name);
    if let Some((known, _, setter)) = USED.iter().filter(|_| !name.is_empty()).find(is_used) {
        return Some(Role::Used(known, *setter));
    }
    if let Some((known, why)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
        return Some(if is_off(known, value) {
            Role::NotApplicable
        } else {
            let file = (*why == TRACE).then(|| Opt::Trace.to("FILE").into());
            Role::Unsupported(phrase![*why, file.unwrap_or_else(Phrase::default)])
        });
    }
    if SAFE.contains(&name) {
        return Some(if is_off(name, value) { Role::NotApplicable } else { Role::Safe });
    }
    NOT_APPLICABLE.contains(&name).then_some(Role::NotApplicable)
}

fn is_off(name: &str, value: Option<&str>) -> bool {
    let Some(value) = value else { return false };
    if DEFAULTS.iter().any(|(known, _)| *known == name) {
        return DEFAULTS.contains(&(name, value));
    }
    let one_is_none = name.starts_with("iodepth_batch_complete") && value == "1";
    let is_zero = super::values::bytes(value, KbBase::Binary) == Ok(0)
        || super::values::time_ns(value, 1) == Ok(0);
    is_zero || one_is_none || OFF.contains(&value)
}

/// Returns the question whether the option that is most similar to a misspelt name was meant.
pub(super) fn hint(name: &str) -> String {
    let used = USED.iter().flat_map(|(a, b, _)| [*a, *b]).filter(|n| !n.is_empty());
    let others =
        UNSUPPORTED.iter().map(|(n, _)| *n).chain(NOT_APPLICABLE.iter().copied()).chain(SAFE);
    crate::nearest::hint(name, used.chain(others))
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
    fn every_name_has_one_role() {
        let mut all: Vec<&str> =
            USED.iter().flat_map(|(a, b, _)| [*a, *b]).filter(|n| !n.is_empty()).collect();
        all.extend(UNSUPPORTED.iter().map(|(n, _)| *n));
        all.extend(NOT_APPLICABLE);
        all.extend(SAFE);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
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
        assert_eq!(role("readfua", Some("1")), FUA);
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
