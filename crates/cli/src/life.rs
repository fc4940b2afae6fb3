//! `vpass life`: how long a drive lives under a workload, what consumes its life, and with which technique or setting it lives longest.

pub(crate) mod args;
mod key;
mod render;

use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::life;
use vpass_lab::life::find::{self, CLOSER, Point, Section};
use vpass_lab::life::summary::{Life, json_of};
use vpass_lab::plan::RunPlan;

use self::args::LifeArgs;
use self::key::Knob;
use crate::exit::Exit;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::{wants_colour, wrapped};

/// Lives and shows them.
pub(crate) fn life(args: &LifeArgs) -> Result<Exit, Failure> {
    let first = first(args, &[])?;
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    if let Some(key) = &args.find {
        return find_best(args, key, &first, folder);
    }
    let lives = lives(args, &first)?;
    let json = json_of(&lives, &first, args.setup.sample.count, args.seeds.get(), args.until())?;
    if let Some(folder) = folder {
        out::write_file(folder.path(), "life.json", as_json::text(&json)?.as_bytes())?;
        folder.finish()?;
    }
    out::print(&if args.setup.base.json { as_json::text(&json)? } else { render::text(&lives, &first, args, wants_colour()) })?;
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

/// Every combination of techniques with its plans: seeds, and samples of each.
fn techniques(args: &LifeArgs, first: &RunPlan) -> Result<Vec<(String, Vec<RunPlan>)>, Failure> {
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
fn lives(args: &LifeArgs, first: &RunPlan) -> Result<Vec<Life>, Failure> {
    let techniques = techniques(args, first)?;
    let plans: Vec<RunPlan> = techniques.iter().flat_map(|(_, plans)| plans.iter().cloned()).collect();
    let mut ended = life::live_all(&plans, args.until(), args.threads, &bar)?.into_iter();
    let of = |(label, plans): (String, Vec<RunPlan>)| {
        let lives: Vec<_> = ended.by_ref().take(plans.len()).collect();
        Life::of(label, &plans, &lives)
    };
    Ok(techniques.into_iter().map(of).collect())
}

/// `--find`.
fn find_best(args: &LifeArgs, key: &str, plan: &RunPlan, folder: Option<Folder>) -> Result<Exit, Failure> {
    if args.reclaim.len() * args.combined.len() > 1 {
        return Err(Failure::usage("--find looks for one technique's best value; name one technique of each kind"));
    }
    let knob = Knob::new(key, (args.from.as_deref(), args.to.as_deref()), plan)?;
    let mut points: Vec<Point> = vec![];
    for value in find::first_values(knob.from, knob.to) {
        tried(args, &knob, value, &mut points)?;
    }
    let peaks = find::peaks(&points);
    let best = find::best(&points);
    let neighbour = |i: usize| points[i].value;
    let (low, high) = (neighbour(best.saturating_sub(1)), neighbour((best + 1).min(points.len() - 1)));
    let alone: Vec<String> = peaks.iter().filter(|i| **i != best).map(|i| points[*i].text.clone()).collect();
    if low < high {
        let mut section = Section::new(low, high);
        for _ in 0..CLOSER {
            let years = tried(args, &knob, section.next(), &mut points)?;
            section.found(years);
        }
    }
    let csv = find::csv(key, &points);
    if let Some(folder) = folder {
        out::write_file(folder.path(), "find.csv", csv.as_bytes())?;
        folder.finish()?;
    }
    let best = &points[find::best(&points)];
    out::print(&csv)?;
    let several = if alone.is_empty() {
        String::new()
    } else {
        format!(" There are other peaks, at {}; only the highest was looked at closer.", alone.join(", "))
    };
    let years = best.life.years_text();
    let lossy = points.iter().filter(|point| point.life.lost_data()).count();
    let same = points.iter().all(|point| (point.life.years.mean - best.life.years.mean).abs() < 1e-9);
    let sentence = if lossy == points.len() {
        format!("Data was lost with each of {lossy} values of {key}: none of them is an answer.")
    } else if same {
        format!("{key} makes no difference: {years} years everywhere between {} and {}.", knob.text(knob.from), knob.text(knob.to))
    } else {
        let without = if lossy == 0 { String::new() } else { format!(" With {lossy} of them data was lost, and they do not count.") };
        format!("{key} = {}: the drive lives {years} years, the longest of {} values.{without}{several}", best.text, points.len())
    };
    out::say(&wrapped(&sentence, 0));
    exit(&points.into_iter().map(|point| point.life).collect::<Vec<_>>())
}

/// Lives with a value of the key, unless that was tried before; gives the years.
fn tried(args: &LifeArgs, knob: &Knob, value: f64, points: &mut Vec<Point>) -> Result<f64, Failure> {
    let text = knob.text(value);
    if let Some(known) = points.iter().find(|point| point.text == text) {
        return Ok(known.rank());
    }
    let plan = first(args, &[format!("{}={text}", knob.path)])?;
    let life = lives(args, &plan)?.remove(0);
    let point = Point { value: knob.value(&text), text, life };
    let rank = point.rank();
    points.push(point);
    Ok(rank)
}
