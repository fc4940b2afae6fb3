//! Tests of workloads that a caller makes: they run as named ones do, and an impossible request
//! ends the run by the name of the workload.

use std::sync::Arc;

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Replay, Setup};
use vpass_workload::given::{ForDrive, Given};
use vpass_workload::listed::ListedSource;
use vpass_workload::pass::PassSource;
use vpass_workload::synthetic::{SyntheticSource, WorkloadConfig};
use vpass_workload::traces::{Epoch, Target, TraceEvent, TraceRow, TraceWriter};

fn setup(workload: Named, gear: Gear) -> Setup {
    Setup::new(Base { gear, ..Base::new("tiny") }, workload)
}

fn plan(workload: Named, gear: Gear) -> RunPlan {
    let set = match workload {
        Named::Workload(_) => vec![
            "workload.requests=60000".into(),
            "workload.queue_depth=".into(),
            "workload.rate=5000".into(),
        ],
        _ => vec![],
    };
    let setup = setup(workload, gear);
    let setup = Setup { base: Base { set, ..setup.base }, ..setup };
    RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the summary without the time of the run, and without what says whose requests these are.
fn counts(plan: &RunPlan) -> serde_json::Value {
    let mut json = serde_json::to_value(execute(plan, &Unwatched).unwrap().summary).unwrap();
    let members = json.as_object_mut().unwrap();
    for of_the_name in ["simulation", "workload", "workload_source", "workload_generated"] {
        members.remove(of_the_name).unwrap();
    }
    json
}

#[test]
fn a_workload_by_value_gives_the_summary_of_its_named_twin() {
    let named = plan(Named::Workload("random-70-30".into()), Gear::Timed);
    let config = WorkloadConfig {
        requests: 60_000,
        rate: Some(5000.0),
        ..match &named.workload {
            vpass_lab::plan::Workload::Generated(loaded) => match &loaded.config {
                vpass_lab::load::Generated::Workload(file) => file.workload.clone(),
                _ => unreachable!("a plain preset"),
            },
            _ => unreachable!("a preset"),
        }
    };
    let drawn = config.clone();
    let given = Given::new("drawn", "1", move |drive: ForDrive| {
        Ok(Box::new(
            SyntheticSource::new(&drawn, drive.capacity, drive.page_bytes, drive.seed).unwrap(),
        ))
    });
    let page = named.drive.config.geometry.page_size.0 as u32;
    let capacity = named.drive.config.drive.capacity.unwrap().0;
    let mut all = vec![];
    SyntheticSource::new(&config, capacity, page, 1).unwrap().fill(&mut all, 60_000).unwrap();
    assert_eq!(all.len(), 60_000);
    let all: Arc<[Request]> = all.into();
    let listed = Given::new("listed", "2", move |_| {
        Ok(Box::new(ListedSource::new(all.clone(), Arrival::Open)) as Box<dyn PassSource>)
    });
    for gear in [Gear::Timed, Gear::Untimed] {
        let twin = counts(&plan(Named::Workload("random-70-30".into()), gear));
        for given in [&given, &listed] {
            let own = counts(&plan(Named::Given(given.clone()), gear));
            assert_eq!(own, twin, "{given:?} in the {} gear", gear.name());
        }
    }
}

#[test]
fn an_impossible_request_ends_the_run_by_the_name_of_the_workload() {
    let request = Request { at: 0, offset: 1 << 60, bytes: 1, op: Op::Read, origin: 0, hint: None };
    let given = Given::new("mine", "1", move |_| {
        Ok(Box::new(ListedSource::new([request].into(), Arrival::Closed { depth: 1 })))
    });
    for gear in [Gear::Timed, Gear::Untimed] {
        let failure = execute(&plan(Named::Given(given.clone()), gear), &Unwatched).err().unwrap();
        assert!(failure.to_string().starts_with("mine: request 0 has 1 bytes"), "{failure:?}");
    }
    let plan =
        RunPlan::new(&setup(Named::Given(given), Gear::Fluid), Chosen::default(), &unwatched);
    assert!(plan.err().unwrap().to_string().contains("closed loop"), "the fluid gear needs times");
}

/// Compares two lists side by side with the list that has the requests of both.
#[test]
fn workloads_side_by_side_make_the_requests_of_both() {
    let every = |first: u64, ns: u64, op| -> Vec<Request> {
        let request = |n: u64| Request {
            at: first + n * ns,
            offset: n * 7919 % 60_000 * 4096,
            bytes: 4096,
            op,
            origin: 0,
            hint: None,
        };
        (0..20_000).map(request).collect()
    };
    let given = |name: &'static str, all: Vec<Request>| {
        let all: Arc<[Request]> = all.into();
        Named::Given(Given::new(name, name, move |_| {
            Ok(Box::new(ListedSource::new(all.clone(), Arrival::Open)) as Box<dyn PassSource>)
        }))
    };
    let (reads, writes) = (every(0, 50_000, Op::Read), every(25_001, 70_000, Op::Write));
    let mut both = [reads.clone(), writes.clone()].concat();
    both.sort_by_key(|request| request.at);
    let beside = Named::Beside(vec![given("reads", reads), given("writes", writes)]);
    for gear in [Gear::Timed, Gear::Untimed, Gear::Fluid] {
        let one = counts(&plan(given("both", both.clone()), gear));
        assert_eq!(counts(&plan(beside.clone(), gear)), one, "{}", gear.name());
    }
    assert_eq!(plan(beside, Gear::Timed).workload.name(), "reads | writes");
}

#[test]
fn a_recording_with_flushes_runs_beside_no_other_workload() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("run.vpt");
    let mut writer = TraceWriter::new(Target::Compact, vec![], Epoch::Run);
    let row = TraceRow { at_ns: 1, device: 0, offset: 0, bytes: 4096, op: Op::Write, hint: None };
    writer.row(&row, |_| "drive".into()).unwrap();
    writer.event(&TraceEvent::Flush(2)).unwrap();
    std::fs::write(&path, writer.finish().unwrap().0).unwrap();
    let trace = Named::Trace { files: vec![path], replay: Replay::default() };
    let setup = setup(Named::Beside(vec![trace.clone(), trace]), Gear::Timed);
    let refused = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_err();
    assert!(refused.to_string().contains("must be the only workload"), "{refused}");
}
