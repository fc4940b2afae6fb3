//! Samples of a drive, in the notation of the option `--sample`. `1/16` means one sample with every
//! 16th page. `4/256` means four disjoint samples with every 256th page each.

use std::str::FromStr;

/// Disjoint samples of a drive. Each sample has every `of`-th page.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// Number of samples.
    pub count: u32,
    /// Number of pages from one page of a sample to the next.
    pub of: u32,
}

impl Samples {
    /// Sample that has all pages of the drive.
    pub const WHOLE: Self = Self { count: 1, of: 1 };

    /// Returns the number of the first page in each sample. These first pages are as far apart as
    /// possible. Samples with neighbouring pages would be too similar, because neighbouring pages
    /// often belong to the same requests.
    pub fn residues(self) -> impl Iterator<Item = u32> + use<> {
        let apart = self.of / self.count.max(1);
        (0..self.count).map(move |n| n * apart)
    }
}

impl FromStr for Samples {
    type Err = String;

    /// Reads samples from a text such as "1/16" or "4/256".
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(count, of)| Some((count.parse().ok()?, of.parse().ok()?)));
        let samples = numbers
            .map(|(count, of)| Self { count, of })
            .filter(|s| s.count > 0 && s.count <= s.of);
        samples.ok_or_else(|| {
            "1/N is expected for one page in N (such as 1/16), or K/N for K of N disjoint samples \
             (such as 4/256)"
                .into()
        })
    }
}
