//! `vpass compare`: runs the same workload with the same seed on one drive per technique. A table
//! shows the results, and marks the best technique in each column.

mod render;
mod row;

use std::num::NonZeroU32;
use std::path::Path;

use vpass_drive::api::parity::{NO_PARITY, Parity};
use vpass_drive::base::phrase::Phrase;
use vpass_lab::as_json;
use vpass_lab::compare::refused::{Refused, by_reason};
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::{json_of, net, rows};
use vpass_lab::experiments::seeds::seeds_by_default;
use vpass_lab::experiments::{Engine, Rows};
use vpass_lab::failure::Failure;
use vpass_lab::files;
use vpass_lab::kept::Ended;
use vpass_lab::plan::{Chosen, RunPlan, require_few, require_room, room_of_each};
use vpass_lab::results::Summary;
use vpass_lab::run::Outcome;
use vpass_lab::setup;
use vpass_techniques::{all, named};

use crate::args::{CompareArgs, Form};
use crate::call;
use crate::dialect;
use crate::exit::Exit;
use crate::kept::rows_of;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::wants_colour;
pub(crate) use row::Row;

/// Runs a comparison and prints its results.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    args.setup.require_one_sample()?;
    let (plans, refused, seeds) = plans(args, vec![], args.seeds)?;
    plans.iter().try_for_each(|(plan, _)| plan.require_no_acceleration())?;
    out::say_all(&notes(&plans)?);
    out::say_all(
        &by_reason(&refused)
            .into_iter()
            .map(|(labels, why)| format!("{labels}: refused: {why}"))
            .collect::<Vec<_>>(),
    );
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let rows_kept = rows_of(args.page.place_of_rows(args.setup.base.out.as_deref()), args.fresh)?;
    let finished = run_all(&plans, seeds, args, folder.as_ref().map(Folder::path), &rows_kept)?;
    let run: Vec<&RunPlan> = plans.iter().map(|(plan, _)| plan).collect();
    let why_first = finished.iter().find_map(|found| found.as_ref().err()).cloned();
    let (rows, stopped) = rows(&run, finished, seeds as usize);
    if let (true, Some(failure)) = (rows.is_empty(), why_first) {
        rows_kept.done();
        return Err(failure);
    }
    let mut json = json_of(&rows, &stopped, run[0], seeds)?;
    if !refused.is_empty() {
        json["refused"] = as_json::value(&refused)?;
    }
    if let Some(folder) = folder {
        let mut timeless = json.clone();
        out::write_files(folder.path(), [files::timing(&mut timeless)?])?;
        out::write_file(folder.path(), "compare.json", as_json::text(&timeless)?.as_bytes())?;
        out::write_file(folder.path(), "compare.csv", render::csv(&rows).as_bytes())?;
        rows_kept.end(|| folder.finish())?;
    }
    out::print(&match args.form {
        Form { csv: true, .. } => render::csv(&rows),
        Form { markdown: true, .. } => render::markdown(&rows, &refused, &plans[0].0),
        _ if args.setup.base.json => as_json::text(&json)?,
        _ => render::text(&rows, (&stopped, &refused), (&plans[0].0, seeds), args, wants_colour()),
    })?;
    let bugs: Vec<_> = rows.iter().filter(|r| r.has_bug()).map(|r| r.label.as_str()).collect();
    if bugs.is_empty() {
        let stops: Vec<_> =
            stopped.iter().map(|row| format!("under {}: {}", row.label, row.why)).collect();
        return if stops.is_empty() {
            Ok(Exit::Done)
        } else {
            Err(Failure::failed(stops.join("; ")))
        };
    }
    Err(Failure::failed(format!(
        "the oracle found a bug of the drive model under {}; `vpass run` shows the findings",
        bugs.join(", ")
    )))
}

/// Returns the notes to print before the runs. A note about several techniques appears only once.
fn notes(plans: &[(RunPlan, String)]) -> Result<Vec<Phrase>, Failure> {
    let mut notes = plans[0].0.notes()?;
    for note in plans[1..].iter().flat_map(|(plan, _)| plan.promise_notes()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Planned runs with the names of the results folders, a list of the refused techniques, and the
/// number of seeds.
type Plans = (Vec<(RunPlan, String)>, Vec<Refused>, u32);

/// Plans the runs at one point of a sweep, without results folders. `set` has the values of the
/// swept keys at this point.
pub(crate) fn plans_of_point(
    args: &CompareArgs,
    set: Vec<String>,
) -> Result<(Vec<RunPlan>, Vec<Refused>), Failure> {
    let (plans, refused, _) = plans(args, set, Some(seeds_of_sweep(args)))?;
    let plans: Vec<_> =
        plans.into_iter().map(|(plan, _)| RunPlan { files: false, ..plan }).collect();
    plans.iter().try_for_each(RunPlan::require_no_acceleration)?;
    Ok((plans, refused))
}

/// Returns the number of seeds at each point of a sweep.
pub(crate) fn seeds_of_sweep(args: &CompareArgs) -> NonZeroU32 {
    args.seeds.unwrap_or(NonZeroU32::MIN)
}

/// Returns the table of results for one point of a sweep.
pub(crate) fn table_of(
    rows: &[ComparisonRow],
    plan: &RunPlan,
    is_markdown: bool,
    colour: bool,
) -> String {
    render::plain_table(rows, plan, is_markdown, colour)
}

/// Plans every run, in the given order of techniques and with ascending seeds. Refused techniques
/// are returned beside the plans. If every technique is refused, an error is returned. `set` has
/// settings in addition to those of `--set`. If `seeds` is `None`, the length of a run determines
/// the number of seeds.
fn plans(
    args: &CompareArgs,
    set: Vec<String>,
    seeds: Option<NonZeroU32>,
) -> Result<Plans, Failure> {
    let all = all().reclaim.iter().map(|t| t.name.to_owned());
    let brings = |parity: &str| {
        let parts = named::<dyn Parity>(parity)?.parts.as_ref()?;
        args.reclaim.is_empty().then_some(parts.reclaim)
    };
    // A parity technique may include its own reclaim technique. If all chosen parity techniques do
    // so, only the included reclaim techniques run.
    let all: Vec<String> = all
        .filter(|name| args.combined.parities().any(|p| brings(p).is_none_or(|own| *own == **name)))
        .collect();
    let reclaims = if args.reclaim.is_empty() { &all } else { &args.reclaim };
    // The trace may be long. Therefore only the first plan reads the trace, and all other plans are
    // made from the first plan.
    let of_first = Chosen { parity: NO_PARITY, ..args.combined.with(reclaims[0].trim())[0] };
    let mut setup = setup::Setup { fail: args.fail.clone(), ..(&args.setup).into() };
    setup.base.set.extend(set);
    let first = RunPlan::unchecked(&setup, of_first, &bar)?;
    let (mut rows, mut left_out, mut refused): (Vec<RunPlan>, Vec<String>, Vec<Refused>) =
        (vec![], vec![], vec![]);
    for reclaim in reclaims {
        for named in args.combined.with(reclaim.trim()) {
            if brings(named.parity).is_some_and(|own| *own != *named.reclaim) {
                continue;
            }
            match first.with_room_or_not(named) {
                Ok(plan) => rows.push(plan),
                // If the user names no techniques, the comparison leaves out techniques that do not
                // fit the settings.
                Err(refusal)
                    if args.reclaim.is_empty()
                        && first.with_room_or_not(Chosen { reclaim: "none", ..named }).is_ok() =>
                {
                    let sentence = format!("left out: {}", dialect::sentence(&refusal));
                    left_out.extend((!left_out.contains(&sentence)).then_some(sentence));
                }
                // `Refused::of` fails if a technique has an unknown name. The whole comparison then
                // ends.
                Err(refusal) => {
                    let why = dialect::sentence(&refusal);
                    let row = Refused::of(named, args.combined.label_of(named), why)?;
                    if refused.contains(&row) {
                        return Err(named_twice(&row.label));
                    }
                    refused.push(row);
                }
            }
        }
    }
    let rows = with_room(args, rows, &mut refused)?;
    if rows.is_empty() {
        return Err(Failure::usage(
            refused.first().map_or_else(|| left_out.join("; "), |row| row.why.clone()),
        ));
    }
    out::say_all(&left_out);
    let seeds = seeds.map_or_else(|| seeds_by_default(&rows), |seeds| Ok(seeds.get()))?;
    Ok((repeated(args, rows, seeds)?, refused, seeds))
}

fn named_twice(label: &str) -> Failure {
    Failure::usage(format!("{label} is named twice; name each technique once"))
}

/// Returns the plans whose drives have room for the parity pages. All drives offer the same
/// capacity to the host. Plans without room are added to `refused`. If no plan has room, the error
/// names the largest capacity at which all plans have room.
fn with_room(
    args: &CompareArgs,
    rows: Vec<RunPlan>,
    refused: &mut Vec<Refused>,
) -> Result<Vec<RunPlan>, Failure> {
    let why = room_of_each(&rows.iter().collect::<Vec<_>>());
    if why.iter().all(Option::is_some) {
        require_room(&rows.iter().collect::<Vec<_>>())?;
    }
    let mut fitting = vec![];
    for (plan, why) in rows.into_iter().zip(why) {
        match why {
            None => fitting.push(plan),
            Some(why) => {
                refused.push(Refused::of(plan.chosen(), args.combined.label(&plan), why)?);
            }
        }
    }
    Ok(fitting)
}

/// Makes one plan for each run and seed. Each plan is returned with the name of the plan's results
/// folder.
fn repeated(
    args: &CompareArgs,
    rows: Vec<RunPlan>,
    seeds: u32,
) -> Result<Vec<(RunPlan, String)>, Failure> {
    require_few(rows.len(), seeds)?;
    let mut plans: Vec<(RunPlan, String)> = vec![];
    for plan in rows {
        let label = args.combined.label(&plan);
        let named = |p: &RunPlan| (p.reclaim, p.gc, p.refresh, p.parity);
        if plans.iter().any(|(p, _)| named(p) == named(&plan)) {
            return Err(named_twice(&label));
        }
        for i in 0..u64::from(seeds) {
            let plan = plan.with_later_seed(i)?;
            let name = if seeds == 1 {
                label.replace(' ', "")
            } else {
                format!("{}-seed{}", label.replace(' ', ""), plan.seed)
            };
            let files = args.setup.base.out.is_some();
            plans.push((RunPlan { files, ..plan }, name));
        }
    }
    Ok(plans)
}

/// Runs all plans, and one undisturbed twin per seed. The twin runs the same workload on flash that
/// reads do not disturb. The difference to the twin is the wear that reads cause. If one of the
/// plans is such a twin, no further twin runs.
fn run_all(
    plans: &[(RunPlan, String)],
    seeds: u32,
    args: &CompareArgs,
    folder: Option<&Path>,
    rows: &Rows,
) -> Result<Vec<Result<Summary, Failure>>, Failure> {
    let firsts = &plans[..seeds as usize];
    let has_twin =
        |first: &RunPlan| plans.iter().any(|(p, _)| net::is_twin(p) && net::serves(first, p));
    let twins = firsts.iter().filter(|(first, _)| !has_twin(first));
    let twins =
        twins.filter_map(|(first, _)| net::twin_of(first)).map(|twin| (twin, String::new()));
    let all: Vec<(RunPlan, String)> = plans.iter().cloned().chain(twins).collect();
    let mut finished = run_each(&all, plans.len(), args, folder, rows)?;
    for (first, _) in firsts {
        let of_twin = |(i, (p, _)): (usize, &(RunPlan, String))| {
            (net::is_twin(p) && net::serves(first, p)).then(|| finished[i].as_ref().ok())?.cloned()
        };
        let Some(twin) = all.iter().enumerate().find_map(of_twin) else { continue };
        for ((plan, _), run) in plans.iter().zip(&mut finished) {
            if let (true, Ok(run)) = (net::serves(first, plan), run) {
                net::put_into(run, &twin, plan);
            }
        }
    }
    finished.truncate(plans.len());
    Ok(finished)
}

/// Runs these plans. Only the first `shown` plans get results folders.
fn run_each(
    plans: &[(RunPlan, String)],
    shown: usize,
    args: &CompareArgs,
    folder: Option<&Path>,
    rows: &Rows,
) -> Result<Vec<Result<Summary, Failure>>, Failure> {
    let engine = Engine { name: "compare", rows, threads: args.threads, begin: &bar };
    let folder_of = |i: usize| folder.filter(|_| i < shown);
    let call = call::of("compare");
    let row = |i: usize, outcome: Result<&Outcome, &Failure>| {
        Ok(match outcome {
            Ok(outcome) if folder_of(i).is_some() => {
                Row::of(outcome, files::of_run(&plans[i].0, outcome, &call)?)
            }
            Ok(outcome) => Row::of(outcome, vec![]),
            Err(stop) => Row(Ended::Stopped(dialect::sentence(stop))),
        })
    };
    engine.run(
        &plans.iter().map(|(plan, _)| plan).collect::<Vec<_>>(),
        |_| String::new(),
        row,
        |i, row: Row| row.put_into(folder_of(i), &plans[i].1),
    )
}
