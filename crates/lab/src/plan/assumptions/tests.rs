//! Tests that each assumption is reported only with the setting that causes it.

use vpass_workload::synthetic::Sample;
use vpass_workload::traces::TimeUnit;

use super::*;
use crate::plan::Chosen;
use crate::progress::unwatched;
use crate::setup::{Base, Named, Replay, Setup};

fn base(gear: Gear, set: &[&str]) -> Base {
    Base { gear, set: set.iter().map(|set| (*set).into()).collect(), ..Base::new("tiny") }
}

fn of(setup: &Setup, chosen: Chosen) -> Vec<String> {
    RunPlan::new(setup, chosen, &unwatched)
        .unwrap()
        .assumptions()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Returns the assumptions of a run with a generated workload.
fn generated(gear: Gear, set: &[&str]) -> Vec<String> {
    let setup = Setup::new(base(gear, set), Named::Workload("uniform-read".into()));
    of(&setup, Chosen::default())
}

/// Returns the assumptions of a run with a trace of this format, at this queue depth.
fn traced(format: &str, queue_depth: Option<u32>, replay: Replay) -> Vec<String> {
    let text = match format {
        "arc" => "0 8 0 0\n64 64 0 1\n",
        "mqsim" => "11413000 0 657728 16 1\n11565000 0 657728 16 1\n",
        _ => "128166372003061629,hm,0,Read,4096,4096,51\n",
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    std::fs::write(&file, text).unwrap();
    let replay = Replay { format: Some(format.into()), ..replay };
    let base = Base { queue_depth, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Trace { files: vec![file], replay });
    of(&setup, Chosen::default())
}

#[track_caller]
fn has(all: &[String], sentence: &str, is_there: bool) {
    let found = all.iter().any(|one| one == sentence);
    assert_eq!(found, is_there, "{sentence} in {all:#?}");
}

/// Returns replay options with this treatment of addresses beyond the drive.
fn fitted(fit: Fit) -> Replay {
    Replay { fit, ..Replay::default() }
}

#[test]
fn a_new_drive_under_a_closed_loop() {
    assert_eq!(
        generated(Gear::Timed, &["workload.queue_depth=7"]),
        [
            "The host keeps 7 requests outstanding.",
            "Blocks begin with 0 P/E cycles (start.pec).",
            "Data fills 100 % of the capacity at the start (start.fill).",
            "Data does not age (start.age, `refresh`).",
        ]
    );
}

#[test]
fn every_setting_of_the_start_has_its_sentence() {
    let set = [
        "workload.rate=1000",
        "start.pec=1200",
        "start.fill=0.5",
        "start.overwrite=1.5",
        "start.reads=9000",
        "start.age=30d",
    ];
    let all = generated(Gear::Timed, &set);
    for sentence in [
        "Requests arrive at the times that the workload gives, even if the drive falls behind.",
        "Blocks begin with 1,200 P/E cycles (start.pec).",
        "Data fills 50.0 % of the capacity at the start (start.fill).",
        "Random writes have overwritten the start-up data 1.50 times (start.overwrite).",
        "Written blocks begin with 0 to 9,000 reads, drawn evenly (start.reads).",
        "Data is 0 to 30d old at the start, drawn evenly (start.age).",
    ] {
        has(&all, sentence, true);
    }
    assert_eq!(all.len(), 6, "{all:#?}");
    let worn =
        ["start.pec=100", "start.pec_spread=50", "start.worn_share=0.1", "start.worn_pec=900"];
    let all = generated(Gear::Timed, &worn);
    has(&all, "Blocks begin with 100 to 150 P/E cycles, drawn evenly (start.pec_spread).", true);
    has(&all, "10.0 % of the blocks begin with 900 P/E cycles (start.worn_share).", true);
}

#[test]
fn gear_sample_warm_up_and_refresh() {
    let untimed = "Requests are served one after another, without latencies (`gear`).";
    let fluid = "Reads are drawn in bulk from the rates of the workload (`gear`).";
    has(&generated(Gear::Untimed, &[]), untimed, true);
    has(&generated(Gear::Timed, &[]), untimed, false);
    has(&generated(Gear::Fluid, &["workload.rate=1000"]), fluid, true);
    let workload = || Named::Workload("uniform-read".into());
    let sampled = Setup {
        sample: Sample { of: 2, residue: 0 },
        ..Setup::new(base(Gear::Fluid, &["workload.rate=1000"]), workload())
    };
    let sentence = "Only a sample of the drive is simulated: 1/2 of its pages.";
    has(&of(&sampled, Chosen::default()), sentence, true);
    let warm = Setup { warm_up: 2000, ..Setup::new(base(Gear::Timed, &[]), workload()) };
    let sentence = "The first 2,000 requests are served before counting begins (`warm_up`).";
    has(&of(&warm, Chosen::default()), sentence, true);
    let refreshed = Chosen { refresh: Some("block"), ..Chosen::default() };
    let aged = of(&Setup::new(base(Gear::Timed, &[]), workload()), refreshed);
    has(&aged, "Data does not age (start.age, `refresh`).", false);
}

#[test]
fn a_trace_without_times_and_directions() {
    let replay =
        Replay { assume_op: Some(Op::Read), assume_rate: Some(250.0), ..fitted(Fit::Wrap) };
    let all = traced("arc", None, replay.clone());
    has(&all, "The trace has no times: 250 requests a second (`assume_rate`).", true);
    has(
        &all,
        "The trace does not tell reads from writes: all requests are reads (`assume_op`).",
        true,
    );
    has(&all, "Addresses beyond the capacity start again at 0 (`fit=wrap`).", true);
    let all = traced("arc", Some(8), Replay { assume_op: Some(Op::Write), ..replay });
    has(&all, "The host keeps 8 requests outstanding.", true);
    has(
        &all,
        "The trace does not tell reads from writes: all requests are writes (`assume_op`).",
        true,
    );
    assert!(!all.iter().any(|sentence| sentence.contains("`assume_rate`")), "{all:#?}");
}

#[test]
fn a_trace_with_an_assumed_unit_and_another_speed() {
    let clock = "Requests arrive at the times in the trace, even if the drive falls behind.";
    let all = traced("mqsim", None, Replay { speed: 2.0, ..fitted(Fit::Wrap) });
    has(&all, clock, true);
    has(&all, "The trace runs at 2.00 times its recorded speed (`speed`).", true);
    let unit = "The times of mqsim are taken as nanoseconds; `time_unit` sets another unit.";
    has(&all, unit, true);
    let said = Replay { time_unit: Some(TimeUnit::Microseconds), ..fitted(Fit::Wrap) };
    let all = traced("mqsim", None, said);
    has(&all, "The times of mqsim are taken as microseconds, as `time_unit` says.", true);
    // In closed loop, the times of a trace are not used, so their unit and speed do not matter.
    let all = traced("mqsim", Some(3), Replay { speed: 2.0, ..fitted(Fit::Wrap) });
    assert!(!all.iter().any(|s| s.contains("unit") || s.contains("`speed`")), "{all:#?}");
    // A trace format with times, units and directions needs no assumptions.
    let replay = Replay { fit: Fit::Pack, skip_bad_lines: true, concat: true, ..fitted(Fit::Wrap) };
    let all = traced("msr", None, replay);
    has(&all, "The pages that the trace touches are placed side by side (`fit=pack`).", true);
    has(&all, "Lines that cannot be read are skipped (`skip_bad_lines`).", true);
    has(&all, "The files are parts of one trace, one after another (`concat`).", true);
    assert!(!all.iter().any(|s| s.contains("--assume") || s.contains("read as")), "{all:#?}");
    let all = traced("msr", None, Replay { fit: Fit::Scale, ..fitted(Fit::Wrap) });
    has(&all, "Addresses are scaled to the capacity of the drive (`fit=scale`).", true);
}
