//! Tests of units in the output: bytes, the mapping unit, times, and keys that only files can have.

use serde_json::Value;

use crate::common::{Room, argv, number, one_line, vpass};

const PAGE: f64 = 16_384.0;

/// Returns the number of page programs, over all causes.
fn programs(run: &Value) -> f64 {
    run["flash"]["programs"].as_object().unwrap().values().map(|n| n.as_f64().unwrap()).sum()
}

fn near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-9
}

/// Returns a command for the tiny drive, whose pages have 16 KiB, under writes of this size.
fn written(command: &str, block: &str, more: &[&str]) -> Vec<String> {
    let block = format!("workload.block_size={block}");
    let fixed = [
        command,
        "--drive",
        "tiny",
        "--workload",
        "random-70-30",
        "--set",
        "workload.read_share=0",
        "--set",
        &block,
    ];
    fixed.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn done(args: &[String]) -> crate::common::Done {
    vpass(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn write_amplification_is_bytes_by_bytes_in_run_compare_and_life() {
    let few = ["--set", "workload.requests=30k", "--gear", "untimed", "--json"];
    let small = done(&written("run", "4KiB", &few)).json();
    let bytes = PAGE * programs(&small) / number(&small, "/host/write_bytes");
    assert!(bytes > 3.0 && near(number(&small, "/write_amplification"), bytes), "{bytes}");
    let pages = programs(&small) / number(&small, "/host/write_pages");
    assert!(
        near(number(&small, "/programs_per_page_write"), pages) && near(bytes, 4.0 * pages),
        "{bytes} {pages}"
    );
    // If the host writes whole pages, both numbers are equal.
    let whole = done(&written("run", "16KiB", &few)).json();
    assert!(near(
        number(&whole, "/write_amplification"),
        number(&whole, "/programs_per_page_write")
    ));
    // One drive write per day is 1 GiB on each day of five years.
    let dwpd = number(&whole, "/wear/host_bytes_until_worn") / f64::from(1u32 << 30) / 1825.0;
    assert!(near(number(&whole, "/wear/drive_writes_per_day"), dwpd), "{dwpd}");
    let compared = done(&written(
        "compare",
        "4KiB",
        &[&few[..], &["--reclaim", "none,block", "--seeds", "1"]].concat(),
    ))
    .json();
    for technique in compared["techniques"].as_array().unwrap() {
        let run = &technique["runs"][0];
        let right = PAGE * programs(run) / number(run, "/host/write_bytes");
        assert!(near(number(technique, "/columns/write_amplification/mean"), right), "{technique}");
    }
    let rate = ["--set", "workload.queue_depth=", "--set", "workload.rate=10000"];
    let life = argv("--set workload.requests=30k --years 1e-7 --exact --oracle off --json");
    let lived = done(&written("life", "4KiB", &[&rate[..], &life].concat())).json();
    let of = |name: &str| number(&lived, &format!("/techniques/0/{name}/mean"));
    assert!(
        near(of("write_amplification"), of("flash_bytes_written") / of("host_bytes_written"))
            && of("write_amplification") > 2.0
    );
}

/// Every command with results reports the cost of writes that are smaller than the mapping unit.
/// Without such writes, the commands report nothing.
#[test]
fn small_writes_are_warned_of_with_their_cost() {
    let few = ["--set", "workload.requests=30k", "--gear", "untimed"];
    let told = "100 % of the writes are smaller than the mapping unit, a flash page of 16.0 KiB: a \
        write took ";
    let json = |args: &[&str], block: &str| {
        done(&written("run", block, &[&few[..], args, &["--json"]].concat())).json()
    };
    let run = json(&[], "4KiB");
    let (fills, writes) = (number(&run, "/host/fill_reads"), number(&run, "/host/write_requests"));
    assert!(
        near(number(&run, "/mapping_unit/fill_reads_per_write"), fills / writes)
            && fills > 0.9 * writes
    );
    assert_eq!(
        (
            &run["mapping_unit"]["bytes"],
            &run["mapping_unit"]["small_write_share"],
            &run["mapping_unit"]["partial_page_share"]
        ),
        (&16_384.into(), &1.0.into(), &1.0.into())
    );
    assert_eq!(run["host"]["small_writes"], run["host"]["write_requests"]);
    let cost = format!(
        "{:.2} fill reads, and {:.2} bytes of host data were programmed per byte written",
        fills / writes,
        number(&run, "/flash/programs/host") * 16_384.0 / number(&run, "/host/write_bytes")
    );
    let warned = |warnings: &Value| warnings.to_string();
    assert!(
        warned(&run["warnings"]).contains(&format!("{told}{cost}")),
        "{cost} in {}",
        run["warnings"]
    );
    let shown = one_line(&done(&written("run", "4KiB", &few)).stdout);
    assert!(shown.contains(&cost) && shown.contains("page programs per page written"), "{shown}");

    let whole = json(&[], "16KiB");
    assert!(!warned(&whole["warnings"]).contains("mapping unit"), "{}", whole["warnings"]);
    assert_eq!(
        (&whole["mapping_unit"]["small_write_share"], &whole["host"]["small_writes"]),
        (&0.0.into(), &0.into())
    );
    // First, 9 % of the writes are small. Then 12 % are small.
    let mixed = |percent: u32| {
        let (small, large) = (f64::from(percent) / 100.0, f64::from(100 - percent) / 100.0);
        let sizes = format!(
            "workload.block_sizes=[{{size = '4KiB', share = {small}}}, {{size = '16KiB', share = \
             {large}}}]"
        );
        let fixed = [
            "run",
            "--drive",
            "tiny",
            "--workload",
            "random-70-30",
            "--set",
            "workload.read_share=0",
            "--set",
            &sizes,
            "--json",
        ];
        let run = vpass(&[&fixed[..], &few].concat()).json();
        warned(&run["warnings"]).contains("of the writes are smaller than the mapping unit")
    };
    assert!(!mixed(9) && mixed(12));

    let compared = [&few[..], &["--reclaim", "none,block", "--seeds", "2"]].concat();
    let text = one_line(&done(&written("compare", "4KiB", &compared)).stdout);
    assert!(
        text.contains(told)
            && text.contains(" bytes of host data were programmed per byte written"),
        "{text}"
    );
    let rows = done(&written("compare", "4KiB", &[&compared[..], &["--json"]].concat())).json();
    for row in rows["techniques"].as_array().unwrap() {
        assert!(warned(&row["warnings"]).contains(told), "{}", row["warnings"]);
    }

    let lived =
        argv("--set workload.queue_depth= --set workload.rate=10000 --years 1e-7 --oracle off");
    let text = one_line(&done(&written("life", "4KiB", &lived)).stdout);
    assert!(text.contains(told), "{text}");
    let json = done(&written("life", "4KiB", &[&lived[..], &["--json"]].concat())).json();
    assert_eq!(json["techniques"][0]["mapping_unit"]["small_write_share"], 1.0);
    assert!(json["techniques"][0]["warnings"][0].as_str().unwrap().starts_with(told), "{json}");
    assert!(!done(&written("life", "16KiB", &lived)).stdout.contains("mapping unit"));
}

#[test]
fn the_mapping_unit_is_stated_of_every_drive() {
    let explained = one_line(&vpass(&["explain", "--drive", "tiny"]).stdout);
    for words in ["bytes 16.0 KiB", "4.00 KiB 1 4.00", "512 B 1 32.0"] {
        assert!(explained.contains(words), "{words} in {explained}");
    }
    let json = vpass(&["explain", "--drive", "ipr-128g-tlc", "--json"]).json();
    assert_eq!(
        (
            number(&json, "/mapping_unit/bytes"),
            number(&json, "/mapping_unit/small_writes/1/programmed_per_byte")
        ),
        (32_768.0, 8.0)
    );
    let shown = vpass(&["show", "drive", "tiny"]).stdout;
    let unit = "# Mapping unit: the flash page (geometry.page_size), 16.0 KiB. To write a part of \
        a page, the drive reads this page and programs a whole page.\n";
    assert!(
        shown.contains(unit)
            && shown.contains(
                "# Without garbage collection, a write of 4.00 KiB causes 1 page read and 4.00"
            ),
        "{shown}"
    );
    // The printed text is still a valid drive file.
    let room = Room::new();
    let file = room.file("shown.toml", &shown);
    assert_eq!(
        vpass(&["show", "drive", &file, "--json"]).json(),
        vpass(&["show", "drive", "tiny", "--json"]).json()
    );
    let small = vpass(&["show", "drive", "tiny", "--set", "geometry.page_size=4KiB"]).stdout;
    assert!(
        small.contains("(geometry.page_size), 4.00 KiB")
            && !small.contains("a write of 4.00 KiB causes"),
        "{small}"
    );
}

/// A life of some minutes is printed in minutes.
#[test]
fn a_life_has_the_unit_that_fits() {
    let rate =
        argv("--set workload.queue_depth= --set workload.rate=10000 --oracle off --years 8.4e-5");
    let lived =
        done(&written("life", "16KiB", &[&rate[..], &["--set", "workload.rate=1"]].concat()));
    assert!(
        lived.stdout.matches("44.2 min").count() == 2 && !lived.stdout.contains("e-5"),
        "in the table and in the answer: {}",
        lived.stdout
    );
}
