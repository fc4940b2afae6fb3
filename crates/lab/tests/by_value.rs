//! Tests of techniques made at run time: they run as listed ones do, and a wrong answer or a panic
//! ends the run by the technique's name.

use std::num::NonZeroUsize;

use vpass_drive::api::card::{Card, InSlot};
use vpass_drive::api::gc::{Candidates, GcPolicy};
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{
    Action, Destination, Part, Policy, Promise, Rewrite, Technique, Threshold, View,
};
use vpass_drive::api::refresh::{Aged, Refresh, Wanted};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Moment, PageInBlock, Reads};
use vpass_lab::life::{Until, live_all};
use vpass_lab::plan::{Cards, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup};
use vpass_techniques::{all, card};

/// Returns a card made at run time that makes the same technique as a listed card.
fn twin<P: InSlot + ?Sized>(listed: &'static Card<P>) -> &'static Card<P> {
    let given = Given {
        summary: listed.summary.into(),
        paper: listed.paper.into(),
        protects: listed.protects,
        keeps_apart: listed.keeps_apart,
        lowers_density: listed.lowers_density,
        needs: listed.needs,
        in_bulk: listed.in_bulk,
        params: listed.params.to_vec(),
        ..Given::new(listed.name)
    };
    given.card(|_, config, seed| listed.make(config, seed.of_run()))
}

fn setup(drive: &str, sets: &[&str]) -> Setup {
    let base = Base { set: sets.iter().map(|set| (*set).into()).collect(), ..Base::new(drive) };
    Setup::new(base, Named::Workload("zipf-read".into()))
}

/// Returns the whole summary of a run, without the time that it took.
fn summary(setup: &Setup, cards: Cards, gear: Gear) -> serde_json::Value {
    let plan = RunPlan { gear, ..RunPlan::new(setup, cards, &unwatched).unwrap() };
    let mut json = serde_json::to_value(execute(&plan, &Unwatched).unwrap().summary).unwrap();
    let members = json.as_object_mut().unwrap();
    members.remove("simulation").expect("every summary tells how long the run took");
    json
}

#[test]
fn a_technique_by_value_gives_the_summary_of_its_listed_twin() {
    let reclaim = |name| card(name);
    let plain = Cards::of(reclaim("block"));
    for gear in [Gear::Timed, Gear::Untimed] {
        for name in ["block", "straw-wl", "chance-probe"] {
            let listed = Cards::of(reclaim(name));
            let given = Cards { reclaim: twin(listed.reclaim), ..listed };
            let setup = setup("tiny", &["workload.requests=150000", "workload.read_share=0.9"]);
            assert_eq!(summary(&setup, listed, gear), summary(&setup, given, gear), "{name}");
        }
        for gc in all().gc {
            let (listed, given) = (Cards { gc, ..plain }, Cards { gc: twin(gc), ..plain });
            let setup = setup("tiny", &["workload.requests=50000", "workload.read_share=0.5"]);
            assert_eq!(summary(&setup, listed, gear), summary(&setup, given, gear), "{}", gc.name);
        }
        for parity in ["raid5"].map(card) {
            let (listed, given) =
                (Cards { parity, ..plain }, Cards { parity: twin(parity), ..plain });
            let setup = setup(
                "modern-tlc",
                &[
                    "workload.requests=5000",
                    "drive.capacity=7018905600",
                    "geometry.blocks_per_plane=4",
                ],
            );
            assert_eq!(
                summary(&setup, listed, gear),
                summary(&setup, given, gear),
                "{}",
                parity.name
            );
        }
    }
}

/// Policy that behaves like `block`, except for one answer.
struct Wrong {
    block: Box<dyn Policy>,
    wrong: Answer,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    AlarmNotAhead,
    PageBeyondTheBlock,
    StreamUnknown,
    NotANumber,
    Panic,
}

impl Policy for Wrong {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.block.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let next = self.block.on_alarm(view, block, out);
        let to = match self.wrong {
            Answer::AlarmNotAhead => return view.reads(block),
            Answer::Panic => panic!("no more"),
            Answer::StreamUnknown => Destination::Stream(77),
            _ => Destination::Within,
        };
        let mut pages =
            vpass_drive::base::page_set::PageSet::none(4 * view.geometry.pages_per_block);
        if let Answer::PageBeyondTheBlock = self.wrong {
            pages.insert(PageInBlock::FIRST, 2 * view.geometry.pages_per_block);
        }
        let pages = matches!(self.wrong, Answer::PageBeyondTheBlock).then_some(pages);
        let wrong = Rewrite { parts: vec![Part { pages, to }], ..Rewrite::all(block) };
        *out = vec![wrong.into()];
        next
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.block.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        match self.block.promise(view, pec) {
            Promise::Within(mut budget) if matches!(self.wrong, Answer::NotANumber) => {
                budget.alpha = f64::NAN;
                Promise::Within(budget)
            }
            promise => promise,
        }
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.block.explain(view, pec)
    }
}

fn wrong(wrong: Answer) -> &'static Technique {
    let block = card("block");
    let given =
        Given { protects: block.protects, needs: block.needs, ..Given::new(format!("{wrong:?}")) };
    given.card::<dyn Policy>(move |_, config, seed| {
        Box::new(Wrong { block: block.make(config, seed.of_run()), wrong })
    })
}

#[test]
fn a_wrong_answer_or_a_panic_ends_the_run_by_the_name_of_the_technique() {
    let setup = setup("tiny", &["workload.requests=300000"]);
    for (answer, method, what) in [
        (
            Answer::AlarmNotAhead,
            "on_alarm",
            "the next alarm must be at a larger read count, or must never come",
        ),
        (
            Answer::PageBeyondTheBlock,
            "on_alarm",
            "the technique names a page that does not exist: a block has",
        ),
        (
            Answer::StreamUnknown,
            "on_alarm",
            "the technique names stream 77, which does not exist: the drive has 4 streams",
        ),
        (Answer::NotANumber, "promise", "is not a number (NaN)"),
        (Answer::Panic, "on_alarm", "it panicked: no more"),
    ] {
        let card = wrong(answer);
        let ended = RunPlan::new(&setup, Cards::of(card), &unwatched)
            .and_then(|plan| execute(&plan, &Unwatched).map(|_| ()));
        let sentence = ended.unwrap_err().to_string();
        let begins = format!("reclaim technique `{answer:?}`, in {method}: ");
        assert!(sentence.starts_with(&begins) && sentence.contains(what), "{sentence}");
    }
}

/// GC policy that picks a block that may not be picked.
struct PicksAnything;

impl GcPolicy for PicksAnything {
    fn pick(&mut self, _among: &Candidates) -> Option<BlockId> {
        BlockId::range(0..1).next()
    }
}

#[test]
fn a_victim_that_may_not_be_picked_ends_the_run() {
    let gc = Given::new("anything").card::<dyn GcPolicy>(|_, _, _| Box::new(PicksAnything));
    let cards = Cards { gc, ..Cards::of(card("block")) };
    let setup = setup("tiny", &["workload.requests=300000", "workload.read_share=0.2"]);
    let plan = RunPlan::new(&setup, cards, &unwatched).unwrap();
    let sentence = execute(&plan, &Unwatched).map(|_| ()).unwrap_err().to_string();
    assert!(
        sentence.starts_with("gc technique `anything`, in pick: the technique picked block 0"),
        "{sentence}"
    );
}

/// Refresh technique that wants to be asked before the data was there.
struct BeforeItsData;

impl Refresh for BeforeItsData {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        Some(since - 1)
    }

    fn done_by(&self, _since: Moment) -> Option<Moment> {
        None
    }

    fn on_time(&mut self, _aged: &Aged) -> Wanted {
        Wanted::Rewrite
    }
}

#[test]
fn a_refresh_time_in_the_past_ends_the_run() {
    let refresh = Given::new("early").card::<dyn Refresh>(|_, _, _| Box::new(BeforeItsData));
    let cards = Cards { refresh: Some(refresh), ..Cards::of(card("block")) };
    let sets = ["workload.requests=20000", "workload.rate=20000", "workload.queue_depth="];
    let ended = RunPlan::new(&setup("tiny", &sets), cards, &unwatched)
        .and_then(|plan| execute(&plan, &Unwatched).map(|_| ()));
    let sentence = ended.unwrap_err().to_string();
    assert!(
        sentence.starts_with("refresh technique `early`, in first_look: the technique names"),
        "{sentence}"
    );
}

#[test]
fn a_refresh_technique_by_value_lives_as_its_listed_twin() {
    let sets = ["workload.requests=200000", "workload.rate=20000", "workload.queue_depth="];
    let setup = setup("tiny", &sets);
    let plain = Cards::of(card("block"));
    let listed = card("block");
    let all = [listed, twin(listed)].map(|refresh| Cards { refresh: Some(refresh), ..plain });
    let one = all.map(|cards| summary(&setup, cards, Gear::Timed));
    assert_eq!(one[0], one[1]);
    let plans = all.map(|cards| RunPlan::new(&setup, cards, &unwatched).unwrap());
    let until = Until { years: Some(2e-5), uber: None };
    let lived = live_all(&plans, until, NonZeroUsize::new(1), &unwatched).unwrap();
    assert_eq!(format!("{:?}", lived[0].end), format!("{:?}", lived[1].end));
}

#[test]
fn a_card_equals_the_name_of_the_list_only_if_it_is_listed() {
    let listed = card::<dyn Policy>("none");
    assert!(*listed == *"none" && *twin(listed) != *"none" && *twin(listed) != *listed);
    assert!(all().refresh[0] == *"none" && all().parity[0] == *"none");
}
