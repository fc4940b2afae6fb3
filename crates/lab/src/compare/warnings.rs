//! Warnings of a comparison. Warnings that differ only in numbers are joined. The joined warning
//! names the seeds.

use super::row::ComparisonRow;
use crate::results::warning::Warning;

/// Warning that one or several runs gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Warned {
    /// Labels of the techniques to which the warning applies.
    pub labels: Vec<String>,
    /// Text of the warning. The text names the seeds if there are several runs.
    pub sentence: String,
}

/// Warnings of one technique or several that differ only in numbers.
struct Group {
    labels: Vec<String>,
    warning: Warning,
    seeds: Vec<u64>,
}

/// Returns all warnings of these rows.
pub fn warnings(rows: &[&ComparisonRow]) -> Vec<Warned> {
    let mut groups: Vec<Group> = vec![];
    for row in rows {
        for new in groups_of(row) {
            let mut same = groups.iter_mut().filter(|group| group.seeds == new.seeds);
            match same.find_map(|group| group.warning.join(&new.warning).then_some(group)) {
                Some(group) => group.labels.extend(new.labels),
                None => groups.push(new),
            }
        }
    }
    let several = rows.iter().any(|row| row.runs.len() > 1);
    let warned = |Group { labels, warning, seeds }: Group| {
        let sentence = warning.sentence();
        Warned { labels, sentence: if several { with_seeds(&sentence, &seeds) } else { sentence } }
    };
    groups.into_iter().map(warned).collect()
}

fn groups_of(row: &ComparisonRow) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    let all = row.runs.iter().flat_map(|run| run.warnings.iter().map(|one| (run.seed, one)));
    for (seed, warning) in all {
        let known =
            groups.iter_mut().find_map(|group| group.warning.join(warning).then_some(group));
        match known {
            Some(group) if group.seeds.last() == Some(&seed) => {}
            Some(group) => group.seeds.push(seed),
            None => {
                let (labels, warning) = (vec![row.label.clone()], warning.clone());
                groups.push(Group { labels, warning, seeds: vec![seed] });
            }
        }
    }
    groups
}

/// Largest number of seeds that a warning lists one by one. For a longer list of seeds that are not
/// consecutive, the warning gives the number of seeds, the first seed and the last seed.
const NAMED: usize = 8;

/// Inserts the seeds before the full stop of the sentence.
fn with_seeds(sentence: &str, seeds: &[u64]) -> String {
    let (first, last) = (seeds[0], seeds[seeds.len() - 1]);
    let follow = seeds.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let named = match seeds {
        [one] => format!("seed {one}"),
        [.., _] if follow => format!("seeds {first} to {last}"),
        _ if seeds.len() <= NAMED => {
            format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
        }
        _ => format!("{} seeds from {first} to {last}", seeds.len()),
    };
    let body = sentence.strip_suffix('.').unwrap_or(sentence);
    format!("{body} ({named}){}", &sentence[body.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_named() {
        assert_eq!(with_seeds("It is so.", &[4]), "It is so (seed 4).");
        assert_eq!(with_seeds("It is so.", &[4, 5, 6]), "It is so (seeds 4 to 6).");
        assert_eq!(with_seeds("It is so.", &[4, 6]), "It is so (seeds 4, 6).");
        assert_eq!(with_seeds("So", &[1, 3, 5, 7, 9, 11, 13, 15, 17]), "So (9 seeds from 1 to 17)");
    }
}
