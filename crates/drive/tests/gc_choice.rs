//! Victims of GC on small drives: each policy picks the block that its definition names.
//!
//! `greedy` picks the block with the fewest valid pages, and among several the one unchanged for
//! the longest time. `cost-benefit` picks the largest (1 - u) / 2u x age. `stable-greedy` takes the
//! first four blocks of each list near the emptiest. Of these it keeps the blocks at least half as
//! old as the oldest, and picks the least worn one.
//!
//! Numbers of valid pages are those of the drive's own writes, trims and programs.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex};

use crate::common;

use common::{Uniform, config, dies};
use vpass_drive::api::gc::{Candidates, GcPolicy};
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_drive::watch::observer::{Event, NO_LPN, Observer};
use vpass_techniques::{card, usual};

/// Number of blocks in each list that `stable-greedy` considers.
const LOOK: usize = 4;
/// Relative difference up to which scores of `cost-benefit` count as equal. Arithmetic in another
/// order may round differently.
const ROUNDING: f64 = 1e-9;
/// Share of a block's pages by which a victim of `stable-greedy` may hold more than the emptiest
/// block.
const SLACK: f64 = 0.05;

/// A candidate for GC.
#[derive(Clone, Copy, Debug)]
struct Choice {
    block: BlockId,
    valid: u32,
    /// Page programs since the block entered its list.
    age: u32,
    /// Position of the block in its list.
    place: usize,
}

/// Place of each host page on flash, and number of valid pages of each block, from events alone.
#[derive(Default)]
struct Valid {
    pages_per_block: u32,
    places: Vec<Option<Ppn>>,
    of_block: Vec<u32>,
}

impl Valid {
    fn block_of(&self, ppn: Ppn) -> usize {
        (ppn.number() / self.pages_per_block) as usize
    }

    fn put(&mut self, lpn: Lpn, ppn: Ppn) {
        self.leaves(lpn);
        self.places[lpn.index()] = Some(ppn);
        let block = self.block_of(ppn);
        self.of_block[block] += 1;
    }

    fn leaves(&mut self, lpn: Lpn) {
        if let Some(ppn) = self.places[lpn.index()].take() {
            let block = self.block_of(ppn);
            self.of_block[block] -= 1;
        }
    }
}

/// Observer that keeps [`Valid`].
struct Counter(Arc<Mutex<Valid>>);

impl Observer for Counter {
    fn take(&mut self, event: Event<'_>) {
        let mut valid = self.0.lock().unwrap();
        match event {
            Event::Wrote { lpn, whole: true, .. } | Event::Trimmed { lpn } => valid.leaves(lpn),
            Event::Preloaded { block, lpns } => {
                let first = Ppn::new(block.number() * valid.pages_per_block);
                for (page, lpn) in (0..).zip(lpns).filter(|(_, lpn)| **lpn != NO_LPN) {
                    valid.put(*lpn, first + page);
                }
            }
            Event::Programmed { ppn, lpn, .. } => valid.put(lpn, ppn),
            _ => {}
        }
    }
}

/// Number of picks, and the first wrong one.
#[derive(Default)]
struct Verdict {
    picks: u32,
    fault: Option<String>,
}

/// GC policy whose picks are compared with its definition.
struct Referee {
    policy: Box<dyn GcPolicy>,
    name: &'static str,
    valid: Arc<Mutex<Valid>>,
    verdict: Arc<Mutex<Verdict>>,
}

impl Referee {
    /// Returns the fault of a pick, if it has one.
    fn fault(&self, among: &Candidates, picked: Option<BlockId>) -> Option<String> {
        let choices = match choices(among) {
            Ok(choices) => choices,
            Err(fault) => return Some(fault),
        };
        let valid = self.valid.lock().unwrap();
        let right = |choice: &&Choice| valid.of_block[choice.block.index()] == choice.valid;
        if let Some(wrong) = choices.iter().find(|choice| !right(choice)) {
            let own = valid.of_block[wrong.block.index()];
            return Some(format!("{wrong:?} has {own} valid pages"));
        }
        let Some(picked) = picked else {
            return (!choices.is_empty())
                .then(|| format!("GC finds no victim among {} candidates", choices.len()));
        };
        let Some(picked) = choices.iter().find(|choice| choice.block == picked) else {
            return Some(format!("GC picks block {picked}, which is not a candidate"));
        };
        let (best, alike) = match self.name {
            "greedy" => {
                let best = choices.iter().min_by_key(|c| (c.valid, c.place))?;
                (best, picked.block == best.block)
            }
            "cost-benefit" => {
                let by_benefit =
                    |a: &&Choice, b: &&Choice| benefit(among, a).total_cmp(&benefit(among, b));
                let best = choices.iter().max_by(by_benefit)?;
                (best, benefit(among, picked) >= benefit(among, best) * (1.0 - ROUNDING))
            }
            _ => {
                let best = most_stable(among, &choices)?;
                let wear = |choice: &Choice| (among.wear)(choice.block);
                (best, wear(picked) == wear(best) && picked.age == best.age)
            }
        };
        (!alike).then(|| format!("{} picks {picked:?} instead of {best:?}", self.name))
    }
}

fn most_stable<'a>(among: &Candidates, choices: &'a [Choice]) -> Option<&'a Choice> {
    let emptiest = choices.iter().map(|c| c.valid).min()?;
    let fullest = emptiest + (SLACK * f64::from(among.pages_per_block)) as u32;
    let near: Vec<_> = choices.iter().filter(|c| c.valid <= fullest && c.place < LOOK).collect();
    let longest = near.iter().map(|c| c.age).max()?;
    near.into_iter()
        .filter(|c| c.age >= longest / 2)
        .min_by_key(|c| ((among.wear)(c.block), Reverse(c.age)))
}

/// Returns the candidates, each with its position among those with equally many valid pages.
/// Returns an error if their order is wrong.
fn choices(among: &Candidates) -> Result<Vec<Choice>, String> {
    let mut all = vec![];
    for valid in
        among.index.buckets().filter(|valid| among.full_ones || *valid < among.pages_per_block)
    {
        let mut before = u32::MAX;
        let mut place = 0;
        for (block, since) in among.index.in_bucket(valid) {
            let age = among.clock.wrapping_sub(since);
            if age > before {
                return Err(format!(
                    "block {block} with {valid} valid pages is behind a block that entered the \
                     list later"
                ));
            }
            before = age;
            if (among.allowed)(block) {
                all.push(Choice { block, valid, age, place });
                place += 1;
            }
        }
    }
    Ok(all)
}

/// Returns (1 - u) / 2u x age. A block without valid pages costs nothing to clean, so its benefit
/// is infinite.
fn benefit(among: &Candidates, choice: &Choice) -> f64 {
    if choice.valid == 0 {
        return f64::INFINITY;
    }
    let u = f64::from(choice.valid) / f64::from(among.pages_per_block);
    (1.0 - u) / (2.0 * u) * (f64::from(choice.age) + 1.0)
}

impl GcPolicy for Referee {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        let picked = self.policy.pick(among);
        let fault = self.fault(among, picked);
        let mut verdict = self.verdict.lock().unwrap();
        verdict.picks += 1;
        verdict.fault = verdict.fault.take().or(fault);
        picked
    }
}

/// Runs random reads and writes. Returns the verdict on the picks.
fn played(gc: &'static str, keys: &str, timed: bool, read_share: f64) -> Verdict {
    let text = dies(
        2,
        "tlc",
        "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800",
        &format!("drive = {{ spare = 0.3 }}\nstart = {{ overwrite = 1.0 }}\n{keys}"),
    );
    let techniques = Techniques { gc: card(gc), ..usual() };
    let mut drive = Drive::new(config(&text), &techniques, timed).unwrap();
    let verdict = Arc::new(Mutex::new(Verdict::default()));
    let geometry = drive.geometry();
    let valid = Arc::new(Mutex::new(Valid {
        pages_per_block: geometry.pages_per_block,
        places: vec![None; geometry.host_pages as usize],
        of_block: vec![0; geometry.blocks as usize],
    }));
    drive.observe(Box::new(Counter(valid.clone())));
    let told = verdict.clone();
    drive =
        drive.interpose_gc(|policy| Box::new(Referee { policy, name: gc, valid, verdict: told }));
    drive.precondition(1);
    drive.begin_measurement();
    let capacity = drive.config().drive.capacity.unwrap().0;
    let mut source = Uniform { read_share, ..Uniform::reads(30_000, capacity, 16 << 10, 8) };
    if timed {
        Replay::new(&drive).run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    } else {
        run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
    }
    std::mem::take(&mut *verdict.lock().unwrap())
}

#[test]
fn each_policy_picks_the_block_of_its_definition() {
    let disturb = "disturb = { model = \"count\", table = [{ pec = 0, limit = [500] }] }";
    for gc in ["greedy", "cost-benefit", "stable-greedy"] {
        for (keys, timed) in [("", false), ("", true), (disturb, false), (disturb, true)] {
            let Verdict { picks, fault } = played(gc, keys, timed, 0.5);
            assert_eq!(fault, None, "{gc}, timed {timed}, {keys}");
            assert!(picks > 100, "{gc}, timed {timed}: {picks} picks");
        }
    }
}
