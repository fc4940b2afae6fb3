//! Sentences that name the technique with the longest life. Only techniques that kept all data
//! compete. A difference between lives counts only if it is larger than the intervals.

use vpass_drive::api::reclaim::NO_RECLAIM;

use super::summary::Life;
use super::{End, MOST_LOST};
use crate::compare::baselines;
use crate::compare::pairs::Pair;
use crate::compare::ranking::Ranking;
use crate::numbers::{digits, list, years};

/// Returns the life that is clearly the longest. Returns `None` if fewer than two lives compete, or
/// if any other life may be as long.
pub fn longest(lives: &[Life]) -> Option<&Life> {
    let front = ranking(lives)?.front;
    if let [best] = front[..] { Some(best) } else { None }
}

/// Returns the lives that are too close to rank: the longest, and all lives that are not clearly
/// shorter. The list is empty if a life is clearly the longest.
pub fn not_told_apart(lives: &[Life]) -> Vec<&Life> {
    ranking(lives).map(|ranking| ranking.front).filter(|front| front.len() > 1).unwrap_or_default()
}

/// Returns whether a life is clearly longer than another life.
fn is_longer(best: &Life, other: &Life) -> bool {
    other.ended && (!best.ended || surpass(best, other))
}

/// Returns the lives that kept all data but have no read reclaim, while other lives have it.
fn unprotected(lives: &[Life]) -> Vec<&Life> {
    let reclaims: Vec<bool> = lives.iter().map(|life| life.reclaim != NO_RECLAIM).collect();
    let all = lives.iter().zip(baselines(&reclaims));
    all.filter(|(life, is_baseline)| *is_baseline && life.competes())
        .map(|(life, _)| life)
        .collect()
}

/// Returns the competing lives.
fn competing(lives: &[Life]) -> Vec<&Life> {
    let unprotected = unprotected(lives);
    let is_unprotected = |life: &Life| unprotected.iter().any(|other| std::ptr::eq(*other, life));
    lives.iter().filter(|life| life.competes() && !is_unprotected(life)).collect()
}

/// Ranks the competing lives, from the longest to the shortest. If drives outlive the simulation,
/// their lives come first.
fn ranking(lives: &[Life]) -> Option<Ranking<&Life>> {
    Ranking::of(
        competing(lives),
        |a, b| a.ended.cmp(&b.ended).then(b.years.mean.total_cmp(&a.years.mean)),
        |other, best| if is_longer(best, other) { Pair::Apart } else { Pair::Close },
    )
}

/// Returns whether a life is longer than another life by more than the sum of the two half widths.
/// Lives whose wear had not settled have no interval, so nothing is known.
fn surpass(best: &Life, second: &Life) -> bool {
    if !best.has_settled || !second.has_settled {
        return false;
    }
    let halves = best.years.ci95.unwrap_or(0.0) + second.years.ci95.unwrap_or(0.0);
    best.years.mean - second.years.mean > halves
}

/// Names the lives that lost data, and the longest life that kept all data. The list is empty if
/// there is nothing to say.
pub fn sentences(lives: &[Life]) -> Vec<String> {
    let lost = lives.iter().filter(|life| life.lost_data()).map(lost);
    let mut sentences: Vec<String> = lost.chain(told(lives)).collect();
    sentences.extend(unprotected(lives).into_iter().map(|life| {
        format!("`{}` protects no data from reads, so it is not compared.", life.label)
    }));
    if lives.iter().any(|life| life.counterfactual) && lives.len() > 1 {
        let ideal = "Counterfactual techniques are shown for orientation and cannot win.";
        sentences.push(ideal.into());
    }
    sentences
}

/// Describes a loss of data. An example is "`none` lost data (456 pages in the mean life), so the
/// years of this technique do not count." If losses ended a life, a second sentence has the years.
fn lost(life: &Life) -> String {
    let ended = if life.lives.iter().any(|one| one.end == End::LostData) {
        format!(
            " A life ends when more than 1 in {:.0} pages is lost; this life ended after {}.",
            1.0 / MOST_LOST,
            years(life.years.mean, None)
        )
    } else {
        String::new()
    };
    format!(
        "`{}` lost data ({} pages in the mean life), so the years of this technique do not \
         count.{ended}",
        life.label,
        digits(life.data_lost_pages)
    )
}

fn told(lives: &[Life]) -> Option<String> {
    let Some(Ranking { front, behind, .. }) = ranking(lives) else {
        let is_open = lives.len() < 2 || lives.iter().any(|life| life.out_of_work);
        return match competing(lives)[..] {
            _ if is_open || !unprotected(lives).is_empty() => None,
            [only] => Some(format!(
                "Only `{}` kept all data, so there is nothing to compare it with.",
                only.label
            )),
            _ => Some("No technique kept all data.".into()),
        };
    };
    let ([best], [second, ..]) = (&front[..], &behind[..]) else {
        return Some(tied(&front, behind.first().copied()));
    };
    let alone = if best.years.ci95.is_none() { ", in one life of each" } else { "" };
    Some(format!(
        "`{}` lives longest: {length}; `{}` lives {second_length}{alone}.",
        best.label,
        second.label,
        length = best.length_text(),
        second_length = second.length_text()
    ))
}

/// Describes the longest lives if they are too close to rank, and also the next shorter life.
fn tied(front: &[&Life], next: Option<&Life>) -> String {
    let best = front[0];
    let names: Vec<String> = front.iter().map(|life| format!("`{}`", life.label)).collect();
    let names = list(&names);
    let then = next.map_or_else(String::new, |life| {
        format!("; next is `{}` {}", life.label, life.length_text())
    });
    if !best.ended {
        format!(
            "{names} outlive the simulation, so it is not known which of these techniques lives \
             longest{then}."
        )
    } else if !front.iter().all(|life| life.has_settled) {
        format!("{names} cannot be ranked, because wear had not settled in all of them{then}.")
    } else if best.years.ci95.is_none() {
        format!("{names} live equally long{then}.")
    } else {
        format!("{names} live about equally long: the intervals of their years overlap{then}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::summary::tests::life;
    use crate::mean_ci95::MeanCi95;

    fn verdict(lives: &[Life]) -> Option<String> {
        Some(sentences(lives).join(" ")).filter(|text| !text.is_empty())
    }

    fn of(label: &str, years: f64, lost: f64) -> Life {
        Life {
            label: label.into(),
            data_lost_pages: lost,
            ..life(MeanCi95 { mean: years, ci95: Some(0.1) })
        }
    }

    #[test]
    fn a_technique_that_loses_data_has_no_longest_life() {
        let lives = [of("none", 9.0, 3.0), of("block", 2.0, 0.0), of("straw-wl", 4.0, 0.0)];
        assert_eq!(longest(&lives).unwrap().label, "straw-wl");
        let said = verdict(&lives).unwrap();
        assert_eq!(
            said,
            "`none` lost data (3.00 pages in the mean life), so the years of this technique do not \
             count. `straw-wl` lives longest: 4.00 ± 0.10 years; `block` lives 2.00 ± 0.10 years."
        );
        assert!(
            longest(&lives[..2]).is_none()
                && verdict(&lives[..2]).unwrap().ends_with(
                    "Only `block` kept all data, so there is nothing to compare it with."
                )
        );
        assert!(
            verdict(&lives[..1]).unwrap().starts_with("`none` lost data"),
            "a single life reports that it lost data"
        );
        assert_eq!(verdict(&lives[1..2]), None);
    }

    #[test]
    fn a_life_that_losses_ended_says_so() {
        let one = crate::life::summary::One {
            seed: 1,
            residue: 0,
            years: 0.5,
            end: End::LostData,
            accelerated_from_pec: None,
            oracle_clean: None,
        };
        let lossy = Life { lives: vec![one], ..of("none", 0.5, 144.0) };
        assert_eq!(
            verdict(&[lossy]).unwrap(),
            "`none` lost data (144 pages in the mean life), so the years of this technique do not \
             count. A life ends when more than 1 in 1000 pages is lost; this life ended after 183 \
             days."
        );
    }

    #[test]
    fn a_life_without_reclaim_does_not_compete_with_lives_with_it() {
        let none = Life { reclaim: NO_RECLAIM.into(), ..of("none", 9.0, 0.0) };
        let two = [none, of("block", 2.0, 0.0)];
        assert!(longest(&two).is_none());
        let said = "`none` protects no data from reads, so it is not compared.";
        assert_eq!(verdict(&two).unwrap(), said);
        let [none, block] = two;
        let three = [none, block, of("straw-wl", 4.0, 0.0)];
        assert_eq!(longest(&three).unwrap().label, "straw-wl");
        assert!(verdict(&three).unwrap().ends_with(said));
    }

    #[test]
    fn lives_that_had_not_settled_or_ended_are_not_ranked() {
        let unsure = Life { has_settled: false, ..of("block", 9.0, 0.0) };
        let lives = [unsure, of("a", 4.0, 0.0)];
        assert!(longest(&lives).is_none() && not_told_apart(&lives).len() == 2);
        let said = "`block` and `a` cannot be ranked, because wear had not settled in all of them.";
        assert_eq!(verdict(&lives).unwrap(), said);
        let last = [
            of("b", 9.0, 0.0),
            of("a", 4.0, 0.0),
            Life { has_settled: false, ..of("c", 1.0, 0.0) },
        ];
        assert!(longest(&last).is_none() && not_told_apart(&last).len() == 2);
        let unended = Life { out_of_work: true, ended: false, ..of("block", 9.0, 0.0) };
        let lives = [unended, of("a", 4.0, 0.0)];
        assert!(longest(&lives).is_none() && verdict(&lives).is_none());
    }

    #[test]
    fn counterfactual_techniques_do_not_compete() {
        let ideal = Life { counterfactual: true, ..of("ideal", 9.0, 0.0) };
        assert_eq!(
            longest(&[ideal, of("block", 2.0, 0.0), of("straw-wl", 4.0, 0.0)]).unwrap().label,
            "straw-wl"
        );
    }

    #[test]
    fn years_within_their_intervals_are_alike() {
        let alike = [of("a", 4.1, 0.0), of("b", 4.0, 0.0)];
        assert!(
            longest(&alike).is_none()
                && verdict(&alike).unwrap().contains("live about equally long")
        );
        assert!(
            longest(&[of("a", 4.15, 0.0), of("b", 4.0, 0.0)]).is_none(),
            "one interval does not reach the other mean, but both intervals overlap"
        );
        assert_eq!(longest(&[of("b", 4.0, 0.0), of("a", 4.25, 0.0)]).unwrap().label, "a");
        let once = |label: &str, years: f64| Life {
            label: label.into(),
            ..life(MeanCi95 { mean: years, ci95: None })
        };
        assert_eq!(
            verdict(&[once("a", 4.0), once("b", 4.1)]).unwrap(),
            "`b` lives longest: 4.10 years; `a` lives 4.00 years, in one life of each."
        );
        assert_eq!(
            verdict(&[once("a", 4.0), once("b", 4.0)]).unwrap(),
            "`a` and `b` live equally long."
        );
        let three = [of("c", 2.0, 0.0), of("a", 4.1, 0.0), of("b", 4.0, 0.0)];
        assert_eq!(
            verdict(&three).unwrap(),
            "`a` and `b` live about equally long: the intervals of their years overlap; next is \
             `c` 2.00 ± 0.10 years."
        );
        let labels = |lives: &[Life]| -> Vec<String> {
            not_told_apart(lives).iter().map(|life| life.label.clone()).collect()
        };
        assert_eq!(labels(&three), ["a", "b"]);
        assert!(labels(&three[..2]).is_empty() && labels(&three[..1]).is_empty());
        let lossy = [of("a", 4.0, 1.0), of("b", 4.1, 0.0)];
        assert!(labels(&lossy).is_empty(), "lost data is not in the contest");
        let outlives = Life { ended: false, ..of("a", 3.0, 0.0) };
        assert_eq!(
            longest(&[of("b", 4.0, 0.0), outlives.clone()]).unwrap().label,
            "a",
            "it lives on after the other is worn out"
        );
        assert!(longest(&[outlives.clone(), Life { label: "c".into(), ..outlives }]).is_none());
    }
}
