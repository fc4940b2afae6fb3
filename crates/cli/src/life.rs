//! `vpass life`: simulates how long a drive lives under a workload, and what wears the drive out.
//! The command compares techniques.

pub(crate) mod args;
mod estimated;
mod render;

use vpass_drive::api::parity::{Parity, has_stripes};
use vpass_drive::base::phrase::Phrase;

use vpass_lab::as_json;
use vpass_lab::compare::refused::{Refused, by_reason};
use vpass_lab::experiments::Rows;
use vpass_lab::failure::{Failure, Kind};
use vpass_lab::life::climb::{Answer, Climb, Climbed, Contender, Live};
use vpass_lab::life::ladder::{Rung, Wanted, work_in};
use vpass_lab::life::record::{Sampled, Setting, json_of};
use vpass_lab::life::summary::Life;
use vpass_lab::life::{self, Lived, OneLife, answer};
use vpass_lab::plan::{Chosen, RunPlan, Tables, require_few};
use vpass_techniques::named;
use vpass_workload::synthetic::Sample;

use self::args::LifeArgs;
use self::estimated::Estimated;
use crate::dialect;
use crate::exit::Exit;

use crate::kept::rows_of;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::wants_colour;

/// Simulates lives of drives and shows the results.
pub(crate) fn life(args: &LifeArgs) -> Result<Exit, Failure> {
    let tables = Tables::default();
    let asked = Asked::new(args, &tables)?;
    if args.estimate {
        let as_data = args.setup.base.json;
        return estimated::alone(&asked.contenders, &asked.refused, &tables, as_data);
    }
    out::say_all(&asked.notes()?);
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let rows = rows_of(args.page.place_of_rows(args.setup.base.out.as_deref()), args.fresh)?;
    let estimated = Estimated::at_once(&asked.contenders, &tables)?;
    let climbed = lived(args, &asked, &rows, &tables)?;
    let refused = asked.refused_with(&climbed)?;
    out::say_all(
        &by_reason(&refused)
            .into_iter()
            .map(|(labels, why)| format!("{labels}: refused: {why}"))
            .collect::<Vec<_>>(),
    );
    let lives: Vec<Life> = climbed.answers.iter().filter_map(Life::answered).collect();
    if lives.is_empty() {
        return Err(no_answer(&climbed));
    }
    let setting = asked.setting(&climbed, &refused);
    let mut json = json_of(&lives, &setting)?;
    estimated.add_to(&mut json, &lives)?;
    if let Some(folder) = folder {
        let call = as_json::text(&crate::call::manifest("life"))?;
        out::write_file(folder.path(), "life.json", as_json::text(&json)?.as_bytes())?;
        out::write_file(folder.path(), "manifest.json", call.as_bytes())?;
        rows.end(|| folder.finish())?;
    }
    let text =
        || render::text(&lives, &setting, &climbed, args, wants_colour()) + &estimated.text(&lives);
    out::print(&if args.setup.base.json { as_json::text(&json)? } else { text() })?;
    let stops: Vec<_> = climbed
        .answers
        .iter()
        .filter_map(|answer| answer.lived.as_ref().err().filter(|why| why.is_stop()))
        .collect();
    exit(&lives, &stops)
}

/// Simulated lives of a drive, for commands such as `vpass llm`.
pub(crate) struct Simulated {
    /// Simulated lives, one for each technique that was not refused.
    pub(crate) lives: Vec<Life>,
    /// Refused techniques, each with a reason.
    pub(crate) refused: Vec<Refused>,
    stops: Vec<Failure>,
}

impl Simulated {
    /// Returns the exit code for these lives.
    ///
    /// # Errors
    /// Returns an error if a life showed a bug of the drive model, or if a life was stopped.
    pub(crate) fn exit(&self) -> Result<Exit, Failure> {
        exit(&self.lives, &self.stops.iter().collect::<Vec<_>>())
    }
}

/// Returns the plans of the requested lives. Nothing is simulated yet.
///
/// # Errors
/// Returns an error if the drive or the workload is invalid.
pub(crate) fn planned(args: &LifeArgs) -> Result<Vec<RunPlan>, Failure> {
    let asked = Asked::new(args, &Tables::default())?;
    Ok(asked.contenders.into_iter().map(|contender| contender.plan).collect())
}

/// Simulates the requested lives.
///
/// # Errors
/// Returns an error if the drive or the workload is invalid, or if no life ended in time.
pub(crate) fn simulated(args: &LifeArgs) -> Result<Simulated, Failure> {
    let tables = Tables::default();
    let asked = Asked::new(args, &tables)?;
    out::say_all(&asked.notes()?);
    let rows = rows_of(None, args.fresh)?;
    let climbed = lived(args, &asked, &rows, &tables)?;
    let lives: Vec<Life> = climbed.answers.iter().filter_map(Life::answered).collect();
    if lives.is_empty() {
        return Err(no_answer(&climbed));
    }
    let stops = climbed.answers.iter().filter_map(|answer| answer.lived.as_ref().err());
    Ok(Simulated {
        refused: asked.refused_with(&climbed)?,
        stops: stops.filter(|why| why.is_stop()).cloned().collect(),
        lives,
    })
}

fn exit(lives: &[Life], stops: &[&Failure]) -> Result<Exit, Failure> {
    let bugs: Vec<_> =
        lives.iter().filter(|life| life.has_bug()).map(|life| life.label.as_str()).collect();
    if !bugs.is_empty() {
        let under = bugs.join(", ");
        return Err(Failure::failed(format!(
            "the oracle found a bug of the drive model under {under}; `vpass run` shows the \
             findings"
        )));
    }
    if let Some(why) = stops.first() {
        return Err(Failure::failed(dialect::sentence(why)));
    }
    let is_answered = lives.iter().any(|life| !life.out_of_work);
    Ok(if is_answered { Exit::Done } else { Exit::Failed })
}

/// Lives that the user requested: one life for each combination of techniques. Combinations that do
/// not fit the drive or the workload are refused.
pub(crate) struct Asked<'a> {
    args: &'a LifeArgs,
    /// Whether every P/E cycle is simulated. If not, vpass climbs the ladder of accuracy.
    exact: bool,
    whole: RunPlan,
    contenders: Vec<Contender>,
    refused: Vec<Refused>,
    /// Number of pages that the workload touches in one sample. `None` if whole drives are
    /// simulated, or if `exact` is set.
    touched: Option<u64>,
}

impl<'a> Asked<'a> {
    /// Plans the requested lives.
    fn new(args: &'a LifeArgs, tables: &Tables) -> Result<Self, Failure> {
        let mut setup: vpass_lab::setup::Setup = (&args.setup).into();
        setup.sample = Sample::WHOLE;
        let samples = args.setup.samples();
        require_few(
            args.reclaim.len() * args.combined.len() * samples.count as usize,
            args.seeds.get(),
        )?;
        let whole =
            RunPlan::unchecked(&setup, args.combined.with(args.reclaim[0].trim())[0], &bar)?;
        life::check(&whole, args.until())?;
        // If the user has set the acceleration of wear, vpass simulates every life with the user's
        // value. An estimate needs no sample.
        let exact = args.is_exact() || args.estimate || whole.drive.config.wear.acceleration != 1;
        let asked = Self { args, exact, whole, contenders: vec![], refused: vec![], touched: None };
        asked.of_each(tables)
    }

    fn of_each(mut self, tables: &Tables) -> Result<Self, Failure> {
        let named: Vec<Chosen> = self
            .args
            .reclaim
            .iter()
            .flat_map(|reclaim| self.args.combined.with(reclaim.trim()))
            .collect();
        let mut first_why = None;
        // To choose a sample, vpass may have to read a long trace. Therefore vpass chooses no
        // sample if no combination of techniques fits the drive.
        let of_whole = named.iter().find_map(|named| self.whole.with(*named).ok());
        let sample = match (self.args.setup.sample, of_whole) {
            (Some(samples), _) => Sample { of: samples.of, residue: 0 },
            (None, Some(plan)) if !self.exact && may_be_sampled(&named) => {
                plan.automatic_sample(tables)?
            }
            (None, _) => Sample::WHOLE,
        };
        let part = self.whole.sampled(sample)?;
        for named in named {
            let label = self.args.combined.label_of(named);
            if self
                .contenders
                .iter()
                .map(|known| &known.label)
                .chain(self.refused.iter().map(|row| &row.label))
                .any(|l| *l == label)
            {
                return Err(Failure::usage(format!(
                    "{label} is named twice; name each technique once"
                )));
            }
            match part.with(named) {
                Ok(plan) => self.contenders.push(Contender { label, plan }),
                Err(why) if why.kind == Kind::Usage => {
                    // `Refused::of` fails if a technique has an unknown name. The whole command
                    // then ends.
                    self.refused.push(Refused::of(named, label, dialect::sentence(&why))?);
                    first_why.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
        if let (true, Some(why)) = (self.contenders.is_empty(), first_why) {
            return Err(why);
        }
        if !sample.is_whole() && !self.exact {
            self.touched =
                Some(self.contenders[0].plan.touched_pages(tables)? / u64::from(sample.of));
        }
        Ok(self)
    }

    /// Returns the notes to print before the simulation. A note about several techniques appears
    /// only once.
    fn notes(&self) -> Result<Vec<Phrase>, Failure> {
        let mut notes = self.contenders[0].plan.notes()?;
        for note in self.contenders[1..].iter().flat_map(|contender| contender.plan.promise_notes())
        {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(notes)
    }

    /// Returns the refused techniques, with those that were refused or stopped only during the
    /// simulation.
    fn refused_with(&self, climbed: &Climbed) -> Result<Vec<Refused>, Failure> {
        let mut refused = self.refused.clone();
        for answer in &climbed.answers {
            let Err(why) = &answer.lived else { continue };
            let contender =
                self.contenders.iter().find(|contender| contender.label == answer.label);
            let plan = &contender.expect("a planned technique").plan;
            let named = plan.chosen();
            refused.push(Refused::of(named, answer.label.clone(), dialect::sentence(why))?);
        }
        Ok(refused)
    }

    fn setting<'s>(&'s self, climbed: &'s Climbed, refused: &'s [Refused]) -> Setting<'s> {
        let plan = &self.contenders[0].plan;
        let lived = climbed
            .answers
            .iter()
            .find(|answer| answer.lived.is_ok())
            .map_or(&[][..], |answer| &answer.plans[..]);
        let samples = lived.iter().filter(|other| other.seed == plan.seed).count().max(1) as u32;
        let blocks = u64::from(
            plan.drive.config.geometry.planes()
                * plan.drive.config.geometry.blocks_per_plane.unwrap_or(0),
        );
        let of_samples = |touched: u64| Sampled {
            pages: touched * u64::from(samples),
            blocks: blocks * u64::from(samples),
        };
        Setting {
            whole: &self.whole,
            plan,
            samples,
            seeds: (lived.len() as u32 / samples).max(1),
            until: self.args.until(),
            rung: climbed.rung,
            sampled: self.touched.map(of_samples),
            refused,
            set: &self.args.setup.base.set,
        }
    }
}

/// Returns the error that explains why no technique has a simulated life.
fn no_answer(climbed: &Climbed) -> Failure {
    let mut failures = climbed.answers.iter().filter_map(|answer| answer.lived.as_ref().err());
    failures.next().expect("a technique has lives, or a reason why it has none").clone()
}

/// Returns whether all techniques can run on samples of the drive. A technique with stripes cannot
/// run on a sample: stripes lie on all dies, but a sample has fewer dies.
fn may_be_sampled(all: &[Chosen]) -> bool {
    let is_striped = |name| named::<dyn Parity>(name).is_some_and(has_stripes);
    !all.iter().any(|chosen| is_striped(chosen.parity))
}

/// Simulates the lives of all techniques. If `exact` is not set, vpass climbs the ladder of
/// accuracy.
fn lived(args: &LifeArgs, asked: &Asked, rows: &Rows, tables: &Tables) -> Result<Climbed, Failure> {
    let mut live = |lives: &[OneLife]| live_or_take(args, lives, rows, tables);
    if asked.exact {
        return exact(args, asked, &mut live);
    }
    let climb = Climb {
        rung: args.rung.map(Rung::of_number).transpose()?,
        wanted: Wanted {
            within: args.within,
            work: Some(work_in(args.minutes() * asked.contenders.len() as f64)),
        },
        seeds: args.seeds.get(),
        samples: args.setup.sample.map(|samples| samples.count),
        touched: asked.touched,
    };
    let drive = &asked.whole.drive.name;
    climb.go(&asked.contenders, &mut live, &mut |climbed| {
        let lives = climbed.answers.iter().filter_map(Life::answered);
        let rung = climbed.rung.map_or(0, |rung| rung.number);
        let said = lives
            .filter_map(|life| answer::sentence(drive, &life))
            .map(|sentence| format!("rung {rung}: {sentence}"));
        out::say_all(&said.collect::<Vec<_>>());
    })
}

/// Simulates every P/E cycle of the lives of all techniques.
fn exact(args: &LifeArgs, asked: &Asked, live: Live) -> Result<Climbed, Failure> {
    let plans = asked
        .contenders
        .iter()
        .map(|contender| repeated(args, &contender.plan))
        .collect::<Result<Vec<_>, _>>()?;
    let lives = plans.iter().map(Vec::len).sum::<usize>() as u64;
    let most_work = args.minutes.map(|minutes| work_in(minutes * plans.len() as f64) / lives);
    let one = |plan| OneLife { plan, windows: None, most_work };
    let lives: Vec<_> = plans.iter().flatten().map(one).collect();
    let mut ended = live(&lives)?.into_iter();
    let answer = |(contender, plans): (&Contender, Vec<RunPlan>)| {
        let of_contender = ended.by_ref().take(plans.len()).collect();
        let factors = vec![1.0; plans.len()];
        let label = contender.label.clone();
        Answer { label, plans, lived: of_contender, factors, is_on_rung: false, interval: None }
    };
    let answers = asked.contenders.iter().zip(plans).map(answer).collect();
    Ok(Climbed { rung: None, answers, end: None })
}

/// Returns a copy of the plan for each combination of seed and sample.
fn repeated(args: &LifeArgs, plan: &RunPlan) -> Result<Vec<RunPlan>, Failure> {
    let mut plans = vec![];
    for i in 0..u64::from(args.seeds.get()) {
        let plan = plan.with_later_seed(i)?;
        for residue in args.setup.samples().residues() {
            plans.push(plan.clone().of_residue(residue));
        }
    }
    Ok(plans)
}

/// Reads the lives that an earlier command stored, and simulates the missing lives.
fn live_or_take(
    args: &LifeArgs,
    lives: &[OneLife],
    rows: &Rows,
    tables: &Tables,
) -> Result<Vec<Result<Lived, Failure>>, Failure> {
    let plans = lives.iter().map(|one| one.plan).collect();
    let resumed = rows.resumed("life", plans, |i| {
        format!("{:?} {:?} {:?}", args.until(), lives[i].windows, lives[i].most_work)
    })?;
    let (known, missing) = resumed.found();
    let living: Vec<OneLife> = missing.iter().map(|i| lives[*i]).collect();
    let keep = |n: usize, lived: &Lived| resumed.keep(missing[n], lived);
    let ended = life::live_each(&living, args.until(), args.threads, tables, &bar, &keep)?;
    let mut all: Vec<_> = known.into_iter().map(|life| life.map(Ok)).collect();
    for (i, life) in missing.into_iter().zip(ended) {
        all[i] = Some(life);
    }
    Ok(all.into_iter().map(|life| life.expect("a kept or simulated life")).collect())
}
