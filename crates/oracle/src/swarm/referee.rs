//! Referee between a drive and its GC policy. From the candidates it computes the block that the
//! policy must pick, according to the policy's name.
//!
//! `greedy` picks the block with the fewest valid pages, and among several the one unchanged for
//! the longest time. `cost-benefit` picks the largest (1 - u) / 2u x age. `stable-greedy` takes the
//! first four blocks of each list near the emptiest. Of these it keeps the blocks at least half as
//! old as the oldest, and picks the least worn one.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::api::gc::{Candidates, GcPolicy};
use vpass_drive::base::units::BlockId;
use vpass_drive::config::DriveConfig;
use vpass_techniques::named;

use crate::oracle::fullness::Sight;

/// Number of blocks in each list that `stable-greedy` considers.
const LOOK: usize = 4;
/// Relative difference up to which scores of `cost-benefit` count as equal. Arithmetic in another
/// order may round differently.
const ROUNDING: f64 = 1e-9;

/// First fault found.
pub(super) type Verdict = Arc<Mutex<Option<String>>>;

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

/// Returns the first fault, if there is one.
pub(super) fn fault(verdict: &Verdict) -> Option<String> {
    verdict.lock().unwrap_or_else(PoisonError::into_inner).take()
}

pub(super) struct Referee {
    policy: Box<dyn GcPolicy>,
    sight: Sight,
    name: String,
    /// Largest number of additional valid pages that a victim of `stable-greedy` may have over the
    /// emptiest block, as a share of a block's pages.
    slack: f64,
    verdict: Verdict,
}

impl Referee {
    pub(super) fn of(
        policy: Box<dyn GcPolicy>,
        name: &str,
        config: &DriveConfig,
        verdict: &Verdict,
        sight: &Sight,
    ) -> Self {
        let slack = named::<dyn GcPolicy>(name).and_then(|t| {
            t.params.iter().find(|p| p.key == "slack").map(|p| t.args(config).real(p))
        });
        Self {
            policy,
            sight: sight.clone(),
            name: name.to_owned(),
            slack: slack.unwrap_or(0.0),
            verdict: verdict.clone(),
        }
    }

    /// Returns the fault of a pick, if it has one.
    fn fault(&self, among: &Candidates, picked: Option<BlockId>) -> Option<String> {
        let choices = match choices(among) {
            Ok(choices) => choices,
            Err(fault) => return Some(fault),
        };
        let Some(picked) = picked else {
            return (!choices.is_empty())
                .then(|| format!("GC finds no victim among {} candidates", choices.len()));
        };
        let Some(picked) = choices.iter().find(|choice| choice.block == picked) else {
            return Some(format!("GC picks block {picked}, which is not a candidate"));
        };
        let best = match self.name.as_str() {
            "greedy" => choices.iter().min_by_key(|c| (c.valid, c.place))?,
            "cost-benefit" => {
                choices.iter().max_by(|a, b| benefit(among, a).total_cmp(&benefit(among, b)))?
            }
            "stable-greedy" => self.most_stable(among, &choices)?,
            _ => return None,
        };
        let alike = match self.name.as_str() {
            "cost-benefit" => benefit(among, picked) >= benefit(among, best) * (1.0 - ROUNDING),
            "stable-greedy" => {
                (among.wear)(picked.block) == (among.wear)(best.block) && picked.age == best.age
            }
            _ => picked.block == best.block,
        };
        (!alike).then(|| format!("{} picks {picked:?} instead of {best:?}", self.name))
    }

    fn most_stable<'a>(&self, among: &Candidates, choices: &'a [Choice]) -> Option<&'a Choice> {
        let emptiest = choices.iter().map(|c| c.valid).min()?;
        let fullest = emptiest + (self.slack * f64::from(among.pages_per_block)) as u32;
        let near: Vec<_> =
            choices.iter().filter(|c| c.valid <= fullest && c.place < LOOK).collect();
        let longest = near.iter().map(|c| c.age).max()?;
        near.into_iter()
            .filter(|c| c.age >= longest / 2)
            .min_by_key(|c| ((among.wear)(c.block), Reverse(c.age)))
    }
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
        let shown = among
            .index
            .buckets()
            .flat_map(|list| among.index.in_bucket(list).map(move |(block, _)| (block, list)));
        *self.sight.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown.collect());
        let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        if verdict.is_none() {
            *verdict = self.fault(among, picked);
        }
        picked
    }
}
