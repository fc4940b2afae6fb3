//! Sentences about a sweep: which technique is best, and at how many points.

use crate::model::{Model, Row, Sweep};
use crate::section::code;
use crate::sentences::list;
use crate::sentences::verdict::{self, MEASURES, em};

/// Returns the headline about a sweep. The headline uses the most important measure that has a
/// winner, and names the technique that wins at most points.
pub fn headline(sweep: &Sweep) -> String {
    let all = sweep.points.len();
    for key in MEASURES {
        let Some((row, points)) = wins(sweep, key).into_iter().next() else { continue };
        return format!("{} {} {}", em(row), verdict::wins(key), at(points, all));
    }
    let points = if all == 1 { "1 point".to_owned() } else { format!("{all} points") };
    format!("No technique is clearly the best at any of {points}")
}

/// Returns a sentence that says how many points have results and where data was lost.
pub fn lede(sweep: &Sweep, model: &Model) -> String {
    let keys: Vec<String> = sweep.keys.iter().map(|key| code(key)).collect();
    let mut said = vec![format!("{} points of {}.", sweep.points.len(), list(&keys))];
    let refused = sweep.points.iter().filter(|point| point.model.is_none()).count();
    if refused > 0 {
        said.push(format!("{refused} of these points have no results; see Warnings."));
    }
    let lossy: Vec<String> =
        model.all().filter(|row| !row.kept_data()).map(|row| code(&row.label)).collect();
    if !lossy.is_empty() {
        let lose = if lossy.len() == 1 { "loses" } else { "lose" };
        said.push(format!("{} {lose} data at some points and cannot win there.", list(&lossy)));
    }
    said.join(" ")
}

/// Returns a sentence that says which techniques are best in a measure, and at how many points.
pub fn best_at(sweep: &Sweep, key: &str) -> String {
    let all = sweep.points.len();
    let wins = wins(sweep, key);
    if wins.is_empty() {
        return "At no point is a technique clearly the best.".into();
    }
    let parts: Vec<String> =
        wins.iter().map(|(row, n)| format!("{} {}", code(&row.label), at(*n, all))).collect();
    format!("Best of the techniques that kept all data: {}.", list(&parts))
}

/// Explains what the marks in a chart over one or two keys mean.
pub fn how_to_read(keys: usize) -> &'static str {
    if keys == 1 {
        "A hollow dot is a result with lost data."
    } else {
        "A frame marks the best technique of a point; \"lost\" marks lost data."
    }
}

/// Returns the number of points at which each technique wins. The technique with most wins is the
/// first.
fn wins<'a>(sweep: &'a Sweep, key: &str) -> Vec<(&'a Row, usize)> {
    let mut wins: Vec<(&Row, usize)> = vec![];
    for row in sweep.points.iter().flat_map(|point| point.winners_of(key)) {
        match wins.iter_mut().find(|(known, _)| known.label == row.label) {
            Some((_, n)) => *n += 1,
            None => wins.push((row, 1)),
        }
    }
    wins.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    wins
}

fn at(n: usize, all: usize) -> String {
    if n == all { format!("at all {all} points") } else { format!("at {n} of {all} points") }
}
