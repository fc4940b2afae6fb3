//! Lives that a user requests: one for each combination of techniques. Combinations that do not fit
//! the drive or the workload are refused.

use std::num::NonZeroUsize;

use vpass_drive::api::parity::{Parity, has_stripes};
use vpass_drive::base::phrase::Phrase;
use vpass_workload::synthetic::Sample;

use super::climb::{Answer, Climb, Climbed, Contender, Live};
use super::ladder::{Rung, Wanted, work_in};
use super::record::{Sampled, Setting};
use super::{Lived, OneLife, Until, check, live_each};
use crate::compare::refused::Refused;
use crate::experiment::{self, Combinations, Rows};
use crate::failure::{Failure, Kind};
use crate::plan::{Chosen, RunPlan, Tables, require_few};
use crate::progress::Begin;
use crate::samples::Samples;
use crate::setup::Setup;

/// Drive, workload, techniques and accuracy of the requested lives.
#[derive(Clone, Debug)]
pub struct Request {
    /// Drive and workload.
    pub setup: Setup,
    /// Samples of the drive; `None` selects them automatically.
    pub samples: Option<Samples>,
    /// Techniques. At least one reclaim technique is named.
    pub combinations: Combinations,
    /// Number of seeds.
    pub seeds: u32,
    /// Conditions that end a life before the drive is worn out.
    pub until: Until,
    /// Whether every P/E cycle is simulated. If not, vpass climbs the ladder of accuracy.
    pub exact: bool,
    /// Only rung that is simulated; `None` climbs the ladder.
    pub rung: Option<u32>,
    /// Largest half width of the intervals, as a share of the life.
    pub within: f64,
    /// Limit of the work per technique in minutes; `None` is without a limit for exact lives, and
    /// the default limit on the ladder.
    pub minutes: Option<f64>,
    /// Number of threads; `None` selects the number of cores.
    pub threads: Option<NonZeroUsize>,
}

/// Default limit of the work per technique on the ladder, in minutes of two quiet cores.
pub const MINUTES: f64 = 3.0;

/// Places where simulated lives and their progress go.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    /// Finished lives on disk.
    pub rows: &'a Rows,
    /// Tables of the workload.
    pub tables: &'a Tables,
    /// Function that starts the progress display.
    pub begin: Begin<'a>,
}

/// Requested lives after their plans were made.
pub struct Planned {
    request: Request,
    /// Plan of the whole drive.
    pub whole: RunPlan,
    /// Techniques that are simulated. There is at least one.
    pub contenders: Vec<Contender>,
    /// Techniques that do not fit the drive or the workload.
    pub refused: Vec<Refused>,
    /// Number of pages that the workload touches in one sample. `None` if whole drives are
    /// simulated, or if every P/E cycle is simulated.
    touched: Option<u64>,
}

impl Planned {
    /// Plans the requested lives.
    ///
    /// # Errors
    /// Returns an error if the drive or the workload is invalid, or if all techniques are refused.
    pub fn new(mut request: Request, tables: &Tables, begin: Begin) -> Result<Self, Failure> {
        request.setup.sample = Sample::WHOLE;
        let named = request.combinations.all();
        let samples = request.samples.unwrap_or(Samples::WHOLE);
        require_few(named.len() * samples.count as usize, request.seeds)?;
        let whole = RunPlan::unchecked(&request.setup, named[0], begin)?;
        check(&whole, request.until)?;
        // If the user has set the acceleration of wear, vpass simulates every life with the user's
        // value.
        let exact = request.exact || whole.drive.config.wear.acceleration != 1;
        let sample = sample(&request, &whole, &named, exact, tables)?;
        let part = whole.sampled(sample)?;
        let (mut contenders, mut refused, mut first_why) = (vec![], vec![], None);
        for named in named {
            let label = request.combinations.label(named);
            match part.with(named) {
                Ok(plan) => contenders.push(Contender { label, plan }),
                Err(why) if why.kind == Kind::Usage => {
                    // `Refused::of` fails if a technique has an unknown name. The whole command
                    // then ends.
                    refused.push(Refused::of(named, label, why.in_dialect(whole.dialect))?);
                    first_why.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
        let labels = contenders.iter().map(|contender| &contender.label);
        let labels: Vec<_> = labels.chain(refused.iter().map(|row| &row.label)).collect();
        experiment::require_distinct(&labels)?;
        if let (true, Some(why)) = (contenders.is_empty(), first_why) {
            return Err(why);
        }
        let is_sampled = !sample.is_whole() && !exact;
        let touched = is_sampled.then(|| contenders[0].plan.touched_pages(tables)).transpose()?;
        let touched = touched.map(|pages| pages / u64::from(sample.of));
        request.exact = exact;
        Ok(Self { request, whole, contenders, refused, touched })
    }

    /// Returns the notes to print before the simulation. A note about several techniques appears
    /// only once.
    ///
    /// # Errors
    /// Returns an error if a trace can no longer be read.
    pub fn notes(&self) -> Result<Vec<Phrase>, Failure> {
        experiment::notes(&self.contenders.iter().map(|one| &one.plan).collect::<Vec<_>>())
    }

    /// Simulates the lives of all techniques. After each rung except the last, passes the answers
    /// so far to `told`.
    ///
    /// # Errors
    /// Returns an error if the user interrupts the simulation.
    pub fn live(&self, to: Output, told: &mut dyn FnMut(&Climbed)) -> Result<Climbed, Failure> {
        let mut live = |lives: &[OneLife]| self.live_or_take(lives, to);
        if self.request.exact {
            return self.exact(&mut live);
        }
        let minutes = self.request.minutes.unwrap_or(MINUTES);
        let climb = Climb {
            rung: self.request.rung.map(Rung::of_number).transpose()?,
            wanted: Wanted {
                within: self.request.within,
                work: Some(work_in(minutes * self.contenders.len() as f64)),
            },
            seeds: self.request.seeds,
            samples: self.request.samples.map(|samples| samples.count),
            touched: self.touched,
        };
        climb.go(&self.contenders, &mut live, told)
    }

    /// Simulates every P/E cycle of the lives of all techniques.
    fn exact(&self, live: Live) -> Result<Climbed, Failure> {
        let plans = self
            .contenders
            .iter()
            .map(|contender| self.repeated(&contender.plan))
            .collect::<Result<Vec<_>, _>>()?;
        let count = plans.iter().map(Vec::len).sum::<usize>() as u64;
        let minutes = self.request.minutes;
        let most_work = minutes.map(|minutes| work_in(minutes * plans.len() as f64) / count);
        let one = |plan| OneLife { plan, windows: None, most_work };
        let lives: Vec<_> = plans.iter().flatten().map(one).collect();
        let mut ended = live(&lives)?.into_iter();
        let answer = |(contender, plans): (&Contender, Vec<RunPlan>)| Answer {
            label: contender.label.clone(),
            lived: ended.by_ref().take(plans.len()).collect(),
            factors: vec![1.0; plans.len()],
            plans,
            is_on_rung: false,
            interval: None,
        };
        let answers = self.contenders.iter().zip(plans).map(answer).collect();
        Ok(Climbed { rung: None, answers, end: None })
    }

    /// Returns a copy of the plan for each combination of seed and sample.
    fn repeated(&self, plan: &RunPlan) -> Result<Vec<RunPlan>, Failure> {
        let samples = self.request.samples.unwrap_or(Samples::WHOLE);
        let mut plans = vec![];
        for i in 0..u64::from(self.request.seeds) {
            let plan = plan.with_later_seed(i)?;
            plans.extend(samples.residues().map(|residue| plan.clone().of_residue(residue)));
        }
        Ok(plans)
    }

    /// Takes the lives that an earlier command stored, and simulates the missing lives.
    fn live_or_take(
        &self,
        lives: &[OneLife],
        to: Output,
    ) -> Result<Vec<Result<Lived, Failure>>, Failure> {
        let until = self.request.until;
        let plans = lives.iter().map(|one| one.plan).collect();
        let resumed = to.rows.resumed("life", plans, |i| {
            format!("{until:?} {:?} {:?}", lives[i].windows, lives[i].most_work)
        })?;
        resumed.completed(
            |_, life| Ok(Ok(life)),
            |missing| {
                let living: Vec<OneLife> = missing.iter().map(|i| lives[*i]).collect();
                let keep = |n: usize, lived: &Lived| resumed.keep(missing[n], lived);
                live_each(&living, until, self.request.threads, to.tables, to.begin, &keep)
            },
        )
    }

    /// Returns the refused techniques, with those that were refused or stopped only during the
    /// simulation.
    ///
    /// # Errors
    /// Returns an error if the name of a technique is unknown.
    pub fn refused_with(&self, climbed: &Climbed) -> Result<Vec<Refused>, Failure> {
        let mut refused = self.refused.clone();
        for answer in &climbed.answers {
            let Err(why) = &answer.lived else { continue };
            let contender = self.contenders.iter().find(|one| one.label == answer.label);
            let plan = &contender.expect("a planned technique").plan;
            let why = why.in_dialect(plan.dialect);
            refused.push(Refused::of(plan.chosen(), answer.label.clone(), why)?);
        }
        Ok(refused)
    }

    /// Returns the facts about all lives, for the files and the text.
    pub fn setting<'s>(&'s self, climbed: &'s Climbed, refused: &'s [Refused]) -> Setting<'s> {
        let plan = &self.contenders[0].plan;
        let lived = climbed
            .answers
            .iter()
            .find(|answer| answer.lived.is_ok())
            .map_or(&[][..], |answer| &answer.plans[..]);
        let samples = lived.iter().filter(|other| other.seed == plan.seed).count().max(1) as u32;
        let geometry = &plan.drive.config.geometry;
        let blocks = u64::from(geometry.planes() * geometry.blocks_per_plane.unwrap_or(0));
        let of_samples = |touched: u64| Sampled {
            pages: touched * u64::from(samples),
            blocks: blocks * u64::from(samples),
        };
        Setting {
            whole: &self.whole,
            plan,
            samples,
            seeds: (lived.len() as u32 / samples).max(1),
            until: self.request.until,
            rung: climbed.rung,
            sampled: self.touched.map(of_samples),
            refused,
            set: &self.request.setup.base.set,
        }
    }
}

/// Returns the sample to simulate. To choose a sample, vpass may have to read a long trace.
/// Therefore vpass chooses no sample if no combination of techniques fits the drive.
fn sample(
    request: &Request,
    whole: &RunPlan,
    named: &[Chosen],
    exact: bool,
    tables: &Tables,
) -> Result<Sample, Failure> {
    let fitting = || named.iter().find_map(|named| whole.with(*named).ok());
    // A technique with stripes cannot run on a sample: stripes lie on all dies, but a sample has
    // fewer dies.
    let is_striped = |chosen: &Chosen| {
        vpass_techniques::named::<dyn Parity>(chosen.parity).is_some_and(has_stripes)
    };
    let may_be_sampled = !exact && !named.iter().any(is_striped);
    match request.samples {
        Some(samples) => Ok(Sample { of: samples.of, residue: 0 }),
        None if may_be_sampled => {
            fitting().map_or(Ok(Sample::WHOLE), |plan| plan.automatic_sample(tables))
        }
        None => Ok(Sample::WHOLE),
    }
}
