//! Warnings of a comparison. Sentences that differ only in numbers are merged into one sentence.
//! The merged sentence has the range of the numbers, and names the seeds.
//!
//! ```text
//! seed 1: The most read block is at 30 % of its limit.
//! seed 2: The most read block is at 32 % of its limit.
//! seed 3: The most read block is at 31 % of its limit.
//! merged: The most read block is at 30 to 32 % of its limit (seeds 1 to 3).
//! ```

use super::row::ComparisonRow;

/// Warning that one or several runs gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Labels of the techniques to which the warning applies.
    pub labels: Vec<String>,
    /// Text of the warning. The text names the seeds if there are several runs.
    pub sentence: String,
}

/// Sentence that is split at its numbers. `text` has the words before, between and after the
/// numbers.
#[derive(Clone, Debug)]
struct Parts {
    text: Vec<String>,
    numbers: Vec<Range>,
}

/// Smallest and largest value of a number in similar sentences. Each value is kept as a number and
/// as text.
#[derive(Clone, Debug)]
struct Range {
    low: (f64, String),
    high: (f64, String),
}

/// Sentences of one technique that differ only in numbers.
struct Group {
    labels: Vec<String>,
    parts: Parts,
    seeds: Vec<u64>,
}

/// Returns all warnings of these rows.
pub fn warnings(rows: &[&ComparisonRow]) -> Vec<Warning> {
    let mut groups: Vec<Group> = vec![];
    for row in rows {
        for new in groups_of(row) {
            let like =
                |group: &&mut Group| group.parts.text == new.parts.text && group.seeds == new.seeds;
            match groups.iter_mut().find(like) {
                Some(group) => {
                    group.parts.widen(&new.parts);
                    group.labels.extend(new.labels);
                }
                None => groups.push(new),
            }
        }
    }
    let several = rows.iter().any(|row| row.runs.len() > 1);
    let warning = |group: Group| {
        let sentence = group.parts.sentence();
        let sentence = if several { with_seeds(&sentence, &group.seeds) } else { sentence };
        Warning { labels: group.labels, sentence }
    };
    groups.into_iter().map(warning).collect()
}

fn groups_of(row: &ComparisonRow) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    for (seed, sentence) in
        row.runs.iter().flat_map(|run| run.warnings.iter().map(|sentence| (run.seed, sentence)))
    {
        let parts = Parts::of(sentence);
        match groups.iter_mut().find(|group| group.parts.text == parts.text) {
            Some(group) => {
                group.parts.widen(&parts);
                if group.seeds.last() != Some(&seed) {
                    group.seeds.push(seed);
                }
            }
            None => {
                groups.push(Group { labels: vec![row.label.clone()], parts, seeds: vec![seed] })
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

impl Parts {
    fn of(sentence: &str) -> Self {
        let (mut text, mut numbers) = (vec![String::new()], vec![]);
        let mut rest = sentence;
        while let Some(first) = rest.chars().next() {
            let last: &mut String = text.last_mut().expect("each number has a text before it");
            let opens = last.is_empty() || last.ends_with([' ', '(']);
            if let Some((value, length)) = number(rest).filter(|_| opens) {
                let written = (value, rest[..length].to_owned());
                numbers.push(Range { low: written.clone(), high: written });
                text.push(String::new());
                rest = &rest[length..];
            } else {
                last.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        Self { text, numbers }
    }

    /// Widens the ranges to include the numbers of another sentence with the same words.
    fn widen(&mut self, other: &Self) {
        for (range, new) in self.numbers.iter_mut().zip(&other.numbers) {
            if new.low.0 < range.low.0 {
                range.low = new.low.clone();
            }
            if new.high.0 > range.high.0 {
                range.high = new.high.clone();
            }
        }
    }

    fn sentence(&self) -> String {
        let number = |Range { low, high }: &Range| {
            if low.1 == high.1 { low.1.clone() } else { format!("{} to {}", low.1, high.1) }
        };
        let numbers = self.numbers.iter().map(number).chain([String::new()]);
        self.text.iter().cloned().zip(numbers).flat_map(|(text, number)| [text, number]).collect()
    }
}

/// Returns the number at the beginning of a text, and how many bytes of the text this number takes.
/// Returns `None` if the text does not begin with a number.
fn number(text: &str) -> Option<(f64, usize)> {
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.').unwrap_or(text.len());
    let written = text[..end].trim_end_matches([',', '.']);
    let follows = text[written.len()..].chars().next();
    let is_word = follows.is_some_and(|c| !matches!(c, ' ' | ',' | '.' | ';' | ':' | ')' | '%'));
    let value = written.replace(',', "").parse().ok()?;
    (!is_word).then_some((value, written.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges sentences of several seeds that differ only in their numbers.
    fn merged(sentences: &[&str]) -> String {
        let mut parts = Parts::of(sentences[0]);
        sentences[1..].iter().for_each(|other| parts.widen(&Parts::of(other)));
        parts.sentence()
    }

    #[test]
    fn numbers_become_ranges() {
        let at = |share: &str| {
            format!(
                "The most read block is at about {share} % of the reads at which straw-2t rewrites \
                 it (1,024 of them)."
            )
        };
        assert_eq!(
            merged(&[&at("31"), &at("30"), &at("32")]),
            "The most read block is at about 30 to 32 % of the reads at which straw-2t rewrites it \
             (1,024 of them)."
        );
        assert_eq!(
            merged(&["9 and 10.", "10 and 10."]),
            "9 to 10 and 10.",
            "by value, not by letters"
        );
    }

    #[test]
    fn words_with_digits_are_words() {
        for sentence in ["straw-2t and p99.9 of 1/16, 10d and t_p.", "3 % of 1,234.5; (7)", ""] {
            assert_eq!(Parts::of(sentence).sentence(), sentence);
        }
        assert!(Parts::of("straw-2t and p99.9 of 1/16, 10d and t_p.").numbers.is_empty());
        assert_eq!(Parts::of("3 % of 1,234.5; (7)").numbers.len(), 3);
    }

    #[test]
    fn seeds_are_named() {
        assert_eq!(with_seeds("It is so.", &[4]), "It is so (seed 4).");
        assert_eq!(with_seeds("It is so.", &[4, 5, 6]), "It is so (seeds 4 to 6).");
        assert_eq!(with_seeds("It is so.", &[4, 6]), "It is so (seeds 4, 6).");
        assert_eq!(with_seeds("So", &[1, 3, 5, 7, 9, 11, 13, 15, 17]), "So (9 seeds from 1 to 17)");
    }
}
