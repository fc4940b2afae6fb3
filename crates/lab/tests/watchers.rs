//! Tests of watchers: they take all events of a run in order, the last ones even after a panic, and
//! change nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use vpass_drive::api::gc::{Candidates, GcPolicy};
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{Action, Policy, Promise, Technique, Threshold, View, technique};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Ns, Reads};
use vpass_drive::watch::event::{Event, Fact};
use vpass_drive::watch::observer::PhysRead;
use vpass_drive::watch::watcher::{BATCH, Watcher};
use vpass_lab::plan::{Cards, RunPlan, Watching};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};

/// Events that a watcher took, and what it counts.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    events: Vec<Event>,
    /// Length of each batch.
    batches: Vec<usize>,
    /// Reads that were handed over, each batch with the number of events before it.
    reads: Vec<(usize, usize)>,
}

impl Seen {
    fn count(&self, of: impl Fn(&Fact) -> bool) -> u64 {
        self.events.iter().filter(|event| of(&event.fact)).count() as u64
    }

    /// Returns the number of facts of this kind since counting began.
    fn counted(&self, of: impl Fn(&Fact) -> bool) -> u64 {
        let begins = self.events.iter().position(|event| event.fact == Fact::MeasuredPhase);
        let counted = &self.events[begins.expect("each run has a measured phase")..];
        counted.iter().filter(|event| of(&event.fact)).count() as u64
    }
}

/// Watcher that keeps all events where the test finds them.
struct Keeps {
    seen: Arc<Mutex<Seen>>,
    wants_reads: bool,
}

impl Watcher for Keeps {
    fn events(&mut self, batch: &[Event]) {
        let mut seen = self.seen.lock().unwrap();
        seen.events.extend_from_slice(batch);
        seen.batches.push(batch.len());
    }

    fn wants_reads(&self) -> bool {
        self.wants_reads
    }

    fn reads(&mut self, _: Ns, batch: &[PhysRead]) {
        let mut seen = self.seen.lock().unwrap();
        let before = seen.events.len();
        seen.reads.push((before, batch.len()));
    }
}

fn keeps(wants_reads: bool) -> (Watching, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let kept = seen.clone();
    (Watching::new(move |_| Box::new(Keeps { seen: kept.clone(), wants_reads })), seen)
}

fn plan(gear: Gear, oracle: Watch, cards: Cards) -> RunPlan {
    let set = [
        "workload.requests=600000",
        "workload.read_share=0.95",
        "workload.rate=20000",
        "workload.queue_depth=",
        "start.pec=2500",
    ];
    let set = set.map(String::from).to_vec();
    let base = Base { set, gear, oracle, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload("zipf-read".into()));
    RunPlan::new(&setup, cards, &unwatched).unwrap()
}

fn block() -> Cards {
    Cards::of(technique("block").unwrap())
}

/// Returns the whole summary, without the time that the run took.
fn told(summary: &Summary) -> serde_json::Value {
    let mut json = serde_json::to_value(summary).unwrap();
    json.as_object_mut().unwrap().remove("simulation").expect("every summary has it");
    json
}

#[test]
fn watchers_take_what_the_summary_counts_and_change_nothing() {
    for (gear, oracle) in
        [(Gear::Timed, Watch::On), (Gear::Untimed, Watch::Off), (Gear::Fluid, Watch::On)]
    {
        let alone = plan(gear, oracle, block());
        let ((one, seen), (other, with_reads)) = (keeps(false), keeps(true));
        let watched = RunPlan { watchers: vec![one, other], ..alone.clone() };
        let summary = execute(&watched, &Unwatched).unwrap().summary;
        assert_eq!(told(&summary), told(&execute(&alone, &Unwatched).unwrap().summary));
        let (seen, with_reads) = (seen.lock().unwrap(), with_reads.lock().unwrap());
        assert_eq!(seen.events, with_reads.events, "the same events in the same order");
        agrees(&seen, &summary);
        assert!(seen.reads.is_empty() && seen.batches.iter().all(|len| *len <= BATCH));
        if gear != Gear::Fluid {
            let handed: usize = with_reads.reads.iter().map(|(_, reads)| reads).sum();
            assert!(handed as u64 >= summary.host.read_requests);
            assert!(with_reads.reads.iter().all(|(_, reads)| *reads <= 32));
            in_order(&with_reads);
        }
    }
}

/// Compares the counts of events with those of the summary.
fn agrees(seen: &Seen, summary: &Summary) {
    for of in Cause::ALL {
        let programmed = seen.counted(|fact| match fact {
            Fact::Programmed { cause, .. } => *cause == of,
            _ => false,
        });
        assert_eq!(programmed, summary.flash.programs.of(of), "{of:?}");
        let erased = seen.counted(|fact| match fact {
            Fact::Erased { cause, .. } => *cause == of,
            _ => false,
        });
        assert_eq!(erased, summary.flash.erases.of(of), "{of:?}");
    }
    let jobs = seen.counted(|fact| match fact {
        Fact::JobBegan { cause, .. } => *cause == Cause::Reclaim,
        _ => false,
    });
    assert_eq!(jobs, summary.reclaim.counts.invocations);
    // A technique is also asked about blocks that GC moves already. These are not counted.
    let alarms = seen.counted(|fact| matches!(fact, Fact::Alarm { .. }));
    assert!(alarms >= summary.reclaim.counts.alarms, "{alarms}");
    assert!(jobs > 10 && summary.flash.programs.of(Cause::Gc) > 0, "{summary:?}");
    let rising = seen.events.windows(2).all(|two| {
        two[0].reads <= two[1].reads
            && two[0].requests <= two[1].requests
            && (two[0].at <= two[1].at || matches!(two[0].fact, Fact::ClockRestarted { .. }))
    });
    assert!(rising);
}

/// Checks that each event comes after the reads before it, of which the event has the number.
fn in_order(seen: &Seen) {
    let (mut reads, mut batches) = (0, seen.reads.iter().peekable());
    for (at, event) in seen.events.iter().enumerate() {
        while let Some((_, more)) = batches.next_if(|(before, _)| *before <= at) {
            reads += *more as u64;
        }
        assert_eq!(event.reads, reads, "event {at}");
    }
}

/// Policy that looks at what a watcher has taken whenever it is asked.
struct Looks {
    block: Box<dyn Policy>,
    seen: Arc<Mutex<Seen>>,
}

impl Policy for Looks {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.block.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let last = self.seen.lock().unwrap().events.last().map(|event| event.fact);
        assert_eq!(last, Some(Fact::Alarm { block }), "all earlier events were handed over");
        self.block.on_alarm(view, block, out)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.block.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        self.block.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.block.explain(view, pec)
    }
}

#[test]
fn a_batch_ends_before_the_technique_is_asked() {
    for gear in [Gear::Timed, Gear::Untimed] {
        let (watching, seen) = keeps(false);
        let of_policy = seen.clone();
        let block = technique("block").unwrap();
        let given = Given { protects: block.protects, needs: block.needs, ..Given::new("looks") };
        let looks: &'static Technique = given.card::<dyn Policy>(move |_, config, seed| {
            Box::new(Looks { block: block.make(config, seed.of_run()), seen: of_policy.clone() })
        });
        let plan = plan(gear, Watch::On, Cards::of(looks));
        execute(&RunPlan { watchers: vec![watching], ..plan }, &Unwatched).unwrap();
        assert!(seen.lock().unwrap().count(|fact| matches!(fact, Fact::Alarm { .. })) > 10);
    }
}

/// GC policy that panics at its first question.
struct Panics;

impl GcPolicy for Panics {
    fn pick(&mut self, _: &Candidates) -> Option<BlockId> {
        panic!("of this policy")
    }
}

#[test]
fn a_panic_does_not_keep_the_last_events_back() {
    let gc = Given::new("panics").card::<dyn GcPolicy>(|_, _, _| Box::new(Panics));
    let cards = Cards { gc, ..Cards::of(technique("none").unwrap()) };
    let (watching, seen) = keeps(false);
    let watchers = vec![watching];
    let plan = RunPlan { watchers, ..plan(Gear::Untimed, Watch::Off, cards) };
    let why = execute(&plan, &Unwatched).map(|_| ()).unwrap_err().to_string();
    assert!(
        why.starts_with("gc technique `panics`, in pick: it panicked: of this policy"),
        "{why}"
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen.batches, [seen.events.len()], "without an alarm, one batch");
    assert!(seen.count(|fact| matches!(fact, Fact::Wrote { .. })) > 0);
}

/// Watcher that panics in its first batch, and counts its calls.
struct Fails(Arc<Mutex<u32>>);

impl Watcher for Fails {
    fn events(&mut self, _: &[Event]) {
        *self.0.lock().unwrap() += 1;
        std::panic::resume_unwind(Box::new("of this watcher"));
    }
}

#[test]
fn a_watcher_that_panics_ends_the_run_and_takes_nothing_more() {
    let (calls, (keeps, seen)) = (Arc::new(Mutex::new(0)), keeps(false));
    let of_watcher = calls.clone();
    let fails = Watching::new(move |_| Box::new(Fails(of_watcher.clone())));
    let watchers = vec![fails, keeps];
    let plan = RunPlan { watchers, ..plan(Gear::Untimed, Watch::On, block()) };
    let ended = catch_unwind(AssertUnwindSafe(|| execute(&plan, &Unwatched).map(|_| ())));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"of this watcher"));
    assert_eq!(*calls.lock().unwrap(), 1);
    assert!(!seen.lock().unwrap().events.is_empty(), "the other watcher still takes its events");
}
