//! Test that the command reads every available real trace. `VPASS_SHARED_TRACES` names their
//! folder.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::PathBuf;

use crate::common::vpass;

/// Files with their numbers of requests and reads, and the options that they need.
const SAMPLES: [(&str, u64, u64, &[&str]); 16] = [
    ("OLTP.lis.zst", 914_145, 914_145, &["--assume-op", "read", "--queue-depth", "8"]),
    ("P3.lis.zst", 238_578, 0, &["--assume-op", "write", "--assume-rate", "1000"]),
    ("ajw.1week.srt.zst", 44_519, 13_040, &[]),
    ("cbs_sample50000.csv.zst", 50_000, 24_521, &[]),
    ("cloudPhysicsIO.vscsi.zst", 113_872, 46_974, &[]),
    ("financial1_head10000.ascii.zst", 10_000, 4077, &[]),
    ("hm_0_excerpt7016.csv.zst", 7016, 5820, &[]),
    ("mayun2.txt.zst", 87_160, 36_705, &[]),
    ("mds_0_head1000.csv.zst", 1000, 0, &[]),
    ("msnfs_disk5_150k.trace.zst", 149_999, 130_483, &[]),
    ("proj_0_head1000.csv.zst", 1000, 1, &[]),
    ("rsrch_1_fullweek.csv.zst", 13_780, 42, &[]),
    ("sqlite_wal_20k.txt.zst", 19_999, 48, &["--skip-bad-lines"]),
    ("systor17_sample999.csv.zst", 999, 826, &[]),
    ("websearch_head24783.trace.zst", 24_783, 24_779, &[]),
    // Two disks of two hosts are merged in one run.
    ("hm_0_excerpt7016.csv.zst mds_0_head1000.csv.zst", 8016, 5820, &[]),
];

#[test]
fn every_sample_runs() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = std::env::var_os("VPASS_SHARED_TRACES")
        .map_or_else(|| PathBuf::from(default), PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!(
            "skipped: {} is not there; VPASS_SHARED_TRACES names the folder of sample traces",
            folder.display()
        );
        return;
    };
    let names =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("a plain name"));
    // The other files in the folder are statistics, and a page about all files.
    for name in names.filter(|name| !name.starts_with("cloudphysics_dev") && name != "README.md") {
        assert!(
            SAMPLES.iter().any(|(known, ..)| *known == name),
            "{name} is not among the samples"
        );
    }
    for (names, requests, reads, said) in SAMPLES {
        let paths: Vec<_> = names
            .split(' ')
            .map(|name| folder.join(name).to_str().expect("a plain path").to_owned())
            .collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        let fixed =
            ["--drive", "tiny", "--fit", "scale", "--gear", "untimed", "--oracle", "off", "--json"];
        let done = vpass(&[&["run", "--trace"], &paths[..], &fixed, said].concat());
        assert!(done.code == 0 || done.code == 3, "{names}: {}", done.stderr);
        let json = done.json();
        assert_eq!(
            (&json["trace"]["rows"], &json["host"]["read_requests"]),
            (&requests.into(), &reads.into()),
            "{names}"
        );
        assert_eq!(
            json["trace"]["bad_lines"],
            u64::from(said.contains(&"--skip-bad-lines")),
            "{names}"
        );
    }
}
