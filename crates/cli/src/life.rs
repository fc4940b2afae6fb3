//! `vpass life`: simulates how long a drive lives under a workload, and what wears the drive out.
//! The command compares techniques.

pub(crate) mod args;
mod estimated;
mod render;

use vpass_lab::as_json;
use vpass_lab::compare::refused::{Refused, by_reason};
use vpass_lab::failure::Failure;
use vpass_lab::life::answer;
use vpass_lab::life::climb::{Answer, Climbed};
use vpass_lab::life::record::Lives;
use vpass_lab::life::request::{Output, Planned, Request};
use vpass_lab::life::summary::Life;
use vpass_lab::plan::Tables;

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
    let planned = Planned::new(args.request(), &tables, &bar)?;
    if args.estimate {
        let as_data = args.setup.base.json;
        return estimated::alone(&planned.contenders, &planned.refused, &tables, as_data);
    }
    out::say_all(&planned.notes()?);
    let out = args.setup.base.out.as_deref();
    let folder = out.map(Folder::begin).transpose()?;
    let rows = rows_of(args.page.place_of_rows(out), args.fresh)?;
    let estimated = Estimated::at_once(&planned.contenders, &tables)?;
    let to = Output { rows: &rows, tables: &tables, begin: &bar };
    let climbed = planned.live(to, &mut |climbed| say_rung(&planned.whole.drive.name, climbed))?;
    let refused = planned.refused_with(&climbed)?;
    say_refused(&refused);
    let lives = answered(&climbed)?;
    let setting = planned.setting(&climbed, &refused);
    let mut json = as_json::value(&Lives::of(&lives, &setting)?)?;
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
    exit(&lives, &climbed)
}

/// Simulates requested lives, for commands such as `vpass llm`. Returns the lives and the code with
/// which the command exits.
///
/// # Errors
/// Returns an error if the drive or the workload is invalid, or if no life ended in time.
pub(crate) fn simulated(request: Request) -> Result<(Vec<Life>, Result<Exit, Failure>), Failure> {
    let tables = Tables::default();
    let planned = Planned::new(request, &tables, &bar)?;
    out::say_all(&planned.notes()?);
    let rows = rows_of(None, false)?;
    let to = Output { rows: &rows, tables: &tables, begin: &bar };
    let climbed = planned.live(to, &mut |climbed| say_rung(&planned.whole.drive.name, climbed))?;
    let lives = answered(&climbed)?;
    say_refused(&planned.refused_with(&climbed)?);
    let exit = exit(&lives, &climbed);
    Ok((lives, exit))
}

/// Prints the answers of a rung (level of accuracy) before the next rung starts.
fn say_rung(drive: &str, climbed: &Climbed) {
    let lives = climbed.answers.iter().filter_map(Life::answered);
    let rung = climbed.rung.map_or(0, |rung| rung.number);
    let said = lives
        .filter_map(|life| answer::sentence(drive, &life))
        .map(|sentence| format!("rung {rung}: {sentence}"));
    out::say_all(&said.collect::<Vec<_>>());
}

/// Prints each reason for a refusal.
fn say_refused(refused: &[Refused]) {
    for (labels, why) in by_reason(refused) {
        out::say(&format!("{labels}: refused: {why}"));
    }
}

/// Returns the simulated lives. Without any life, the error explains why.
fn answered(climbed: &Climbed) -> Result<Vec<Life>, Failure> {
    let lives: Vec<Life> = climbed.answers.iter().filter_map(Life::answered).collect();
    if lives.is_empty() {
        let mut why = climbed.answers.iter().filter_map(|answer| answer.lived.as_ref().err());
        return Err(why.next().expect("a technique has lives, or a reason").clone());
    }
    Ok(lives)
}

/// Returns the exit code of these lives.
///
/// # Errors
/// Returns an error if a life showed a bug of the drive model, or if a drive stopped.
fn exit(lives: &[Life], climbed: &Climbed) -> Result<Exit, Failure> {
    let bugs: Vec<_> =
        lives.iter().filter(|life| life.has_bug()).map(|life| life.label.as_str()).collect();
    if !bugs.is_empty() {
        let under = bugs.join(", ");
        return Err(Failure::failed(format!(
            "the oracle found a bug of the drive model under {under}; `vpass run` shows the \
             findings"
        )));
    }
    let why = |answer: &'_ Answer| answer.lived.as_ref().err().filter(|why| why.is_stop()).cloned();
    if let Some(why) = climbed.answers.iter().find_map(why) {
        return Err(Failure::failed(dialect::sentence(&why)));
    }
    let is_answered = lives.iter().any(|life| !life.out_of_work);
    Ok(if is_answered { Exit::Done } else { Exit::Failed })
}
