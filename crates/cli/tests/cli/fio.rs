//! Tests of fio job files on the command line.

use serde_json::Value;

use crate::common::{Done, Room, ran, vpass};

fn run(file: &str, more: &[&str]) -> Done {
    vpass(&[&["run", "--drive", "tiny", "--fio", file], more].concat())
}

const JOBS: &str = "[global]\nioengine=libaio\ndirect=1\nsize=8m\n\
    [writes]\nrw=write\nbs=64k\niodepth=4\n\
    [reads]\nstonewall\nfilename=writes.0.0\nrw=randread\nbs=16k\niodepth=8\n";

#[test]
fn jobs_are_run_and_recorded() {
    let room = Room::new();
    let (file, out) = (room.file("jobs.fio", JOBS), room.text("out"));
    let done = run(&file, &["--json", "--out", &out]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.stderr,
        format!(
            "vpass: {file}: these options do not apply to a simulated drive, so vpass ignores \
             them: ioengine, direct\n"
        )
    );
    let json = done.json();
    assert_eq!((&json["workload"], &json["trace"]), (&file.as_str().into(), &Value::Null));
    assert_eq!(
        (&json["host"]["write_requests"], &json["host"]["read_requests"]),
        (&128.into(), &512.into())
    );
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(room.path("out/manifest.json")).unwrap())
            .unwrap();
    let fio = &manifest["workload_configuration"]["fio"];
    assert_eq!(fio["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(fio["not_applicable"], serde_json::json!(["ioengine", "direct"]));
    assert_eq!((&fio["jobs"][0]["stage"], &fio["jobs"][1]["stage"]), (&0.into(), &1.into()));
    assert_eq!(
        (&fio["jobs"][1]["name"], &fio["jobs"][1]["starts"][0]),
        (&"reads".into(), &0.into())
    );
    assert_eq!(
        (&fio["jobs"][1]["read_bs"], &fio["jobs"][1]["iodepth"]),
        (&"16384".into(), &8.into())
    );
}

#[test]
fn each_job_has_its_results() {
    let room = Room::new();
    // One job writes large requests one at a time, and the other job reads small blocks. Each job
    // has its own queue.
    let text = "[global]\nioengine=libaio\n[w]\nrw=write\nbs=256k\nsize=16m\n\
                [r]\nrw=randread\nfilename=w.0.0\nbssplit=4k/50:32k/50\n\
                norandommap\nsize=16m\nnumjobs=2\nnumber_ios=1024\nio_size=1g\niodepth=4\n";
    let file = room.file("jobs.fio", text);
    let json = run(&file, &["--json"]).json();
    let [w, r] = [0, 1].map(|i| json["jobs"][i].clone());
    assert_eq!(
        (&w["name"], &w["requests"], &w["write_bytes"]),
        (&"w".into(), &64.into(), &(16 << 20).into())
    );
    assert_eq!(
        (&r["read_requests"], &r["read_bytes"], &r["write_requests"]),
        (&2048.into(), &json["host"]["read_bytes"], &0.into())
    );
    // One job only reads and the other only writes, so the latencies of the jobs are the latencies
    // of the drive.
    assert_eq!(
        (&r["latency_us"]["read"], &w["latency_us"]["write"]),
        (&json["latency_us"]["read"], &json["latency_us"]["write"])
    );
    assert_eq!(
        (&r["latency_us"]["write"]["p99"], &w["latency_us"]["read"]["mean"]),
        (&Value::Null, &Value::Null)
    );
    let number = |value: &Value| value.as_f64().unwrap();
    let iops = number(&r["read_requests"]) / number(&r["active_s"]);
    assert!(
        (number(&r["throughput"]["read_iops"]) / iops - 1.0).abs() < 1e-9
            && iops >= number(&json["throughput"]["read_iops"])
    );
    let told = run(&file, &[]).stdout;
    assert!(told.contains("Jobs\n") && told.contains("   w ") && told.contains("   r"), "{told}");
    let untimed = run(&file, &["--gear", "untimed", "--json"]).json();
    assert_eq!(
        (&untimed["jobs"][1]["requests"], &untimed["jobs"][1]["active_s"]),
        (&2048.into(), &Value::Null)
    );
    let other =
        ran("run --drive tiny --workload uniform-read --set workload.requests=9 --json").json();
    assert_eq!(other["jobs"], Value::Null);
    assert!(other.as_object().unwrap().contains_key("jobs"));
}

#[test]
fn blocks_hot_for_reads_are_written_anew_before_they_are_lost() {
    // The data that is read most is also written most, so no data is lost by reads without reclaim.
    // With separate hot blocks for reads and for writes, 1,367 pages would be lost.
    let room = Room::new();
    let job = "[job]\nioengine=libaio\niodepth=16\nrw=randrw\nrwmixread=90\nbs=16k\nsize=900m\n\
               random_distribution=zipf:1.2\n\
               norandommap\nio_size=40g\n";
    let file = room.file("job.fio", job);
    let words = ["--set", "start.pec=1500", "--gear", "untimed", "--reclaim", "none", "--json"];
    let json = run(&file, &words).json();
    assert_eq!(
        (&json["data_lost_pages"], &json["jobs"][0]["requests"]),
        (&0.into(), &(40 << 16).into()),
        "{json}"
    );
}

#[test]
fn both_gears_pass_by_pass() {
    let room = Room::new();
    let file = room.file("jobs.fio", JOBS);
    for gear in ["timed", "untimed"] {
        let json = run(&file, &["--gear", gear, "--repeat", "3", "--json"]).json();
        assert_eq!(
            (&json["host"]["write_requests"], &json["host"]["read_requests"]),
            (&384.into(), &1536.into()),
            "{gear}"
        );
    }
    let stable = run(&file, &["--gear", "untimed", "--until", "stable", "--json"]).json();
    assert!(stable["passes"].as_u64().unwrap() > 1);
}

#[test]
fn time_ends_a_job_at_the_drive_s_clock() {
    let room = Room::new();
    let text = "[a]\nfilename=/dev/sda\nrw=randread\nioengine=libaio\niodepth=8\n\
                runtime=200ms\ntime_based\n";
    let file = room.file("jobs.fio", text);
    let json = run(&file, &["--json"]).json();
    let seconds = json["simulation"]["simulated_s"].as_f64().unwrap();
    assert!((0.2..0.21).contains(&seconds), "{seconds}");
    run(&file, &["--gear", "untimed"]).refuses(2, &["jobs.fio, line 1", "--gear timed"]);
    let rated = room.file(
        "rated.fio",
        "[a]\nfilename=/dev/sda\nrw=randread\nrate_iops=1000\nruntime=2\ntime_based\n",
    );
    let json = run(&rated, &["--gear", "untimed", "--json"]).json();
    assert_eq!(
        (&json["host"]["read_requests"], &json["simulation"]["simulated_s"]),
        (&2000.into(), &1.999.into())
    );
}

#[test]
fn notes_come_once_in_a_comparison() {
    let room = Room::new();
    let file = room.file("jobs.fio", JOBS);
    let done = ran(&format!(
        "compare --drive tiny --fio {file} --reclaim none,block --seeds 2 --gear untimed"
    ));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.stderr.matches("do not apply to a simulated drive").count(),
        1,
        "{}",
        done.stderr
    );
}

#[test]
fn the_example_fits_the_smallest_drive() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs/database.fio");
    let json = run(example, &["--gear", "untimed", "--json"]).json();
    assert!(json["host"]["read_requests"].as_u64().unwrap() > 200_000);
    assert_eq!(json["host"]["unmapped_read_pages"], 0);
}

/// Parallel jobs make their requests during the run. The oracle follows these requests with all
/// times, like other requests.
#[test]
fn jobs_side_by_side_are_followed_from_end_to_end() {
    let job = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs/database.fio");
    let done = vpass(&["run", "--drive", "tiny", "--fio", job, "--oracle", "full", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(done.json()["oracle"]["protocol_errors"], 0);
}
