//! Makes a stream of requests for one drive from a `[workload]` table.
//!
//! A batch of requests is drawn in steps: direction, size, address, and at last the arrival
//! ([`Finite`]). Each step is a tight loop with its own random stream. Branches on settings are
//! outside of the loop.

use vpass_drive::base::request::{Op, Request, SourceError};
use vpass_drive::config::ConfigError;

use super::addresses::{Addresses, Sequential, SizeClass, Uniform};
use super::distribution::Distribution;
use super::hot_cold::{HotCold, hot_runs};
use super::random::{Rng, Streams, threshold};
use super::scatter::Scatter;
use super::sizes::Sizes;
use super::synthetic_config::{HotSets, WorkloadConfig, require};
use super::zipf::Zipf;
use crate::finite::{Draw, Finite};

/// Footprint of the workload, which is the used part of the drive.
pub(super) struct Area {
    footprint: u64,
    pub(super) run_bytes: u64,
    pub(super) classes: Vec<SizeClass>,
}

/// Source of the requests that a `[workload]` table describes.
pub type SyntheticSource = Finite<Synthetic>;

/// Generator of the requests that a `[workload]` table describes.
pub struct Synthetic {
    /// Threshold for a random number. A number below this threshold makes the request a read.
    /// `None` if all requests have the same direction.
    read_below: Option<u64>,
    first_op: Op,
    sizes: Sizes,
    classes: Vec<SizeClass>,
    place: Box<dyn Addresses>,
    /// Generator of write addresses, if writes have a distribution of their own.
    write_place: Option<Box<dyn Addresses>>,
    streams: Streams,
}

impl SyntheticSource {
    /// Makes the source for a drive of `capacity` bytes with pages of `page_bytes`.
    ///
    /// # Errors
    /// Returns an error for the first key that is invalid or does not suit the drive.
    pub fn new(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        Self::with(config, capacity, page_bytes, Streams::new(seed))
    }

    /// Makes a source of the requests that the same host made before the run. The hot addresses are
    /// those of the run, but the requests differ.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Self::new`].
    pub fn earlier(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        Self::with(config, capacity, page_bytes, Streams::earlier(seed))
    }

    fn with(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        mut streams: Streams,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        require(config.stripes.is_none(), || {
            "workload.stripes: this generator draws no stripes".into()
        })?;
        let area = Area::new(config, capacity, u64::from(page_bytes))?;
        // Reads and writes use the same permutation of ranks. As a result, reads and writes have
        // the same hot addresses, unless the hot parts must be disjoint.
        let scatter = Scatter::new(area.runs().max(1), &mut streams.scatter);
        let writes_first = area.first_rank_of_writes(config)?;
        let sizes: Vec<_> = config.sizes().iter().map(|s| (s.size.0 as u32, s.share)).collect();
        let arrivals = streams.arrival.clone();
        let draw = Synthetic {
            read_below: (config.read_share > 0.0 && config.read_share < 1.0)
                .then(|| threshold(config.read_share)),
            first_op: if config.read_share == 0.0 { Op::Write } else { Op::Read },
            sizes: Sizes::new(&sizes),
            place: area.placement(config.distribution, 0, &scatter),
            write_place: config
                .write_distribution
                .map(|d| area.placement(d, writes_first, &scatter)),
            classes: area.classes,
            streams,
        };
        Ok(Self::of(draw, config.requests, config.arrival()).at_rate(
            config.rate,
            config.arrivals,
            arrivals,
        ))
    }
}

impl Draw for Synthetic {
    fn draw(&mut self, out: &mut Vec<Request>, count: usize) -> Result<(), SourceError> {
        let start = out.len();
        // A value that is the same for all requests is not drawn.
        let blank = Request::new(0, 0, self.sizes.first(), self.first_op);
        out.resize(start + count, blank);
        let (batch, streams) = (&mut out[start..], &mut self.streams);
        if let Some(read_below) = self.read_below {
            for request in batch.iter_mut() {
                request.op =
                    if streams.direction.next_u64() < read_below { Op::Read } else { Op::Write };
            }
        }
        self.sizes.draw(&mut streams.size, batch);
        match &mut self.write_place {
            None => self.place.fill(&mut streams.address, &self.classes, batch, None),
            Some(write_place) => {
                self.place.fill(&mut streams.address, &self.classes, batch, Some(Op::Read));
                write_place.fill(&mut streams.write_address, &self.classes, batch, Some(Op::Write));
            }
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.place.memory() + self.write_place.as_ref().map_or(0, |place| place.memory())
    }
}

impl Area {
    pub(super) fn new(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u64,
    ) -> Result<Self, ConfigError> {
        let footprint = (capacity as f64 * config.footprint) as u64;
        let footprint = footprint.min(capacity);
        let sizes = config.sizes();
        let largest = sizes.iter().map(|s| s.size.0).max().unwrap_or(page_bytes);
        require(largest <= footprint, || {
            format!(
                "workload: a request of {largest} bytes does not fit into the footprint of \
                 {footprint} bytes"
            )
        })?;
        let fits_all = |run: u64| sizes.iter().all(|s| run.is_multiple_of(s.size.0));
        let run_bytes = match config.run {
            Some(run) => {
                require(run.0 > 0 && fits_all(run.0), || {
                    format!(
                        "workload.run = {run} must be a multiple of every block size, because a \
                         run holds whole blocks"
                    )
                })?;
                run.0
            }
            None if fits_all(page_bytes) => page_bytes,
            None => largest,
        };
        if config.has_ranks() {
            require(fits_all(run_bytes), || {
                "workload.run: these block sizes do not divide each other, so workload.run must be \
                 a multiple of each block size"
                    .into()
            })?;
            require(footprint / run_bytes >= 2, || {
                format!(
                    "workload.run: the footprint of {footprint} bytes holds fewer than two runs \
                     of {run_bytes} bytes"
                )
            })?;
        }
        let classes = sizes.iter().map(|s| SizeClass {
            bytes: s.size.0,
            blocks: footprint / s.size.0,
            per_run: run_bytes / s.size.0,
        });
        Ok(Self { footprint, run_bytes, classes: classes.collect() })
    }

    /// Returns the first popularity rank of the hot part of writes. If the hot parts must be
    /// disjoint, the hot ranks of writes follow the hot ranks of reads.
    pub(super) fn first_rank_of_writes(&self, config: &WorkloadConfig) -> Result<u64, ConfigError> {
        let runs = self.runs();
        match (config.hot_sets, config.distribution, config.write_distribution) {
            (
                HotSets::Disjoint,
                Distribution::HotCold { addresses: read, .. },
                Some(Distribution::HotCold { addresses: written, .. }),
            ) => {
                let (read, written) = (hot_runs(runs, read), hot_runs(runs, written));
                require(read + written <= runs, || {
                    format!(
                        "workload.hot_sets = \"disjoint\": the hot parts, {read} and {written} \
                         runs, do not fit into {runs} runs"
                    )
                })?;
                Ok(read)
            }
            _ => Ok(0),
        }
    }

    /// Returns the number of runs in the footprint. Each run has a popularity rank.
    pub(super) fn runs(&self) -> u64 {
        self.footprint / self.run_bytes
    }

    fn placement(
        &self,
        distribution: Distribution,
        first_rank: u64,
        scatter: &Scatter,
    ) -> Box<dyn Addresses> {
        let runs = self.runs();
        match distribution {
            Distribution::Uniform => Box::new(Uniform),
            Distribution::Sequential => {
                Box::new(Sequential::new(self.footprint, self.classes.len() > 1))
            }
            Distribution::Zipf { theta } => {
                Box::new(Zipf::new(runs, self.run_bytes, theta, scatter.clone()))
            }
            Distribution::HotCold { addresses, accesses } => Box::new(HotCold::new(
                runs,
                self.run_bytes,
                first_rank,
                (addresses, accesses),
                scatter.clone(),
            )),
        }
    }
}

impl WorkloadConfig {
    /// Returns whether the distribution of reads or of writes gives popularity ranks to runs.
    fn has_ranks(&self) -> bool {
        let ranked = |d: &Distribution| {
            matches!(d, Distribution::Zipf { .. } | Distribution::HotCold { .. })
        };
        ranked(&self.distribution) || self.write_distribution.as_ref().is_some_and(ranked)
    }
}
