//! Results in memory for tests, in the form that `vpass compare --out` writes.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::model::Model;

/// Makes the entry of a technique in `compare.json`, with one run. The arguments are lost pages,
/// rewritten pages, memory in bytes, and the p99.9 and maximum of reads in microseconds.
fn technique(name: &str, lost: u32, rewritten: u32, ram: u32, us: [f64; 2]) -> Value {
    let cell = |mean: f64, half: Option<f64>| json!({"mean": mean, "ci95": null, "half95": half});
    json!({
        "reclaim": name, "gc": "greedy", "counterfactual": false,
        "life_unit": "days", "life_low": 1.0, "life_high": 2.0, "life_settled": false,
        "columns": {
            "projected_life_days": null,
            "data_lost_pages": cell(lost.into(), Some(0.0)),
            "reclaim_write_pages": cell(rewritten.into(), Some(10.0)),
            "controller_ram_bytes": cell(ram.into(), Some(0.0)),
            "read_p50_us": cell(60.0, None),
            "read_p99_9_us": cell(us[0], None),
            "read_max_us": cell(us[1], None),
            "write_amplification": cell(3.0, None),
        },
        "warnings": [],
        "runs": [{
            "vpass": "0.1.0", "seed": 1, "gear": "timed",
            "host": {"read_pages": 1_000_000, "write_pages": 1000},
            "flash": {"programs": {"host": 1000, "gc": 500, "reclaim": rewritten}},
            "oracle": {"reads_checked": 1_000_000, "findings": []},
            "data_lost_pages": lost, "uncorrectable_reads": 0,
            "simulation": {"simulated_s": 80.0},
        }],
    })
}

/// Makes a `compare.json` of three techniques. `none` loses data, and `straw-wl` rewrites the
/// fewest pages. No life has settled.
pub(crate) fn json() -> Value {
    json!({
        "vpass": "0.1.0", "drive": "tiny", "workload": "jobs/read-hot.fio", "gear": "timed",
        "seed": 1, "seeds": 1,
        "winners": {
            "life": [], "read_p99_9_us": [], "write_amplification": [],
            "reclaim_write_pages": ["straw-wl"], "controller_ram_bytes": ["block"],
        },
        "techniques": [
            technique("none", 698, 0, 0, [483.0, 1230.0]),
            technique("block", 0, 200_000, 1224, [2513.0, 52_000.0]),
            technique("straw-wl", 0, 2000, 81_920, [655.0, 170_000.0]),
        ],
    })
}

/// Makes a result folder from a `compare.json`. The folder has the files of each run.
pub(crate) fn folder(json: &Value) -> Folder {
    let file = ("compare.json".to_owned(), json.to_string().into_bytes());
    let mut folder = Folder::of_files("results", [file]);
    for technique in json["techniques"].as_array().unwrap() {
        let name = technique["reclaim"].as_str().unwrap();
        let manifest = json!({
            "oracle": true,
            "drive_configuration": {
                "drive": {"capacity": "1GiB", "rated_pec": 3000}, "start": {"pec": 1500},
            },
        });
        let files = [
            ("manifest.json", manifest.to_string()),
            ("blocks.csv", "block,effective_pec_cycles\n0,1500\n1,1566\n".into()),
            ("series.csv", "requests,simulated_s,programs_reclaim_pages\n9,80,800\n".into()),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
        folder.put(name, Folder::of_files(format!("results/{name}"), files));
    }
    folder
}

/// Makes the model of the comparison that [`json`] returns.
pub(crate) fn compared() -> Model {
    Model::read(&[folder(&json())]).unwrap()
}

/// Makes a `compare.json` in which the lives are known. `none` lives 9 days and loses data. `block`
/// lives 2 days, and `straw-wl` lives 6 days.
pub(crate) fn json_with_lives() -> Value {
    let mut json = json();
    for (i, days) in [9.0, 2.0, 6.0].into_iter().enumerate() {
        let technique = &mut json["techniques"][i];
        technique["life_settled"] = true.into();
        technique["life_low"] = (0.9 * days).into();
        technique["life_high"] = (1.1 * days).into();
        technique["columns"]["projected_life_days"] = json!({"mean": days, "ci95": null});
    }
    json["winners"]["life"] = json!(["straw-wl"]);
    json
}

/// Makes the model of the comparison that [`json_with_lives`] returns.
pub(crate) fn with_lives() -> Model {
    Model::read(&[folder(&json_with_lives())]).unwrap()
}
