//! `vpass life --find`: searches for the value of a key with which the drive lives longest, or
//! lives for a given number of years.

use vpass_lab::as_json;
use vpass_lab::experiments::Rows;
use vpass_lab::failure::{Failure, Kind};
use vpass_lab::life::climb::Climbed;
use vpass_lab::life::find::lasting::{self, Lasting, TRIED_BETWEEN};
use vpass_lab::life::find::{self, CLOSER, Point, Section};
use vpass_lab::life::summary::{Life, warnings};
use vpass_lab::plan::Tables;

use super::args::LifeArgs;
use super::key::Knob;
use super::{Asked, exit, lived};
use crate::dialect;
use crate::exit::Exit;

use crate::out::{self, Folder};
use crate::table::wrapped;

/// Runs `--find`, with or without `--lasts`.
pub(super) fn find_best(
    args: &LifeArgs,
    key: &str,
    asked: &Asked,
    folder: Option<Folder>,
    rows: &Rows,
    tables: &Tables,
) -> Result<Exit, Failure> {
    if args.reclaim.len() * args.combined.len() > 1 {
        return Err(Failure::usage(
            "--find searches for the best value with a single technique; name exactly one \
             technique of each kind",
        ));
    }
    let knob = Knob::new(
        key,
        (args.from.as_deref(), args.to.as_deref()),
        &asked.contenders[0].plan,
        args.lasts.is_some(),
    )?;
    let mut points: Vec<Point> = vec![];
    if let Some(years) = args.lasts {
        let found = lasting(args, &knob, years, &mut points, rows, tables)?;
        let csv = find::csv(key, &points);
        if let Some(folder) = folder {
            out::write_file(folder.path(), "find.csv", csv.as_bytes())?;
            rows.end(|| folder.finish())?;
        }
        out::print(&if args.setup.base.json {
            as_json::text(&lasting::json_of(key, years, &points, found)?)?
        } else {
            csv
        })?;
        let verdict = lasting::verdict(key, years, &points, found);
        out::say_wrapped(&wrapped(&verdict, 0));
        out::say_all(&warnings(points.iter().filter_map(|point| point.life.as_ref())));
        return exit(&points.into_iter().filter_map(|point| point.life).collect::<Vec<_>>(), &[]);
    }
    for value in find::first_values(knob.from, knob.to) {
        tried(args, &knob, value, &mut points, rows, tables)?;
    }
    if let Some(refused) = points
        .iter()
        .find_map(|point| point.refused.as_ref())
        .filter(|_| points.iter().all(|point| point.life.is_none()))
    {
        return Err(Failure::usage(format!(
            "--find {key}: no value gives a valid drive. For example, with {}: {refused}",
            points[0].text
        )));
    }
    let peaks = find::peaks(&points);
    let best = find::best(&points);
    let neighbour = |i: usize| points[i].value;
    let (low, high) =
        (neighbour(best.saturating_sub(1)), neighbour((best + 1).min(points.len() - 1)));
    let others: Vec<String> =
        peaks.iter().filter(|i| **i != best).map(|i| points[*i].text.clone()).collect();
    // If the drive with the best value outlives the simulation, a closer search cannot find a
    // better value.
    if low < high && !points[best].lives_on() {
        let mut section = Section::new(low, high);
        for _ in 0..CLOSER {
            let years = tried(args, &knob, section.next(), &mut points, rows, tables)?;
            section.found(years);
        }
    }
    let csv = find::csv(key, &points);
    if let Some(folder) = folder {
        out::write_file(folder.path(), "find.csv", csv.as_bytes())?;
        rows.end(|| folder.finish())?;
    }
    out::print(&if args.setup.base.json {
        as_json::text(&find::json_of(key, &points, &others)?)?
    } else {
        csv
    })?;
    out::say_wrapped(&wrapped(&find::verdict(key, &points, &others), 0));
    out::say_all(&warnings(points.iter().filter_map(|point| point.life.as_ref())));
    exit(&points.into_iter().filter_map(|point| point.life).collect::<Vec<_>>(), &[])
}

/// Searches for the value of the key with which the drive lasts `target` years. Returns the index
/// of this value in `points`. Returns `None` if the search finds no such value.
fn lasting(
    args: &LifeArgs,
    knob: &Knob,
    target: f64,
    points: &mut Vec<Point>,
    rows: &Rows,
    tables: &Tables,
) -> Result<Option<usize>, Failure> {
    let low = tried(args, knob, knob.from, points, rows, tables)?;
    let high = tried(args, knob, knob.to, points, rows, tables)?;
    let Some(mut search) = Lasting::new(target, (knob.from, low), (knob.to, high)) else {
        return Ok(None);
    };
    for _ in 0..TRIED_BETWEEN {
        let is_bound = points.iter().any(|point| point.lives_on() || point.rank() == 0.0);
        let value = search.next(is_bound && points.len() < 6);
        let years = tried(args, knob, value, points, rows, tables)?;
        if search.is_met(years) {
            return Ok(points.iter().position(|point| point.text == knob.text(value)));
        }
        search.found(value, years);
    }
    Ok(None)
}

/// Returns the life of the one technique that `--find` simulates.
fn only(climbed: Climbed) -> Result<Life, Failure> {
    let answer = climbed.answers.into_iter().next().expect("a named rung gives answers");
    let life = Life::answered(&answer);
    life.map_or_else(
        || Err(answer.lived.expect_err("an answer has lives, or a reason why there are none")),
        Ok,
    )
}

/// Simulates lives with this value of the key, and returns the mean life in years. A value that was
/// tried before is not simulated again. If the drive refuses the value, the refusal is stored and
/// no error is returned.
fn tried(
    args: &LifeArgs,
    knob: &Knob,
    value: f64,
    points: &mut Vec<Point>,
    rows: &Rows,
    tables: &Tables,
) -> Result<f64, Failure> {
    let text = knob.text(value);
    if let Some(known) = points.iter().find(|point| point.text == text) {
        return Ok(known.rank());
    }
    let asked = Asked::new(args, &[format!("{}={text}", knob.path)], tables);
    let outcome = asked.and_then(|asked| lived(args, &asked, rows, tables)).and_then(only);
    let (life, refused) = match outcome {
        Ok(life) => (Some(life), None),
        Err(failure) if failure.kind == Kind::Usage => (None, Some(dialect::sentence(&failure))),
        Err(failure) => return Err(failure),
    };
    let point = Point { value: knob.value(&text), text, life, refused };
    let rank = point.rank();
    points.push(point);
    Ok(rank)
}
