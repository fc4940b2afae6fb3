//! Load of a trace on the blocks of a drive: page reads per block and week. The load is compared
//! with the reads that a block endures.
//!
//! A drive writes data that arrives together into one block. The model therefore treats each
//! address range of the size of a block as one block. The mean reads per block are all page reads,
//! divided by the number of blocks that the touched pages would fill.

use serde::Serialize;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::Op;
use vpass_drive::config::DriveConfig;
use vpass_lab::explain;
use vpass_lab::failure::Failure;
use vpass_lab::plan::reclaim_named;
use vpass_workload::profile::{Device, Profile};

const WEEK_NS: f64 = 7.0 * 86_400e9;

/// Drive properties that determine how many reads a trace causes per block.
pub(super) struct Scale {
    drive: String,
    pub(super) page_bytes: u32,
    pages_per_block: u32,
    endurance: Option<Endurance>,
}

/// Numbers of reads that a block endures. The P/E count of the block is the value of the key
/// `start.pec`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Endurance {
    pub(super) pec: u32,
    /// Name of the weakest wordline group. A wordline of this group loses data first if all reads
    /// hit one adjacent wordline.
    pub(super) group: String,
    pub(super) limit: f64,
    pub(super) alpha: f64,
    /// Number of reads that hit one wordline before an adjacent wordline of the weakest group loses
    /// data. This number is the field `limit` divided by the field `alpha`.
    pub(super) worst_case_reads: f64,
    /// Number of reads until any wordline group loses data, if the reads are spread evenly over the
    /// block.
    pub(super) even_reads: f64,
    /// Number of reads at which the technique `block` rewrites a block.
    pub(super) rewritten_at_reads: Option<u32>,
}

/// Numbers of reads that a trace causes on the blocks of a drive.
#[derive(Debug, Serialize)]
pub(super) struct BlockReads {
    pub(super) drive: String,
    pub(super) block_bytes: u64,
    /// Number of blocks that the touched pages would fill.
    pub(super) blocks: f64,
    pub(super) mean: ReadIntensity,
    pub(super) busiest: Option<Busiest>,
    /// Numbers of reads that a block endures; absent if reads disturb no data.
    pub(super) endurance: Option<Endurance>,
}

/// Number and rate of the reads on one block.
#[derive(Debug, Serialize)]
pub(super) struct ReadIntensity {
    pub(super) reads: f64,
    /// Reads per week; absent if the trace covers no time.
    pub(super) reads_per_week: Option<f64>,
    /// Weeks until data is lost, if all reads of the block hit the same wordline. The field after
    /// this one has the weeks for reads that are spread evenly.
    pub(super) weeks_to_worst_case: Option<f64>,
    pub(super) weeks_to_even: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Busiest {
    pub(super) device: String,
    pub(super) offset_bytes: u64,
    #[serde(flatten)]
    pub(super) intensity: ReadIntensity,
}

impl Scale {
    pub(super) fn new(drive: &str, config: &DriveConfig) -> Result<Self, Failure> {
        let geometry = Geometry::new(config);
        Ok(Self {
            drive: drive.into(),
            page_bytes: geometry.page_bytes,
            pages_per_block: geometry.pages_per_block,
            endurance: explain::age(config, config.start.pec, reclaim_named("block")?)?
                .map(|age| endurance(&age)),
        })
    }

    /// Computes how often a trace reads each block of the drive.
    pub(super) fn weigh(&self, profile: &Profile, name: impl Fn(&Device) -> String) -> BlockReads {
        let block_bytes = u64::from(self.page_bytes) * u64::from(self.pages_per_block);
        let blocks = (profile.pages_touched() as f64 / f64::from(self.pages_per_block)).max(1.0);
        let span_ns = profile.timeline().span_ns();
        let regions = profile.regions(u64::from(self.pages_per_block));
        let reads = profile.accesses(Op::Read);
        // If the profile of the trace counts only a sample of the pages, the reads of a whole block
        // are unknown.
        let busiest =
            regions.first().filter(|r| r.reads > 0 && profile.one_in() == 1).map(|r| Busiest {
                device: name(&profile.devices()[r.device]),
                offset_bytes: r.number * block_bytes,
                intensity: self.intensity(r.reads as f64, span_ns),
            });
        BlockReads {
            drive: self.drive.clone(),
            block_bytes,
            blocks,
            mean: self.intensity(reads as f64 / blocks, span_ns),
            busiest,
            endurance: self.endurance.clone(),
        }
    }

    fn intensity(&self, reads: f64, span_ns: u64) -> ReadIntensity {
        let reads_per_week = (span_ns > 0).then(|| reads * WEEK_NS / span_ns as f64);
        let weeks = |limit: fn(&Endurance) -> f64| {
            let (reads, endurance) = (reads_per_week?, self.endurance.as_ref()?);
            (reads > 0.0).then(|| limit(endurance) / reads)
        };
        ReadIntensity {
            reads,
            reads_per_week,
            weeks_to_worst_case: weeks(|e| e.worst_case_reads),
            weeks_to_even: weeks(|e| e.even_reads),
        }
    }
}

fn endurance(age: &explain::Age) -> Endurance {
    let worst_case = |g: &explain::Group| g.limit / g.alpha;
    let weakest = age
        .groups
        .iter()
        .min_by(|a, b| worst_case(a).total_cmp(&worst_case(b)))
        .expect("a disturbed drive has groups");
    Endurance {
        pec: age.pec,
        group: weakest.name.clone(),
        limit: weakest.limit,
        alpha: weakest.alpha,
        worst_case_reads: worst_case(weakest),
        even_reads: age.groups.iter().map(|g| g.limit).fold(f64::INFINITY, f64::min),
        rewritten_at_reads: age.thresholds.first().map(|t| t.reads),
    }
}
