//! Makes a stream of requests for one drive from a `[workload.stripes]` table.

use vpass_drive::base::request::{Op, Request, SourceError};
use vpass_drive::config::ConfigError;

use super::recent::Recent;
use super::stripes_config::StripesConfig;
use crate::finite::{Draw, Finite};
use crate::synthetic::random::{Random, Rng, Streams, below, threshold};
use crate::synthetic::scatter::Scatter;
use crate::synthetic::zipf::Ranks;
use crate::synthetic::{Distribution, WorkloadConfig};

/// Source of the requests of a workload with stripes.
pub type StripesSource = Finite<DrawnStripes>;

/// Generator of the requests of a workload with stripes.
pub struct DrawnStripes {
    config: StripesConfig,
    page_bytes: u64,
    /// Number of pages in the footprint.
    pages: u64,
    /// Number of stripes in the footprint.
    stripes: u64,
    read_below: u64,
    /// Thresholds for random numbers, calculated from the keys `sequential` and `recent_share`.
    sequential: u64,
    recent_below: u64,
    /// Popularity ranks of stripes; `None` if all stripes are equally popular.
    ranks: Option<(Ranks, Scatter)>,
    recent: Recent,
    /// First page after the last write; `None` before the first write.
    end: Option<u64>,
    streams: Streams,
}

impl StripesSource {
    /// Makes the source for a drive of `capacity` bytes with pages of `page_bytes`.
    ///
    /// # Errors
    /// Returns an error if the workload has no stripes. Also returns an error for the first key
    /// that is invalid or does not suit the drive.
    pub fn new(
        workload: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        workload.check()?;
        let config = workload
            .stripes
            .clone()
            .ok_or_else(|| ConfigError::new("[workload.stripes] is missing; it is expected"))?;
        config.check(workload)?;
        let page_bytes = config.page.map_or(u64::from(page_bytes), |page| page.0);
        let footprint = ((capacity as f64 * workload.footprint) as u64).min(capacity);
        config.check_drive(footprint, page_bytes)?;
        let stripes = footprint / (page_bytes * u64::from(config.pages));
        let mut streams = Streams::new(seed);
        let ranks = match workload.distribution {
            Distribution::Zipf { theta } => {
                Some((Ranks::new(stripes, theta), Scatter::new(stripes, &mut streams.scatter)))
            }
            _ => None,
        };
        // With a share of 1, every random number is below the threshold. With a share of 0, no
        // random number is below the threshold.
        let below = |share: f64| if share >= 1.0 { u64::MAX } else { threshold(share) };
        let arrivals = streams.arrival.clone();
        let draw = DrawnStripes {
            page_bytes,
            pages: stripes * u64::from(config.pages),
            stripes,
            read_below: below(workload.read_share),
            sequential: below(config.sequential),
            recent_below: below(config.recent_share),
            ranks,
            recent: Recent::new(config.recent as usize),
            end: None,
            streams,
            config,
        };
        Ok(Self::of(draw, workload.requests, workload.arrival()).at_rate(
            workload.rate,
            workload.arrivals,
            arrivals,
        ))
    }
}

impl DrawnStripes {
    fn request(&mut self) -> Request {
        let op =
            if self.streams.direction.next_u64() < self.read_below { Op::Read } else { Op::Write };
        let (first, mean) = match op {
            Op::Read => (self.first(Op::Read), self.config.read_pages),
            _ => (self.first(Op::Write), self.config.write_pages),
        };
        let pages =
            length(&mut self.streams.size, mean, self.config.most_pages).min(self.pages - first);
        if op == Op::Write {
            self.end = Some(first + pages).filter(|end| *end < self.pages);
            let of = u64::from(self.config.pages);
            (first / of..=(first + pages - 1) / of).for_each(|stripe| self.recent.write(stripe));
        }
        Request::new(0, first * self.page_bytes, (pages * self.page_bytes) as u32, op)
    }

    /// Draws the first page of a request.
    fn first(&mut self, op: Op) -> u64 {
        let random = if op == Op::Read {
            &mut self.streams.address
        } else {
            &mut self.streams.write_address
        };
        if op == Op::Write {
            let (goes_on, comes_back) =
                (random.next_u64() < self.sequential, random.next_u64() < self.recent_below);
            if let Some(end) = self.end.filter(|_| goes_on) {
                return end;
            }
            if comes_back && self.recent.len() > 0 {
                let stripe = self.recent.at(below(random, self.recent.len() as u64) as usize);
                return stripe * u64::from(self.config.pages)
                    + below(random, self.config.pages.into());
            }
        }
        let stripe = match &self.ranks {
            Some((ranks, scatter)) => scatter.image(ranks.draw(random)),
            None => below(random, self.stripes),
        };
        stripe * u64::from(self.config.pages) + below(random, self.config.pages.into())
    }
}

/// Draws the number of pages of a request. The number is geometrically distributed with mean
/// `mean`. Numbers above `most` become `most`.
fn length(random: &mut Random, mean: f64, most: u32) -> u64 {
    let goes_on = threshold((1.0 - 1.0 / mean).max(0.0));
    let mut pages = 1;
    while pages < u64::from(most) && random.next_u64() < goes_on {
        pages += 1;
    }
    pages
}

impl Draw for DrawnStripes {
    fn draw(&mut self, out: &mut Vec<Request>, count: usize) -> Result<(), SourceError> {
        out.extend((0..count).map(|_| self.request()));
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.ranks.as_ref().map_or(0, |(ranks, _)| ranks.memory())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use vpass_drive::base::request::RequestSource;

    const PAGE: u64 = 8192;
    const CAPACITY: u64 = 1 << 30;

    fn drawn(text: &str, count: usize) -> Vec<Request> {
        let config: WorkloadConfig = toml::from_str(text).unwrap();
        let mut source = StripesSource::new(&config, CAPACITY, PAGE as u32, 7).unwrap();
        let mut out = vec![];
        source.fill(&mut out, count).unwrap();
        out
    }

    fn share(of: &[Request], holds: impl Fn(&Request) -> bool) -> f64 {
        of.iter().filter(|r| holds(r)).count() as f64 / of.len() as f64
    }

    /// Checks that lengths are geometric. With a mean of 3 and a cut at 8, P(1) = 1/3 and P(8) =
    /// (2/3)^7.
    #[test]
    fn lengths_are_geometric_and_cut() {
        let writes = drawn("read_share = 0\n[stripes]", 100_000);
        let of = |pages: u64| share(&writes, |r| u64::from(r.bytes) == pages * PAGE);
        assert!(
            (of(1) - 1.0 / 3.0).abs() < 0.005 && (of(8) - (2f64 / 3.0).powi(7)).abs() < 0.004,
            "{} {}",
            of(1),
            of(8)
        );
        assert!(writes.iter().all(|r| u64::from(r.bytes) <= 8 * PAGE && r.op == Op::Write));
        let reads = drawn("read_share = 1\n[stripes]", 100_000);
        assert!((share(&reads, |r| u64::from(r.bytes) == PAGE) - 1.0 / 1.8).abs() < 0.005);
    }

    /// Checks the share of writes that begin in recently written stripes. Of the writes that do not
    /// continue the previous write, this is `recent_share`. An even draw from 16,384 stripes almost
    /// never hits a recently written stripe.
    #[test]
    fn writes_come_back_to_the_stripes_written_last() {
        let writes =
            drawn("read_share = 0\n[stripes]\nrecent_share = 0.8\nwrite_pages = 1", 50_000);
        let (mut recent, mut back) = (Recent::new(32), 0);
        for (n, write) in writes.iter().enumerate() {
            let stripe = write.offset / (8 * PAGE);
            back += usize::from(n >= 1000 && (0..recent.len()).any(|i| recent.at(i) == stripe));
            recent.write(stripe);
        }
        let back = back as f64 / 49_000.0;
        assert!((back - 0.8).abs() < 0.012, "{back}");
    }

    #[test]
    fn a_share_of_the_writes_goes_on_where_the_last_one_ended() {
        let writes =
            drawn("read_share = 0\n[stripes]\nsequential = 0.15\nrecent_share = 0", 50_000);
        let goes_on = |w: &[Request]| w[0].offset + u64::from(w[0].bytes) == w[1].offset;
        let share = writes.windows(2).filter(|w| goes_on(w)).count() as f64 / 49_999.0;
        assert!((share - 0.15).abs() < 0.006, "{share}");
    }

    #[test]
    fn reads_have_their_share_and_the_popular_stripes_of_the_writes() {
        let both = drawn(
            "read_share = 0.58\ndistribution = \"zipf:1.2\"\n[stripes]\nrecent_share = 0",
            40_000,
        );
        assert!((share(&both, |r| r.op == Op::Read) - 0.58).abs() < 0.01);
        let popular = |op: Op| {
            let mut counts = std::collections::BTreeMap::<u64, u32>::new();
            both.iter()
                .filter(|r| r.op == op)
                .for_each(|r| *counts.entry(r.offset / (8 * PAGE)).or_default() += 1);
            counts.into_iter().max_by_key(|(_, n)| *n).unwrap().0
        };
        assert_eq!(popular(Op::Read), popular(Op::Write));
        let members: HashSet<u64> = both.iter().map(|r| r.offset / PAGE % 8).collect();
        assert_eq!(members.len(), 8);
    }

    #[test]
    fn the_batch_size_changes_nothing_and_time_rises() {
        let config: WorkloadConfig =
            toml::from_str("read_share = 0.5\nrate = 1000\n[stripes]").unwrap();
        let mut source = StripesSource::new(&config, CAPACITY, PAGE as u32, 7).unwrap();
        let mut apart = vec![];
        while apart.len() < 1000 {
            source.fill(&mut apart, 7).unwrap();
        }
        apart.truncate(1000);
        assert_eq!(apart, drawn("read_share = 0.5\nrate = 1000\n[stripes]", 1000));
        assert!(apart.windows(2).all(|w| w[0].at <= w[1].at) && apart[999].at > 900_000_000);
    }

    #[test]
    fn invalid_stripes_are_refused() {
        let refused = |text: &str, words: &str| {
            let config: WorkloadConfig = toml::from_str(text).unwrap();
            let sentence = StripesSource::new(&config, 1 << 20, PAGE as u32, 1)
                .map(drop)
                .unwrap_err()
                .to_string();
            assert!(sentence.contains(words), "{words} is not in: {sentence}");
        };
        refused("[stripes]\npages = 0", "workload.stripes.pages = 0 is outside 1 to 1024");
        refused("[stripes]\nwrite_pages = 0.5", "write_pages = 0.5");
        refused("[stripes]\nsequential = 1.5", "sequential = 1.5");
        refused("[stripes]\npages = 128", "fewer than two");
        refused(
            "distribution = \"sequential\"\n[stripes]",
            "is expected, as the distribution over \
            stripes",
        );
        refused("block_size = \"4KiB\"\n[stripes]", "remove block_size");
    }
}
