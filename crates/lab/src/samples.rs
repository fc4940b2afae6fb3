//! Samples of a drive, as a user names them: `1/16`, or `4/256` for four disjoint samples.

use std::str::FromStr;

/// Disjoint samples of one page in `of`. `count` is the number of samples.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Samples {
    /// Number of samples.
    pub count: u32,
    /// A sample has one page in this number.
    pub of: u32,
}

impl Samples {
    /// Samples that stand for the whole drive.
    pub const WHOLE: Self = Self { count: 1, of: 1 };

    /// Returns the residues of the samples, as far apart as possible. Pages of neighbouring
    /// residues belong to the same requests. Such samples would underestimate the variance.
    pub fn residues(self) -> impl Iterator<Item = u32> + use<> {
        let apart = self.of / self.count.max(1);
        (0..self.count).map(move |n| n * apart)
    }
}

impl TryFrom<String> for Samples {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Samples {
    type Err = String;

    /// Reads samples, such as 1/16 or 4/256.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(count, of)| Some((count.parse().ok()?, of.parse().ok()?)));
        let samples = numbers
            .map(|(count, of)| Self { count, of })
            .filter(|s| s.count > 0 && s.count <= s.of);
        samples.ok_or_else(|| {
            "one page in N is expected, such as 1/16; or K of N disjoint samples, such as 4/256"
                .into()
        })
    }
}
