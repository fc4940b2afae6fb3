//! Warning about results, as words with numbers between them. Warnings with equal words can be
//! joined: each number then becomes a range.
//!
//! ```text
//! seed 1: The most read block is at 30 % of its limit.
//! seed 2: The most read block is at 32 % of its limit.
//! joined: The most read block is at 30 to 32 % of its limit.
//! ```

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number and its text.
pub type Number = (f64, String);

/// Warning about results. In JSON, a warning is a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Words, with `{}` for each number.
    words: String,
    /// Smallest and largest value of each number.
    numbers: Vec<[Number; 2]>,
}

impl Warning {
    /// Makes a warning. Each `{}` in the words stands for a number.
    pub fn new(words: impl Into<String>, numbers: impl IntoIterator<Item = Number>) -> Self {
        let numbers = numbers.into_iter().map(|number| [number.clone(), number]).collect();
        Self { words: words.into(), numbers }
    }

    /// Returns the warning with these words in front, which have no numbers of their own.
    #[must_use]
    pub fn after(&self, words: &str) -> Self {
        Self { words: format!("{words}{}", self.words), ..self.clone() }
    }

    /// Joins another warning, if it has the same words. Returns whether it was joined.
    pub fn join(&mut self, other: &Self) -> bool {
        if self.words != other.words || self.numbers.len() != other.numbers.len() {
            return false;
        }
        for ([low, high], [least, most]) in self.numbers.iter_mut().zip(&other.numbers) {
            if least.0 < low.0 {
                low.clone_from(least);
            }
            if most.0 > high.0 {
                high.clone_from(most);
            }
        }
        true
    }

    /// Returns the warning as a sentence.
    pub fn sentence(&self) -> String {
        let mut parts = self.words.splitn(self.numbers.len() + 1, "{}");
        let mut sentence = parts.next().unwrap_or_default().to_owned();
        for ([(_, low), (_, high)], words) in self.numbers.iter().zip(parts) {
            sentence += low;
            if low != high {
                sentence += " to ";
                sentence += high;
            }
            sentence += words;
        }
        sentence
    }
}

impl<S: Into<String>> From<S> for Warning {
    fn from(sentence: S) -> Self {
        Self { words: sentence.into(), numbers: vec![] }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return self.sentence().serialize(to);
        }
        (&self.words, &self.numbers).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Warning {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            return String::deserialize(from).map(Self::from);
        }
        let (words, numbers) = Deserialize::deserialize(from)?;
        Ok(Self { words, numbers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges_by_value() {
        let of = |n: u32| {
            Warning::new("It is at {} % of {}.", [(n.into(), n.to_string()), (1.0, "one".into())])
        };
        let mut all = of(9);
        assert!(all.join(&of(10)) && all.join(&of(8)) && !all.join(&"It is at 9 %.".into()));
        assert_eq!(all.sentence(), "It is at 8 to 10 % of one.");
        assert_eq!(Warning::from("{} is text").sentence(), "{} is text");
    }

    #[test]
    fn a_kept_warning_keeps_its_numbers_and_json_has_a_sentence() {
        let warning = Warning::new("{} blocks.", [(2.0, "2".into())]);
        let kept = rmp_serde::to_vec_named(&warning).unwrap();
        assert_eq!(rmp_serde::from_slice::<Warning>(&kept).unwrap(), warning);
        assert_eq!(serde_json::to_string(&warning).unwrap(), "\"2 blocks.\"");
    }
}
