//! A toy drive with garbage collection, correct or with one of three bugs, against the oracle and
//! the reference drive.

use proptest::prelude::*;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::DisturbConfig;
use vpass_drive::drive::audit::MapRow;
use vpass_drive::watch::observer::{Event, NO_LPN, NO_PPN, Observer, Origin, ReadResult};

use crate::common::{Scene, config};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The mover sometimes forgets a page.
    PageDropped,
    /// The map sometimes gets a write at the neighbour of its page.
    LinkedToNeighbour,
    /// The mover sometimes trusts the reverse map alone and moves an outdated page.
    StaleResurrected,
}

const BLOCKS: u32 = 8;
const PAGES: u32 = 12;
const HOST_PAGES: u32 = BLOCKS * PAGES / 2;

/// A page map, one open block and greedy garbage collection.
struct Toy {
    scene: Scene,
    map: Vec<Ppn>,
    back: Vec<Lpn>,
    free: Vec<u32>,
    open: u32,
    next: u32,
    bug: Bug,
    operations: u32,
    occasions: u32,
}

impl Toy {
    fn new(bug: Bug) -> Self {
        Self {
            scene: Scene::new(&config(BLOCKS, PAGES / 3, DisturbConfig::default())),
            map: vec![NO_PPN; HOST_PAGES as usize],
            back: vec![NO_LPN; (BLOCKS * PAGES) as usize],
            free: (1..BLOCKS).collect(),
            open: 0,
            next: 0,
            bug,
            operations: 0,
            occasions: 0,
        }
    }

    /// Returns whether the bug acts, which it does on every 50th chance.
    fn slips(&mut self, bug: Bug) -> bool {
        self.occasions += u32::from(self.bug == bug);
        self.bug == bug && self.occasions.is_multiple_of(50)
    }

    fn place(&mut self, lpn: Lpn, origin: Origin, cause: Cause) {
        if self.next == PAGES {
            self.open = self.free.pop().expect("garbage collection keeps blocks free");
            self.next = 0;
        }
        let ppn = Ppn::new(self.open * PAGES + self.next);
        self.next += 1;
        self.scene.program(ppn, lpn, origin, cause);
        self.back[ppn.index()] = lpn;
        let entry = if cause == Cause::Host && self.slips(Bug::LinkedToNeighbour) {
            Lpn::new(lpn.number() ^ 1)
        } else {
            lpn
        };
        self.map[entry.index()] = ppn;
    }

    fn is_valid(&self, ppn: Ppn) -> bool {
        let lpn = self.back[ppn.index()];
        lpn != NO_LPN && self.map[lpn.index()] == ppn
    }

    fn valid(&self, block: u32) -> u32 {
        Ppn::new(block * PAGES).run(PAGES).filter(|ppn| self.is_valid(*ppn)).count() as u32
    }

    fn collect(&mut self) {
        while self.free.len() < 2 {
            let full = (0..BLOCKS).filter(|b| *b != self.open && !self.free.contains(b));
            let victim = full.min_by_key(|b| self.valid(*b)).expect("there are full blocks");
            for ppn in Ppn::new(victim * PAGES).run(PAGES) {
                let lpn = self.back[ppn.index()];
                let stale =
                    lpn != NO_LPN && !self.is_valid(ppn) && self.slips(Bug::StaleResurrected);
                if (self.is_valid(ppn) || stale) && !self.slips(Bug::PageDropped) {
                    self.scene.read_by(Cause::Gc, lpn, ppn, ReadResult::Good);
                    self.place(lpn, Origin::Copy(ppn), Cause::Gc);
                }
                self.map.iter_mut().filter(|p| **p == ppn).for_each(|p| *p = NO_PPN);
                self.back[ppn.index()] = NO_LPN;
            }
            self.scene.erase(BlockId::new(victim));
            self.free.insert(0, victim);
        }
    }

    fn serve(&mut self, kind: u32, lpn: Lpn) {
        self.operations += 1;
        match kind {
            0 => {
                self.scene.oracle.take(Event::Trimmed { lpn });
                self.map[lpn.index()] = NO_PPN;
            }
            1..=3 => self.scene.read(lpn, self.map[lpn.index()]),
            _ => {
                self.collect();
                self.scene.wrote(lpn);
                self.place(lpn, Origin::Host, Cause::Host);
            }
        }
    }

    fn check_map(&mut self) {
        let all = Lpn::range(0..HOST_PAGES).zip(&self.map);
        let entries: Vec<_> = all
            .filter(|(_, ppn)| **ppn != NO_PPN)
            .map(|(lpn, ppn)| MapRow { lpn, ppn: *ppn, buffered: false })
            .collect();
        let valid: Vec<_> = (0..BLOCKS).map(|block| self.valid(block)).collect();
        self.scene.oracle.check_map(entries, |ppn| self.back[ppn.index()], &valid);
    }
}

proptest! {
    #[test]
    fn a_right_drive_is_clean_and_holds_what_the_reference_holds(
        operations in prop::collection::vec((0u32..10, 0..HOST_PAGES), 1..1500),
    ) {
        let mut toy = Toy::new(Bug::None);
        // Number of writes of each page, and whether the page holds data.
        let mut reference = [(0, false); HOST_PAGES as usize];
        for (kind, lpn) in operations.into_iter().map(|(kind, lpn)| (kind, Lpn::new(lpn))) {
            toy.serve(kind, lpn);
            match kind {
                0 => reference[lpn.index()].1 = false,
                1..=3 => {}
                _ => reference[lpn.index()] = (reference[lpn.index()].0 + 1, true),
            }
            let ppn = toy.map[lpn.index()];
            let held = (ppn != NO_PPN).then(|| toy.scene.oracle.content(ppn)).flatten();
            let (version, is_readable) = reference[lpn.index()];
            let newest = is_readable.then_some(version);
            prop_assert_eq!(held, newest.map(|version| (lpn, version)));
            prop_assert_eq!(toy.scene.oracle.newest(lpn), newest);
        }
        toy.check_map();
        toy.scene.clean();
    }
}

#[test]
fn each_bug_is_caught_within_a_thousand_operations() {
    for bug in [Bug::PageDropped, Bug::LinkedToNeighbour, Bug::StaleResurrected] {
        let mut toy = Toy::new(bug);
        // Knuth's multiplicative generator gives a fixed stream, and any other would do.
        let mut state = 1u64;
        while !toy.scene.oracle.report().is_bug() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            toy.serve((state >> 33) as u32 % 10, Lpn::new((state >> 40) as u32 % HOST_PAGES));
            assert!(toy.operations < 1000, "{bug:?} was not caught");
        }
        let report = toy.scene.oracle.report();
        assert!(report.stamp_errors > 0, "{bug:?}: {:?}", report.findings);
    }
}
