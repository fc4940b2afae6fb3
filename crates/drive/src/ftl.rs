//! The controller: map, free blocks, streams, the one allocator, the one mover, garbage collection,
//! the write buffer.

pub(crate) mod adjust;
pub(crate) mod buffer;
pub(crate) mod collect;
pub(crate) mod free;
pub(crate) mod gather;
pub(crate) mod gathers;
pub(crate) mod job;
pub(crate) mod lent;
pub(crate) mod lifetime;
pub(crate) mod losses;
pub(crate) mod map;
pub(crate) mod mover;
pub(crate) mod pace;
pub(crate) mod partial;
pub(crate) mod place;
pub(crate) mod rebuild;
pub(crate) mod recycle;
pub(crate) mod reprogram;
pub(crate) mod retire;
pub(crate) mod share;
pub(crate) mod streams;
pub(crate) mod worn;

use crate::api::gc::victims::VictimIndex;
use crate::api::refresh::Adjusting;
use crate::base::geometry::Geometry;
use crate::base::metrics::{ParityCounts, ReclaimCounts, RefreshCounts};
use crate::base::streams::StreamSpec;
use crate::base::stripes::Stripes;
use crate::base::units::{Lpn, Ns, transfer_ns, us};
use crate::config::{DriveConfig, Schedule, WearConfig};
use crate::hints::{self, Hinted};
use crate::wheel::TimeWheel;
use adjust::Turns;
use buffer::WriteBuffer;
use collect::Lagging;
use free::FreeBlocks;
use gathers::Gathers;
use job::{Job, JobRef};
use map::PageMap;
use partial::PartialParities;
use retire::TakenByFailures;
use share::Share;
use streams::Streams;
use worn::WornStripes;

/// State of the controller: the places of the host's pages, and the work in progress.
pub(crate) struct Ftl {
    pub(crate) map: PageMap,
    pub(crate) buffer: WriteBuffer,
    /// Number of pages that the write buffer may hold while they are programmed; 0 without a write
    /// buffer.
    pub(crate) buffer_slots: u32,
    /// Pages that wait for their wordline, if a program takes a whole wordline.
    pub(crate) gathers: Gathers,
    pub(crate) streams: Streams,
    /// Hints of the host about its pages; `None` if it gives none.
    pub(crate) hinted: Option<Hinted>,
    pub(crate) free: FreeBlocks,
    pub(crate) victims: VictimIndex,
    /// Jobs that run in idle gaps or batches, one per slot; `None` when the job is done.
    pub(crate) jobs: Vec<Option<Job>>,
    /// Number of GC jobs in `jobs`, by domain.
    gc_jobs: Vec<u32>,
    /// Grouping of pages for parity, if there is parity.
    pub(crate) stripes: Option<Stripes>,
    /// Stripes whose parity was given up, one bit each; empty until the first.
    unprotected: Vec<u64>,
    /// Number of XOR computations so far.
    xors: u32,
    /// Parity counts since the measured phase began.
    pub(crate) parity: ParityCounts,
    /// Partial parities that are not programmed yet.
    pub(crate) partial: PartialParities,
    /// Stripes that need parity because of wear.
    pub(crate) worn: WornStripes,
    /// Deferred jobs that the timed gear has not yet taken over.
    pub(crate) started_jobs: Vec<JobRef>,
    jobs_begun: u64,
    /// Number of pages that the currently running jobs will take away, by domain.
    leaving_now: Vec<u32>,
    /// Largest number of pages that the modes of a domain's blocks and wordlines may take away.
    pages_to_spare: u32,
    /// Number of erases of the drive at which static wear levelling checks next.
    next_wear_check: u64,
    /// Number of erases of the drive at which it lists lagging blocks again.
    next_wear_list: u64,
    /// Blocks of each domain that lagged when they were listed and are not moved yet.
    lagging: Vec<Lagging>,
    /// State of the merging checks that follow GC's picks.
    pub(crate) turns: Turns,
    /// Plane from which preconditioning takes its next block.
    load_cursor: u32,
    /// Time to copy a page on an idle drive. The urgency of jobs depends on it.
    copy_ns: Ns,
    /// Time to reprogram a wordline on an idle drive, and time to merge one in place for faster
    /// reads.
    merge_ns: Ns,
    pub(crate) adjust_ns: Ns,
    /// Settings for merging wordlines in place for faster reads; `None` if refresh does not merge.
    pub(crate) adjusting: Option<Adjusting>,
    /// Logical pages reported lost and not rewritten since, one bit each; empty until the first.
    lost: Vec<u64>,
    pub(crate) lost_pages: u64,
    /// Number of pages lost by failures.
    pub(crate) taken: TakenByFailures,
    /// Pages that were rebuilt in memory and will be programmed next.
    pub(crate) in_hand: Vec<Lpn>,
    /// Number of lost pages whose data was older than the drive's data may become.
    pub(crate) lost_by_age: u64,
    /// Counts of read reclaim since the measured phase began.
    pub(crate) reclaim: ReclaimCounts,
    /// Counts of data refresh since the measured phase began.
    pub(crate) refresh: RefreshCounts,
    /// Times at which blocks are checked because of their age.
    pub(crate) wheel: TimeWheel,
    /// Times at which blocks enter their next step of age. A technique that looks up limits by the
    /// age of data is asked about them then.
    pub(crate) steps: TimeWheel,
    /// Time at which jobs of reclaim run: `reclaim.schedule`.
    schedule: Schedule,
    /// Settings of `[wear]`.
    wear: WearConfig,
    /// Number of free blocks of a domain that background cleaning aims for; 0 without background
    /// cleaning.
    pub(crate) background_blocks: u32,
    /// Larger drive of a sample. The sample keeps as much space free as its share of that drive.
    share: Option<Share>,
}

impl Ftl {
    /// Creates the controller of an empty drive. Its technique has the streams `own` in addition to
    /// those of the drive.
    pub(crate) fn new(config: &DriveConfig, geometry: &Geometry, own: Vec<StreamSpec>) -> Self {
        // Half of the buffer gathers writes, the other half holds pages being programmed. Without a
        // buffer, one page passes through.
        let buffer_slots =
            (config.drive.write_buffer.0 / u64::from(geometry.page_bytes) / 2) as u32;
        // Pages of a stripe that came together wait for each other.
        let fewest = geometry.stripes.map_or(1, |stripes| stripes.members());
        let streams = Streams::new(config, geometry, own);
        let [copy_ns, merge_ns, adjust_ns] = job_times(config, geometry);
        let background_blocks = background_blocks(config, geometry, &streams);
        Self {
            map: PageMap::new(geometry.logical_pages()),
            buffer: WriteBuffer::new(buffer_slots.max(fewest)),
            buffer_slots,
            gathers: Gathers::new(),
            free: FreeBlocks::new(geometry.dies() * geometry.planes_per_die, geometry.domains()),
            victims: VictimIndex::new(
                geometry.blocks,
                geometry.pages_per_block,
                geometry.domains(),
            ),
            jobs: vec![],
            gc_jobs: vec![0; geometry.domains() as usize],
            stripes: geometry.stripes,
            unprotected: vec![],
            xors: 0,
            parity: ParityCounts::default(),
            partial: PartialParities::default(),
            worn: WornStripes::new(config, geometry),
            started_jobs: vec![],
            jobs_begun: 0,
            leaving_now: vec![0; geometry.domains() as usize],
            pages_to_spare: pages_to_spare(config, geometry, &streams),
            streams,
            hinted: hints::hinted(config),
            next_wear_check: 0,
            next_wear_list: 0,
            lagging: vec![],
            turns: Turns::default(),
            load_cursor: 0,
            copy_ns,
            merge_ns,
            adjust_ns,
            adjusting: None,
            lost: vec![],
            lost_pages: 0,
            taken: TakenByFailures::default(),
            in_hand: vec![],
            lost_by_age: 0,
            reclaim: ReclaimCounts::default(),
            refresh: RefreshCounts::default(),
            wheel: TimeWheel::new(),
            steps: TimeWheel::new(),
            schedule: config.reclaim.schedule,
            wear: config.wear.clone(),
            background_blocks,
            share: Share::of(config, geometry),
        }
    }
}

/// Returns the number of pages that modes may take away in each domain. It is a share of the spare
/// pages, without those that open blocks and the reserve may need.
fn pages_to_spare(config: &DriveConfig, geometry: &Geometry, streams: &Streams) -> u32 {
    let open: u32 = streams.widths().iter().map(|(_, width)| width / geometry.domains()).sum();
    // One more block is being moved, and one must be left to gain space.
    let free = geometry.spare_blocks_of_domain().saturating_sub(open + streams.reserve() + 2)
        * geometry.pages_per_block;
    let of_share = geometry
        .spare_pages_of_domain()
        .saturating_sub(geometry.beyond_share * geometry.pages_per_block);
    free.min((config.density.spare_share * f64::from(of_share)) as u32)
}

/// Returns the share `gc.background` of the spare blocks of a domain. It is larger than the numbers
/// of blocks that writes and moves wait for, so that background cleaning does not come too late.
fn background_blocks(config: &DriveConfig, geometry: &Geometry, streams: &Streams) -> u32 {
    let share = config.gc.background;
    if share > 0.0 {
        ((share * f64::from(geometry.spare_blocks_of_domain())) as u32).max(streams.reserve() + 2)
    } else {
        0
    }
}

/// Returns times of jobs on an idle drive: to read and program a page, to read a wordline and
/// program one page of it, and the longest time to merge a wordline in place. If a program takes a
/// wordline, its time is divided among the pages. A page of the mean kind is read.
fn job_times(config: &DriveConfig, geometry: &Geometry) -> [Ns; 3] {
    let timing = &config.timing;
    let transfer = transfer_ns(u64::from(geometry.page_bytes), timing.channel_mb_s);
    let read = us(config.sense_us_per_page() + timing.ecc_us) + transfer;
    let copy = read + transfer + us(config.program_us_per_page());
    let bits = u64::from(geometry.cell.bits());
    let merge = bits * read + transfer + us(timing.program_us.longest());
    // One of the pages has moved, and all others are written elsewhere. The time on the die comes
    // from the technique.
    let adjust = (bits - 1) * (read + copy) + transfer;
    [copy, merge, adjust]
}
