//! Makes a stream of requests for one drive from a `[workload.model]` table.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::config::ConfigError;

use super::law::ModelLaw;
use super::model_config::ModelWorkload;
use super::tokens::Tokens;
use super::writes::Writes;
use crate::pass::PassSource;
use crate::synthetic::Sample;

/// Source of the requests of a language model. The clock of this source runs only in the hours of
/// use.
pub struct ModelSource {
    law: ModelLaw,
    tokens: Tokens,
    writes: Writes,
    /// Next read request of the current token.
    read: Option<Request>,
    /// Number of tokens left in the pass.
    left: u64,
}

impl ModelSource {
    /// Makes the source for a drive that has `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if the model does not fit on the drive. Also
    /// returns an error if the file with use counts cannot be read.
    pub fn new(
        workload: &ModelWorkload,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let law = ModelLaw::new(workload, capacity, page_bytes, seed)?;
        Ok(Self {
            writes: Writes::new(&law, Sample::WHOLE),
            tokens: Tokens::new(seed),
            read: None,
            left: law.config.tokens,
            law,
        })
    }

    /// Finds the next read request of the pass. The request belongs to the current token or to a
    /// later token.
    fn find_read(&mut self) {
        while self.read.is_none() {
            self.read = self.tokens.next(&self.law);
            if self.read.is_some() || self.left == 0 {
                return;
            }
            self.left -= 1;
            self.tokens.begin(&self.law);
        }
    }

    /// Returns the time at which the current token ends.
    fn end(&self) -> Ns {
        (self.tokens.begun as f64 / self.law.config.tokens_per_second * 1e9) as Ns
    }
}

impl RequestSource for ModelSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = out.len() + max;
        while out.len() < end {
            self.find_read();
            let until = self.read.map_or_else(|| self.end(), |read| read.at);
            let next = if self.writes.due().is_some_and(|at| at < until) {
                self.writes.next()
            } else {
                self.read.take()
            };
            let Some(next) = next else { return Ok(()) };
            out.push(next);
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

impl PassSource for ModelSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.left = self.law.config.tokens;
        Ok(())
    }

    fn memory(&self) -> u64 {
        let of_experts = self.law.chances.len() as u64 * 24;
        let of_a_token = (self.law.requests_per_token() * 2.0) as u64 * 16;
        of_experts + of_a_token
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::Op;

    use super::*;

    const PAGE: u64 = 16 << 10;
    const MIB: u64 = 1 << 20;

    fn drawn(model: &str, count: usize) -> (ModelLaw, Vec<Request>) {
        let workload: ModelWorkload = toml::from_str(&format!("[model]\n{model}")).unwrap();
        let mut source = ModelSource::new(&workload, 1 << 30, PAGE as u32, 7).unwrap();
        let mut out = vec![];
        source.fill(&mut out, count).unwrap();
        (source.law, out)
    }

    /// Compares the number of reads of each page with the rates of [`ModelLaw`].
    #[test]
    fn pages_are_read_at_the_rates_of_the_law() {
        for model in [
            "size = \"40MB\"\ndense = \"3MB\"\nexpert = \"1.1MB\"\nactive = 5.5\ncache = \"9MB\"\n\
             popularity = \"zipf:0.9\"\ntokens_per_second = 2\ntokens = 4000\n\
             kv_read = \"300KiB\"\nkv_window = \"8MiB\"\ncached = 0.25",
            "size = \"20MB\"\nexpert = \"500KB\"\nactive = 4\nrequest_size = \"4KiB\"\n\
             tokens_per_second = 2\ntokens = 1000",
        ] {
            let (law, requests) = drawn(model, usize::MAX >> 1);
            let mut seen = vec![0.0; law.pages() as usize];
            for read in requests.iter().filter(|request| request.op == Op::Read) {
                let last = (read.offset + u64::from(read.bytes) - 1) / PAGE;
                (read.offset / PAGE..=last).for_each(|page| seen[page as usize] += 1.0);
            }
            let tokens = law.config.tokens as f64;
            for (page, seen) in seen.iter().enumerate() {
                let mean = law.reads_per_token(page as u64) * tokens;
                assert!((seen - mean).abs() <= 5.0 * mean.sqrt() + 1e-9, "{page}: {seen} {mean}");
            }
            let bytes: f64 = requests.iter().map(|request| f64::from(request.bytes)).sum();
            assert!((bytes / tokens / law.bytes_per_token() - 1.0).abs() < 0.02, "{bytes}");
            let count = requests.len() as f64 / tokens;
            assert!((count / law.requests_per_token() - 1.0).abs() < 0.02, "{count}");
        }
    }

    #[test]
    fn a_token_takes_its_experts_in_its_time() {
        let (_, requests) = drawn(
            "size = \"10MiB\"\nexpert = \"1MiB\"\nactive = 3\ntokens_per_second = 2\n\
             tokens = 20",
            10_000,
        );
        assert_eq!(requests.len(), 20 * 3 * 8);
        assert!(requests.is_sorted_by_key(|request| request.at));
        for (token, of_token) in (0..).zip(requests.chunks(24)) {
            let mut experts: Vec<u64> =
                of_token.iter().map(|request| request.offset / MIB).collect();
            experts.dedup();
            assert_eq!(experts.len(), 3, "each expert once");
            assert_eq!(of_token[0].at, token * 500_000_000);
        }
    }

    #[test]
    fn writes_come_between_reads_and_passes_go_on() {
        let workload: ModelWorkload = toml::from_str(
            "[model]\nsize = \"2MiB\"\ntokens_per_second = 2\ntokens = 4\nkv_written = \"1MiB\"\n\
             kv_window = \"4MiB\"\nrequest_size = \"1MiB\"",
        )
        .unwrap();
        let mut source = ModelSource::new(&workload, 1 << 30, PAGE as u32, 7).unwrap();
        let mut pass = || {
            let mut out = vec![];
            source.fill(&mut out, 1000).unwrap();
            source.next_pass().unwrap();
            out.iter().map(|of| (of.at / 1_000_000, of.op)).collect::<Vec<_>>()
        };
        let reads = |from: u64| (0..8).map(move |n| (from + n * 250, Op::Read));
        let of = |from: u64, writes: &[u64]| {
            let mut all: Vec<_> =
                reads(from).chain(writes.iter().map(|at| (*at, Op::Write))).collect();
            all.sort_by_key(|(at, op)| (*at, *op == Op::Write));
            all
        };
        assert_eq!(pass(), of(0, &[500, 1000, 1500]));
        assert_eq!(pass(), of(2000, &[2000, 2500, 3000, 3500]));
    }
}
