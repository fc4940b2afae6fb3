//! Results in memory for tests, in the form that `vpass compare --out` writes.

use std::sync::OnceLock;

use serde_json::{Value, json};
use vpass_drive::base::units::Cause;
use vpass_lab::compare::Comparison;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::{About, ByCause, LifeUnit, Summary};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Named, Setup};

use crate::folder::Folder;
use crate::model::Model;

/// Returns the summary of a run of 1,000 reads. Tests replace its numbers.
pub(crate) fn summary() -> Summary {
    static RUN: OnceLock<Summary> = OnceLock::new();
    let run = || {
        let base = Base { set: vec!["workload.requests=1000".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        execute(&plan, &Unwatched).unwrap().summary
    };
    Summary { batches: None, ..RUN.get_or_init(run).clone() }
}

/// Returns the summary of a technique. The arguments are lost pages, rewritten pages, memory in
/// bytes, and the p99.9 and maximum of reads in microseconds.
pub(crate) fn of_technique(
    name: &str,
    lost: u64,
    rewritten: u64,
    ram: u64,
    [p99_9, max]: [f64; 2],
) -> Summary {
    let mut run = summary();
    run.reclaim_technique = name.into();
    (run.data_lost_pages, run.controller_ram_bytes) = (lost, ram);
    let mut programs = [0; Cause::COUNT];
    programs[Cause::Host as usize] = 1000;
    programs[Cause::Gc as usize] = 500;
    programs[Cause::Reclaim as usize] = rewritten;
    run.flash.programs = ByCause::from(programs);
    (run.host.read_pages, run.host.write_pages) = (1_000_000, 1000);
    run.write_amplification = Some(3.0);
    run.batch_means.reclaim_write_pages = Some(10.0);
    let read = &mut run.latency_us.read;
    (read.p50, read.p99_9, read.max) = (Some(60.0), Some(p99_9), Some(max));
    run.simulation.simulated_s = Some(80.0);
    run.oracle.as_mut().unwrap().reads_checked = 1_000_000;
    run.reclaim.counts.invocations = u64::from(name != "none");
    run.wear.life_settled = false;
    Summary { warnings: vec![], ..run }
}

/// Sets the life that a run projects, in days.
pub(crate) fn with_life(mut run: Summary, days: f64) -> Summary {
    let wear = &mut run.wear;
    (wear.life_unit, wear.life_settled) = (Some(LifeUnit::Days), true);
    wear.projected_life_days = Some(days);
    (wear.life_low_days, wear.life_high_days) = (Some(0.9 * days), Some(1.1 * days));
    wear.cycles_observed = 50.0;
    run
}

/// Makes the `compare.json` of these runs, one for each technique.
pub(crate) fn json_of(runs: Vec<Summary>) -> Value {
    let about = About::of_run(&runs[0]);
    let row = |run: Summary| ComparisonRow::new(run.reclaim_technique.clone(), vec![run]);
    let compared = Comparison::new(about, runs.into_iter().map(row).collect());
    serde_json::to_value(compared).unwrap()
}

fn runs() -> Vec<Summary> {
    vec![
        of_technique("none", 698, 0, 0, [483.0, 1230.0]),
        of_technique("block", 0, 200_000, 1224, [2513.0, 52_000.0]),
        of_technique("straw-wl", 0, 2000, 81_920, [655.0, 170_000.0]),
    ]
}

/// Makes a `compare.json` of three techniques. `none` loses data, and `straw-wl` rewrites the
/// fewest pages. No life has settled.
pub(crate) fn json() -> Value {
    json_of(runs())
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
    let lives = runs().into_iter().zip([9.0, 2.0, 6.0]);
    json_of(lives.map(|(run, days)| with_life(run, days)).collect())
}

/// Makes the model of the comparison that [`json_with_lives`] returns.
pub(crate) fn with_lives() -> Model {
    Model::read(&[folder(&json_with_lives())]).unwrap()
}
