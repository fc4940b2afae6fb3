//! `vpass life`: how long a drive lives under a workload, what consumes its life, and with which technique or setting it lives longest.

pub(crate) mod args;
mod estimated;
mod key;
mod render;

use vpass_lab::as_json;
use vpass_lab::failure::{Failure, Kind};
use vpass_lab::life::find::{self, CLOSER, Point, Section};
use vpass_lab::life::summary::{Life, json_of, warnings};
use vpass_lab::life::{self, Lived};
use vpass_lab::plan::{RunPlan, require_few};

use self::args::LifeArgs;
use self::estimated::Estimated;
use self::key::Knob;
use crate::exit::Exit;
use crate::kept::Rows;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::{wants_colour, wrapped};

/// Lives and shows them.
pub(crate) fn life(args: &LifeArgs) -> Result<Exit, Failure> {
    let first = first(args, &[])?;
    out::say_all(&notes(args, &first)?);
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let rows = Rows::of(args.setup.base.out.as_deref(), args.fresh)?;
    if let Some(key) = &args.find {
        return find_best(args, key, &first, folder, &rows);
    }
    let named = techniques(args, &first)?;
    let estimated = Estimated::at_once(named.iter().map(|(label, plans)| (label.as_str(), &plans[0])))?;
    let lives = lives(args, &first, &rows)?;
    let mut json = json_of(&lives, &first, args.setup.sample.count, args.seeds.get(), args.until())?;
    estimated.add_to(&mut json, &lives)?;
    life::record::add_to(&mut json, &first, &args.setup.base.set)?;
    if let Some(folder) = folder {
        out::write_file(folder.path(), "life.json", as_json::text(&json)?.as_bytes())?;
        folder.finish()?;
        rows.done();
    }
    let text = || render::text(&lives, &first, args, wants_colour()) + &estimated.text(&lives);
    out::print(&if args.setup.base.json { as_json::text(&json)? } else { text() })?;
    exit(&lives)
}

fn exit(lives: &[Life]) -> Result<Exit, Failure> {
    let bugs: Vec<_> = lives.iter().filter(|life| life.has_bug()).map(|life| life.label.as_str()).collect();
    if bugs.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::failed(format!("the oracle found a bug of the drive model under {}; `vpass run` shows the findings", bugs.join(", "))))
}

/// The plan of the first techniques named, with other values for some keys.
fn first(args: &LifeArgs, set: &[String]) -> Result<RunPlan, Failure> {
    let mut setup: vpass_lab::setup::Setup = (&args.setup).into();
    setup.base.set.extend_from_slice(set);
    let named = args.combined.with(args.reclaim[0].trim())[0];
    let plan = RunPlan::new(&setup, named, &bar)?;
    life::check(&plan, args.until())?;
    Ok(plan)
}

/// What is to be known before the lives; once, what is the same for several techniques.
fn notes(args: &LifeArgs, first: &RunPlan) -> Result<Vec<String>, Failure> {
    let mut notes = first.notes()?;
    for (_, plans) in techniques(args, first)? {
        for note in plans[0].promise_notes() {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// Every combination of techniques with its plans: seeds, and samples of each.
fn techniques(args: &LifeArgs, first: &RunPlan) -> Result<Vec<(String, Vec<RunPlan>)>, Failure> {
    require_few(args.reclaim.len() * args.combined.len() * args.setup.sample.count as usize, args.seeds.get())?;
    let mut all: Vec<(String, Vec<RunPlan>)> = vec![];
    for reclaim in &args.reclaim {
        for named in args.combined.with(reclaim.trim()) {
            let plan = first.with(named)?;
            let label = args.combined.label(&plan);
            if all.iter().any(|(known, _)| *known == label) {
                return Err(Failure::usage(format!("{label} is named twice; each technique lives once")));
            }
            all.push((label, repeated(args, &plan)?));
        }
    }
    Ok(all)
}

fn repeated(args: &LifeArgs, plan: &RunPlan) -> Result<Vec<RunPlan>, Failure> {
    let mut plans = vec![];
    for i in 0..u64::from(args.seeds.get()) {
        let seed = plan.seed.checked_add(i).ok_or_else(|| Failure::usage("--seed plus --seeds passes 2^64"))?;
        for residue in args.setup.sample.residues() {
            plans.push(RunPlan { seed, ..plan.clone() }.of_residue(residue));
        }
    }
    Ok(plans)
}

/// Lives of all techniques.
fn lives(args: &LifeArgs, first: &RunPlan, rows: &Rows) -> Result<Vec<Life>, Failure> {
    let techniques = techniques(args, first)?;
    let plans: Vec<&RunPlan> = techniques.iter().flat_map(|(_, plans)| plans).collect();
    let mut ended = lived(args, &plans, rows)?.into_iter();
    let of = |(label, plans): (String, Vec<RunPlan>)| {
        let lives: Vec<_> = ended.by_ref().take(plans.len()).collect();
        Life::of(label, &plans, &lives)
    };
    Ok(techniques.into_iter().map(of).collect())
}

/// What is known of each life from an earlier command, and what is found of the others now.
fn lived(args: &LifeArgs, plans: &[&RunPlan], rows: &Rows) -> Result<Vec<Lived>, Failure> {
    let resumed = rows.resumed("life", plans.to_vec(), |_| format!("{:?}", args.until()))?;
    let (mut lived, missing) = resumed.found();
    let living: Vec<&RunPlan> = missing.iter().map(|i| plans[*i]).collect();
    let ended = life::live_each(&living, args.until(), args.threads, &bar, &|n, lived| resumed.keep(missing[n], lived))?;
    for (i, life) in missing.into_iter().zip(ended) {
        lived[i] = Some(life);
    }
    Ok(lived.into_iter().map(|life| life.expect("it was kept, or it was lived")).collect())
}

/// `--find`.
fn find_best(args: &LifeArgs, key: &str, plan: &RunPlan, folder: Option<Folder>, rows: &Rows) -> Result<Exit, Failure> {
    if args.reclaim.len() * args.combined.len() > 1 {
        return Err(Failure::usage("--find looks for one technique's best value; name one technique of each kind"));
    }
    let knob = Knob::new(key, (args.from.as_deref(), args.to.as_deref()), plan)?;
    let mut points: Vec<Point> = vec![];
    for value in find::first_values(knob.from, knob.to) {
        tried(args, &knob, value, &mut points, rows)?;
    }
    if let Some(refused) =
        points.iter().find_map(|point| point.refused.as_ref()).filter(|_| points.iter().all(|point| point.life.is_none()))
    {
        return Err(Failure::usage(format!("--find {key}: the drive is refused with every value; with {}: {refused}", points[0].text)));
    }
    let peaks = find::peaks(&points);
    let best = find::best(&points);
    let neighbour = |i: usize| points[i].value;
    let (low, high) = (neighbour(best.saturating_sub(1)), neighbour((best + 1).min(points.len() - 1)));
    let others: Vec<String> = peaks.iter().filter(|i| **i != best).map(|i| points[*i].text.clone()).collect();
    // Where the drive outlives the simulation no value is better than another.
    if low < high && !points[best].lives_on() {
        let mut section = Section::new(low, high);
        for _ in 0..CLOSER {
            let years = tried(args, &knob, section.next(), &mut points, rows)?;
            section.found(years);
        }
    }
    let csv = find::csv(key, &points);
    if let Some(folder) = folder {
        out::write_file(folder.path(), "find.csv", csv.as_bytes())?;
        folder.finish()?;
        rows.done();
    }
    out::print(&if args.setup.base.json { as_json::text(&find::json_of(key, &points, &others)?)? } else { csv })?;
    out::say_wrapped(&wrapped(&find::verdict(key, &points, &others), 0));
    out::say_all(&warnings(points.iter().filter_map(|point| point.life.as_ref())));
    exit(&points.into_iter().filter_map(|point| point.life).collect::<Vec<_>>())
}

/// Lives with a value of the key, unless that was tried before; gives the years. A value with which the drive is refused is no failure.
fn tried(args: &LifeArgs, knob: &Knob, value: f64, points: &mut Vec<Point>, rows: &Rows) -> Result<f64, Failure> {
    let text = knob.text(value);
    if let Some(known) = points.iter().find(|point| point.text == text) {
        return Ok(known.rank());
    }
    let outcome = first(args, &[format!("{}={text}", knob.path)]).and_then(|plan| lives(args, &plan, rows));
    let (life, refused) = match outcome {
        Ok(mut lives) => (Some(lives.remove(0)), None),
        Err(failure) if failure.kind == Kind::Usage => (None, Some(failure.sentence)),
        Err(failure) => return Err(failure),
    };
    let point = Point { value: knob.value(&text), text, life, refused };
    let rank = point.rank();
    points.push(point);
    Ok(rank)
}
