//! The same workload and seed on one drive per technique, side by side, each column with its winner.

mod render;

use std::cmp::Reverse;
use std::path::Path;

use vpass_core::slots::parity::{NO_PARITY, reclaim_part};
use vpass_core::slots::reclaim::RECLAIM;
use vpass_lab::as_json;
use vpass_lab::compare::{json_of, rows};
use vpass_lab::failure::Failure;
use vpass_lab::files;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::pool::{self, Job};
use vpass_lab::results::Summary;
use vpass_lab::setup;

use crate::args::{CompareArgs, Form};
use crate::exit::Exit;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::wants_colour;

/// Runs and prints a comparison.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    args.setup.require_one_sample()?;
    let plans = plans(args)?;
    out::say_all(&notes(&plans)?);
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let finished = run_all(&plans, args, folder.as_ref().map(Folder::path))?;
    let run: Vec<&RunPlan> = plans.iter().map(|(plan, _)| plan).collect();
    let rows = rows(&run, finished, args.seeds.get() as usize);
    let json = json_of(&rows, run[0], args.seeds.get())?;
    if let Some(folder) = folder {
        let mut timeless = json.clone();
        out::write_files(folder.path(), [files::timing(&mut timeless)?])?;
        out::write_file(folder.path(), "compare.json", as_json::text(&timeless)?.as_bytes())?;
        out::write_file(folder.path(), "compare.csv", render::csv(&rows).as_bytes())?;
        folder.finish()?;
    }
    out::print(&match args.form {
        Form { csv: true, .. } => render::csv(&rows),
        Form { markdown: true, .. } => render::markdown(&rows, &plans[0].0),
        _ if args.setup.base.json => as_json::text(&json)?,
        _ => render::text(&rows, &plans[0].0, args, wants_colour()),
    })?;
    let bugs: Vec<_> = rows.iter().filter(|r| r.has_bug()).map(|r| r.label.as_str()).collect();
    if bugs.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::failed(format!("the oracle found a bug of the drive model under {}; run it alone for the findings", bugs.join(", "))))
}

/// What is to be known before the runs; once, what is the same for several techniques.
fn notes(plans: &[(RunPlan, String)]) -> Result<Vec<String>, Failure> {
    let mut notes = plans[0].0.notes()?;
    for note in plans[1..].iter().flat_map(|(plan, _)| plan.promise_notes()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Every run with the name of its folder: techniques in the order given, seeds ascending.
fn plans(args: &CompareArgs) -> Result<Vec<(RunPlan, String)>, Failure> {
    let all: Vec<String> = RECLAIM.iter().map(|t| t.name.into()).collect();
    let brings = |parity: &str| reclaim_part(parity).filter(|_| args.reclaim.is_empty());
    // Where each parity technique brings one, no other is at work.
    let all: Vec<String> =
        all.into_iter().filter(|name| args.combined.parities().any(|p| brings(p).is_none_or(|own| own == name))).collect();
    let reclaims = if args.reclaim.is_empty() { &all } else { &args.reclaim };
    let mut plans: Vec<(RunPlan, String)> = vec![];
    // What takes long, such as looking through a trace, is done once.
    let of_first = Chosen { parity: NO_PARITY, ..args.combined.with(reclaims[0].trim())[0] };
    let first = RunPlan::new(&setup::Setup { fail: args.fail.clone(), ..(&args.setup).into() }, of_first, &bar)?;
    // A capacity on which those fit that need most is one on which all do: they say which.
    let must_fit: Vec<&str> = if args.reclaim.is_empty() { vec!["none"] } else { reclaims.iter().map(|name| name.trim()).collect() };
    let must_fit = must_fit.into_iter().flat_map(|reclaim| args.combined.with(reclaim));
    let must_fit = must_fit.map(|named| Chosen { reclaim: brings(named.parity).unwrap_or(named.reclaim), ..named });
    if let Some(neediest) = must_fit.min_by_key(|named| Reverse(first.spare_needed(named))) {
        first.with(neediest)?;
    }
    for reclaim in reclaims {
        for named in args.combined.with(reclaim.trim()) {
            if brings(named.parity).is_some_and(|own| own != named.reclaim) {
                continue;
            }
            let plan = match first.with(named) {
                // Who names no technique gets those that these settings leave room for.
                Err(refusal) if args.reclaim.is_empty() && first.with(Chosen { reclaim: "none", ..named }).is_ok() => {
                    out::say(&format!("vpass: left out: {}", refusal.sentence));
                    continue;
                }
                plan => plan?,
            };
            let label = args.combined.label(&plan);
            let named = |p: &RunPlan| (p.reclaim, p.gc, p.refresh, p.parity);
            if plans.iter().any(|(p, _)| named(p) == named(&plan)) {
                return Err(Failure::usage(format!("{label} is named twice; each technique runs once")));
            }
            for i in 0..u64::from(args.seeds.get()) {
                let seed = plan.seed.checked_add(i).ok_or_else(|| Failure::usage("--seed plus --seeds passes 2^64"))?;
                let name = if args.seeds.get() == 1 { label.replace(' ', "") } else { format!("{}-seed{seed}", label.replace(' ', "")) };
                plans.push((RunPlan { seed, ..plan.clone() }, name));
            }
        }
    }
    Ok(plans)
}

fn run_all(plans: &[(RunPlan, String)], args: &CompareArgs, folder: Option<&Path>) -> Result<Vec<Summary>, Failure> {
    // The same for all techniques and seeds.
    let requests = plans[0].0.requests()?;
    let jobs: Vec<Job> = plans.iter().map(|(plan, _)| Job { plan, requests }).collect();
    pool::run_all(&jobs, args.threads, &bar, |i, outcome| {
        let (plan, name) = &plans[i];
        if let Some(folder) = folder {
            let folder = folder.join(name);
            out::make_folder(&folder)?;
            out::write_files(&folder, files::of_run(plan, outcome, "compare")?)?;
        }
        Ok(outcome.summary.clone())
    })
}
