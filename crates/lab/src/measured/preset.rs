//! Estimate for a drive that is described by a drive file. Two snapshots of a real drive show how
//! many bytes the host read and wrote, and how much time passed. The estimate tells how many bytes
//! the described drive would have written to flash for the same requests. The equations are those
//! of `crate::estimate`.
//!
//! Snapshots do not show which pages the host read and wrote. The estimate therefore assumes
//! requests of whole pages, spread evenly over all pages, and reports these assumptions.

use serde::Serialize;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::phrase::Opt;
use vpass_drive::phrase;

use super::Measured;
use crate::estimate;
use crate::failure::Failure;
use crate::load;
use crate::plan::{Chosen, RunPlan};
use crate::progress::unwatched;
use crate::setup::{Base, Gear, Named, Setup, Watch};

/// Reclaim technique that the estimate assumes.
const RECLAIM: &str = "block";
/// Assumptions of the estimate, as a text.
const TAKEN: &str = "the host reads and writes all pages evenly, in requests of whole pages at a \
    steady rate; numbers are means of the drive's whole life, without refresh";

/// Estimate for the drive that a drive file describes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfPreset {
    /// Preset or path of the drive.
    pub drive: String,
    /// Capacity of the drive in bytes, as the host sees it.
    pub capacity_bytes: u64,
    /// Name of the reclaim technique.
    pub reclaim_technique: &'static str,
    /// Assumptions of the estimate, as a text.
    pub assumptions: &'static str,
    /// Estimated number of bytes that the drive would have written to flash. Null without an
    /// estimate.
    pub flash_written_bytes: Option<f64>,
    /// Bytes written to flash per byte that the host read; null if the host read nothing.
    pub flash_written_per_byte_read: Option<f64>,
    /// Bytes written to flash per byte that the host wrote; null if the host wrote nothing.
    pub flash_written_per_byte_written: Option<f64>,
    /// Bytes that the drive would have rewritten because of reads, per byte that the host read.
    /// Null if the host read nothing.
    pub rewritten_per_byte_read: Option<f64>,
    /// Uncertainty of the equations, as a share of the life that they give. Null without an
    /// estimate.
    pub within: Option<f64>,
    /// Reason why there is no estimate; null if there is an estimate.
    pub why: Option<String>,
}

impl Measured {
    /// Estimates how many bytes this drive would have written to flash. The host is assumed to read
    /// and write as many bytes, in as much time, as between two snapshots of a real drive.
    ///
    /// # Errors
    /// Returns an error if the drive file cannot be read. Also returns an error if the snapshots do
    /// not contain a time, or the bytes that the host read and wrote.
    pub fn estimate_for(&self, drive: &str) -> Result<OfPreset, Failure> {
        let (Some(read), Some(written), Some(seconds)) =
            (self.host_read_bytes, self.host_written_bytes, self.seconds)
        else {
            return Err(Failure::usage(phrase![
                Opt::Drive,
                " needs the time and the numbers of bytes that the host read and wrote, but the \
                 snapshots lack one of these numbers; `smartctl -j -a` of an NVMe drive has all \
                 three",
            ]));
        };
        if seconds == 0 || read == 0 && written == 0 {
            return Err(Failure::usage(phrase![
                Opt::Drive,
                " needs a load, but between the snapshots the host sent no reads or writes, or no \
                 time passed",
            ]));
        }
        let config = load::drive(drive, &[])?.config;
        let geometry = Geometry::new(&config);
        let page = u64::from(geometry.page_bytes);
        let raw_bytes = f64::from(geometry.raw_pages()) * page as f64;
        let mut of = OfPreset {
            drive: drive.to_owned(),
            capacity_bytes: u64::from(geometry.host_pages) * page,
            reclaim_technique: RECLAIM,
            assumptions: TAKEN,
            flash_written_bytes: None,
            flash_written_per_byte_read: None,
            flash_written_per_byte_written: None,
            rewritten_per_byte_read: None,
            within: None,
            why: None,
        };
        let all = (read + written) as f64;
        let set = vec![
            format!("workload.read_share={}", read as f64 / all),
            format!("workload.block_size={page}"),
            format!("workload.rate={}", all / page as f64 / seconds as f64),
            "workload.queue_depth=".into(),
        ];
        let base = Base { gear: Gear::Fluid, set, oracle: Watch::Off, ..Base::new(drive) };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let chosen = Chosen { reclaim: RECLAIM, ..Chosen::default() };
        let life = match estimate::of(&RunPlan::new(&setup, chosen, &unwatched)?)? {
            Ok(life) => life,
            Err(why) => return Ok(OfPreset { why: Some(why), ..of }),
        };
        // A P/E cycle of a block programs each page of the block once.
        let by_reads = life.cycles_by_reads * raw_bytes;
        let flash = (life.cycles_by_host + life.cycles_by_age) * raw_bytes + by_reads;
        of.flash_written_per_byte_read = life.read_bytes.map(|bytes| flash / bytes);
        of.flash_written_per_byte_written = life.host_bytes.map(|bytes| flash / bytes);
        of.rewritten_per_byte_read = life.read_bytes.map(|bytes| by_reads / bytes);
        let times = |ratio: Option<f64>, bytes: u64| ratio.map(|ratio| ratio * bytes as f64);
        of.flash_written_bytes = times(of.flash_written_per_byte_read, read)
            .or_else(|| times(of.flash_written_per_byte_written, written));
        of.within = of.flash_written_bytes.map(|_| life.within);
        if of.flash_written_bytes.is_none() {
            of.why = Some("nothing wears the drive".into());
        }
        Ok(of)
    }
}
