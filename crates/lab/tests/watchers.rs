//! Tests of a caller's observers: they take all events of a run in order, the last ones even after
//! a panic, and change nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use vpass_drive::api::gc::{Candidates, GcPolicy};
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{Action, Policy, Promise, Technique, Threshold, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Ns, Reads};
use vpass_drive::watch::observer::{Event, Observer};
use vpass_drive::watch::row::{Row, reads_of};
use vpass_lab::plan::{Cards, RunPlan, Watching};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};
use vpass_techniques::card;

/// Event that an observer took, with the time and the numbers of requests and reads before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noted {
    at: Ns,
    requests: u64,
    reads: u64,
    row: Row,
}

impl Noted {
    fn is(&self, kind: &str) -> bool {
        Row::KINDS[self.row.kind as usize] == kind
    }
}

/// Events that an observer took, and what it counts.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    events: Vec<Noted>,
    at: Ns,
    requests: u64,
    reads: u64,
    largest_batch: usize,
}

impl Seen {
    fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event.is(kind)).count()
    }

    /// Returns the number of events of this kind and cause since counting began.
    fn counted(&self, kind: &str, cause: Option<Cause>) -> u64 {
        let begins = self.events.iter().position(|event| event.is("measured_phase"));
        let counted = &self.events[begins.expect("each run has a measured phase")..];
        let of_cause = |event: &&Noted| event.is(kind) && event.row.cause == cause;
        counted.iter().filter(of_cause).count() as u64
    }
}

/// Observer that keeps all events where the test finds them.
struct Keeps(Arc<Mutex<Seen>>);

impl Observer for Keeps {
    fn take(&mut self, event: Event<'_>) {
        let seen = &mut *self.0.lock().unwrap();
        match event {
            Event::Now { at } => seen.at = at,
            Event::Requests { first, requests } => seen.requests = first + requests.len() as u64,
            Event::Reads { batch } => seen.largest_batch = seen.largest_batch.max(batch.len()),
            _ => {}
        }
        seen.reads += reads_of(&event);
        let Seen { at, requests, reads, .. } = *seen;
        seen.events.extend(Row::of(&event).map(|row| Noted { at, requests, reads, row }));
        if let Event::ClockRestarted { .. } = event {
            seen.at = 0;
        }
    }

    fn hears_alarms(&self) -> bool {
        true
    }
}

fn keeps() -> (Watching, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let kept = seen.clone();
    (Watching::new(move |_| Box::new(Keeps(kept.clone()))), seen)
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
    Cards::of(card("block"))
}

/// Returns the whole summary, without the time that the run took.
fn told(summary: &Summary) -> serde_json::Value {
    let mut json = serde_json::to_value(summary).unwrap();
    json.as_object_mut().unwrap().remove("simulation").expect("every summary has it");
    json
}

#[test]
fn observers_take_what_the_summary_counts_and_change_nothing() {
    for (gear, oracle) in
        [(Gear::Timed, Watch::On), (Gear::Untimed, Watch::Off), (Gear::Fluid, Watch::On)]
    {
        let alone = plan(gear, oracle, block());
        let ((one, seen), (other, also)) = (keeps(), keeps());
        let watched = RunPlan { watchers: vec![one, other], ..alone.clone() };
        let summary = execute(&watched, &Unwatched).unwrap().summary;
        assert_eq!(told(&summary), told(&execute(&alone, &Unwatched).unwrap().summary));
        let seen = seen.lock().unwrap();
        assert_eq!(*seen, *also.lock().unwrap(), "the same events in the same order");
        agrees(&seen, &summary);
        assert!(seen.reads >= summary.host.read_requests && seen.largest_batch <= 32);
    }
}

/// Compares the counts of events with those of the summary.
fn agrees(seen: &Seen, summary: &Summary) {
    for of in Cause::ALL {
        let programmed = seen.counted("programmed", Some(of));
        assert_eq!(programmed, summary.flash.programs.of(of), "{of:?}");
        assert_eq!(seen.counted("erased", Some(of)), summary.flash.erases.of(of), "{of:?}");
    }
    let jobs = seen.counted("job_began", Some(Cause::Reclaim));
    assert_eq!(jobs, summary.reclaim.counts.invocations);
    // A technique is also asked about blocks that GC moves already. These are not counted.
    let alarms = seen.counted("alarm", None);
    assert!(alarms >= summary.reclaim.counts.alarms, "{alarms}");
    assert!(jobs > 10 && summary.flash.programs.of(Cause::Gc) > 0, "{summary:?}");
    let rising = seen.events.windows(2).all(|two| {
        two[0].reads <= two[1].reads
            && two[0].requests <= two[1].requests
            && (two[0].at <= two[1].at || two[0].is("clock_restarted"))
    });
    assert!(rising);
}

/// Policy that looks at what an observer has taken whenever it is asked.
struct Looks {
    block: Box<dyn Policy>,
    seen: Arc<Mutex<Seen>>,
}

impl Policy for Looks {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.block.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let last = *self.seen.lock().unwrap().events.last().expect("at least the alarm");
        assert!(last.is("alarm") && last.row.block == Some(block), "{last:?} is not the alarm");
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
fn an_alarm_is_reported_before_the_technique_is_asked() {
    for gear in [Gear::Timed, Gear::Untimed] {
        let (watching, seen) = keeps();
        let of_policy = seen.clone();
        let block = card("block");
        let given = Given { protects: block.protects, needs: block.needs, ..Given::new("looks") };
        let looks: &'static Technique = given.card::<dyn Policy>(move |_, config, seed| {
            Box::new(Looks { block: block.make(config, seed.of_run()), seen: of_policy.clone() })
        });
        let plan = plan(gear, Watch::On, Cards::of(looks));
        execute(&RunPlan { watchers: vec![watching], ..plan }, &Unwatched).unwrap();
        assert!(seen.lock().unwrap().count("alarm") > 10);
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
    let cards = Cards { gc, ..Cards::of(card("none")) };
    let (watching, seen) = keeps();
    let watchers = vec![watching];
    let plan = RunPlan { watchers, ..plan(Gear::Untimed, Watch::Off, cards) };
    let why = execute(&plan, &Unwatched).map(|_| ()).unwrap_err().to_string();
    assert!(
        why.starts_with("gc technique `panics`, in pick: it panicked: of this policy"),
        "{why}"
    );
    assert!(seen.lock().unwrap().count("wrote") > 0);
}

/// Observer that panics at the first page that is programmed, and counts its calls from then on.
struct Fails(Arc<Mutex<u32>>);

impl Observer for Fails {
    fn take(&mut self, event: Event<'_>) {
        if *self.0.lock().unwrap() > 0 || matches!(event, Event::Programmed { .. }) {
            *self.0.lock().unwrap() += 1;
            std::panic::resume_unwind(Box::new("of this observer"));
        }
    }
}

#[test]
fn an_observer_that_panics_ends_the_run_and_takes_nothing_more() {
    let (calls, (keeps, seen)) = (Arc::new(Mutex::new(0)), keeps());
    let of_observer = calls.clone();
    let fails = Watching::new(move |_| Box::new(Fails(of_observer.clone())));
    let watchers = vec![fails, keeps];
    let plan = RunPlan { watchers, ..plan(Gear::Untimed, Watch::On, block()) };
    let ended = catch_unwind(AssertUnwindSafe(|| execute(&plan, &Unwatched).map(|_| ())));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"of this observer"));
    assert_eq!(*calls.lock().unwrap(), 1);
    assert!(!seen.lock().unwrap().events.is_empty(), "the other observer took its events");
}
