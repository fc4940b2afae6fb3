//! What the drive tells whoever watches it: the oracle, counters, later a live drive's bytes.
//! Observers see facts of the medium, never the drive's own bookkeeping, and cannot change
//! anything.

use std::any::Any;

use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::metrics::TimedMetrics;
use crate::base::page_set::PageSet;
use crate::base::request::Request;
use crate::base::steady::Order;
use crate::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn, Reads, Seq, WordlineInBlock};
use crate::watch::time_event::{OpId, TimeEvent};

/// Where no flash page was read: the page is unmapped (never written, trimmed, or reported lost).
pub const NO_PPN: Ppn = Ppn::new(0x7FFF_FFFF);
/// The owner of a page that belongs to nobody: nothing was programmed there, or nothing that
/// anybody wants.
pub const NO_LPN: Lpn = Lpn::new(0x7FFF_FFFF);
/// Owner recorded for sensings that decode no data, such as probes.
pub const NO_OWNER: Lpn = Lpn::new(0xFFFF_FFFF);
/// The data came from the write buffer.
pub const FROM_BUFFER: Ppn = Ppn::new(0xFFFF_FFFF);

/// What became of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReadResult {
    /// Decoded; the data was used.
    Good,
    /// The drive reported it uncorrectable; no data was used.
    Uncorrectable,
    /// It was not what the controller's memory holds of the page, or could not be decoded: that is
    /// used in its place.
    InMemory,
}

/// One page read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysRead {
    /// Page of the host whose data was wanted, or [`NO_OWNER`].
    pub lpn: Lpn,
    /// Where it was read, [`NO_PPN`] or [`FROM_BUFFER`].
    pub ppn: Ppn,
    /// Why.
    pub cause: Cause,
    /// What the drive made of it.
    pub result: ReadResult,
    /// It fills in the rest of a partly written page, whose newest part is in the write buffer.
    pub fill: bool,
    /// How often it was sensed again, until it could be decoded or was given up.
    pub retries: u8,
}

impl PhysRead {
    /// A page of the host's that was decoded as it was sensed first.
    #[inline]
    pub fn good(lpn: Lpn, ppn: Ppn, cause: Cause) -> Self {
        Self { lpn, ppn, cause, result: ReadResult::Good, fill: false, retries: 0 }
    }
}

/// Where the content of a programmed page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The newest host data of the page, out of the write buffer.
    Host,
    /// A copy of what was just read at this physical page.
    Copy(Ppn),
    /// A copy that waited in the controller's memory ([`Observer::gathered`]).
    Gathered,
    /// What was worked out under this number ([`Observer::xored`]): parity, or a page that could
    /// not be read and is rebuilt.
    Xor(u32),
}

/// What is added to a XOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XorSource {
    /// What was just read at this physical page.
    Page(Ppn),
    /// The newest data of the host's page in the controller's memory.
    Memory(Lpn),
    /// What the cache of partial parity holds of this stripe.
    Partial(u32),
}

/// Reads of a block in bulk, some of them with retries. Each of them was decoded.
#[derive(Clone, Copy, Debug)]
pub struct BulkReads<'a> {
    /// The block.
    pub block: BlockId,
    /// Earliest time of a read.
    pub since: Ns,
    /// End of the time in which the reads came.
    pub until: Ns,
    /// Number of reads of each place of the block. Places are wordlines, or pages if the list has
    /// an entry for each page.
    pub reads: &'a [u32],
    /// Number of retries of each read of a place.
    pub retries: &'a [u8],
}

/// A watcher. Calls arrive in the order in which the drive's state changed. It is `Any`, so that
/// whoever set it gets it back as it was.
pub trait Observer: Any {
    /// Time of the drive from here on, told before reads and events if the time has changed since
    /// the last call. The reads of a batch share the time of its last read. The drive begins at 0.
    fn now(&mut self, _at: Ns) {}
    /// Requests of the host, in the order in which they will be submitted, before any of them is.
    /// They are numbered through over all that the drive is asked for, in either gear; `first` is
    /// the number of the first. Their reads are served in this order, and so are their writes and
    /// trims; in the timed gear reads overtake writes that wait for room. A run that is interrupted
    /// leaves the last unserved.
    fn requests(&mut self, _first: u64, _requests: &[Request]) {}
    /// At most 32 page reads, flushed before anything below is called.
    fn reads(&mut self, batch: &[PhysRead]);
    /// The host has read pages of this block so often, since it was told of the block last, that no
    /// single read is known: the dose of each wordline in quarters of a unit, from wordline 0 on,
    /// or nothing where reads disturb nothing. Each of them could be decoded.
    fn read_in_bulk(&mut self, _block: BlockId, _reads: u64, _doses: &[u32]) {}
    /// The host read pages of a block in bulk, and some of the reads took retries. Single reads are
    /// not known.
    fn read_in_bulk_with_retries(&mut self, _reads: &BulkReads) {}
    /// Until this time the host asks for nothing but reads that come in bulk.
    fn quiet_until(&mut self, _at: Ns) {}
    /// The host wrote this page (accepted, in the write buffer or on its way to flash).
    /// `whole` where the whole page is new by now; else older data completes it, if it can be read.
    fn host_wrote(&mut self, lpn: Lpn, whole: bool);
    /// Told just before [`Self::host_wrote`]: the parts of the page that the host wrote and the
    /// controller's memory holds by now, a bit for each 64th of the page that was wholly written,
    /// the first in the lowest bit.
    fn took_in(&mut self, _lpn: Lpn, _parts: u64) {}
    /// What was just read to complete this partly written page stays with it in the controller's
    /// memory: it is whole there from now on.
    fn filled(&mut self, _lpn: Lpn) {}
    /// The host trimmed this page.
    fn trimmed(&mut self, lpn: Lpn);
    /// The drive reported the host's data at this page as lost.
    fn lost(&mut self, lpn: Lpn);
    /// What was just read at this physical page waits in the controller's memory until it is
    /// programmed; the page there is not wanted any more.
    fn gathered(&mut self, lpn: Lpn, from: Ppn);
    /// Something is added to the XOR that is worked out under this number, and that a page will
    /// hold ([`Origin::Xor`]); a new number begins with nothing. What was read counts as it was
    /// then.
    fn xored(&mut self, _number: u32, _source: XorSource) {}
    /// What was worked out under this number is what flash holds of this page, which could not be
    /// read: the controller's memory holds it now.
    fn rebuilt(&mut self, _lpn: Lpn, _number: u32) {}
    /// What flash holds of this page can neither be read nor be rebuilt, and is given up; the
    /// controller's memory holds newer data of the whole page.
    fn superseded(&mut self, _lpn: Lpn) {}
    /// The parity of a stripe is given up, because too much of the stripe cannot be read: until it
    /// is programmed again the stripe is unprotected.
    fn unprotected(&mut self, _stripe: u32) {}
    /// What was worked out under this number is the partial parity of a stripe from now on: of
    /// these members, a bit each, as flash holds them. The parity on flash goes on to count the
    /// versions that they had when a partial parity first covered them, until parity is programmed.
    /// What is `exposed` was covered before, and is not any more: nothing protects it until then.
    fn delayed(&mut self, _stripe: u32, _number: u32, _covered: u64, _exposed: u64) {}
    /// This stage of the drive's life begins: the second or the third.
    fn lives_in(&mut self, _stage: u8) {}
    /// These pages of the flash have failed, and cannot be read any more. What is lost with them is
    /// told of next.
    fn failed(&mut self, _pages: Stretch) {}
    /// All data on flash that has failed is rebuilt or lost by now.
    fn rebuild_done(&mut self) {}
    /// A page of this stripe lies in a worn block, and the stripe has no parity: it waits for it.
    /// What it had is out of date and is not wanted any more.
    fn awaits_parity(&mut self, _stripe: u32) {}
    /// No page of this stripe lies in a worn block: it has no parity from now on, and waits for
    /// none.
    fn needs_no_parity(&mut self, _stripe: u32) {}
    /// A page of a wordline was programmed that holds nothing: the wordline could not wait for
    /// more.
    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause);
    /// A page was programmed.
    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause);
    /// A wordline, numbered within its block, was programmed so that its cells keep to the states
    /// of this coding mode. What its pages of the kinds that the mode gives up held is gone; the
    /// others stand. In a block of full density every page of it was sensed for that. Its limits
    /// are as before until it, or its block, is [`Self::recoded`].
    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause);
    /// From now on the limits of this wordline, numbered within its block, are those of a coding
    /// mode: it was just [`Self::merged`], and its block stays in full density. Without a wordline,
    /// the limits of the whole block: an erased one, in which the pages that the mode gives up are
    /// never programmed, and a wordline is complete when it is merged; or one all of whose complete
    /// wordlines have been merged, and in which nothing is wanted but their other pages.
    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8);
    /// The reclaim policy is to be asked about a block at the first host read with which that has
    /// served so many dose units since its erase; what movers deposit from now on comes on top.
    /// Told when the policy has said so: of a block that is opened, and when it has been asked. 0
    /// stands for the next host read: a job has left data in the block, or the block is a step of
    /// age older and holds no dose.
    fn asks_at(&mut self, _block: BlockId, _at: Reads) {}
    /// A job ends, and has left data in its block.
    fn job_ended(&mut self, _block: BlockId) {}
    /// A mover begins to move what a block holds: all of it, or what these pages hold. The job ends
    /// with the block's erase, or with [`Self::job_ended`].
    fn moving(&mut self, _block: BlockId, _pages: Option<&PageSet>, _cause: Cause) {}
    /// A block was erased.
    fn erased(&mut self, block: BlockId, cause: Cause);
    /// The drive was preconditioned by construction: this erased block now holds these pages, from
    /// page 0 on; [`NO_LPN`] stands where a page was programmed with data that is no longer valid.
    fn preloaded(&mut self, block: BlockId, lpns: &[Lpn]);
    /// The drive begins in a computed state: its blocks take the host's pages below `order.pages`
    /// in this order.
    fn begins_in_order(&mut self, order: &Order);
    /// This erased block holds valid data in the chosen pages, a bit each: the pages of the host at
    /// place `first` of the order and behind, one after the other. All other pages of the block
    /// were programmed with data that is no longer valid.
    fn preloaded_in_order(&mut self, block: BlockId, first: u32, chosen: &[u64]);
    /// The drive begins with blocks that are worn differently, this one by so many P/E cycles. Told
    /// of all blocks before anything is written.
    fn worn_before(&mut self, _block: BlockId, _pec: u32) {}
    /// The drive was preconditioned by construction: this block was read before the run, after all
    /// that it holds was programmed; the dose read from each of its wordlines, from wordline 0 on.
    fn served_before(&mut self, block: BlockId, doses: &[Quarters]);
    /// The time, where it counts for what the drive holds: told before a block is opened, and
    /// before time alone sets something off.
    fn clock(&mut self, _at: Ns) {}
    /// The drive was preconditioned: of this block the oldest page was programmed at this time, 0
    /// or before.
    fn aged(&mut self, _block: BlockId, _since: Moment) {}
    /// All that a block holds was merged by the job that ends with this, wordline by wordline, and
    /// the first of it at this time: it is no older.
    fn renewed(&mut self, _block: BlockId, _since: Moment) {}
    /// The clock is set back to 0; so much time had passed.
    fn clock_restarts(&mut self, _passed: Ns) {}
    /// The measured phase begins: counts start here, and erases count as `wear.acceleration` says.
    fn measured_phase(&mut self);
    /// From now on an erase counts as so many P/E cycles, except one that levels wear.
    fn accelerated(&mut self, _cycles: u32) {}

    /// The timed gear occupied a die (a plane of it, with independent planes) or, numbered after
    /// those, a channel: (number, from, to) in ns, each number's intervals in order of their ends.
    fn occupied(&mut self, intervals: &[(u32, Ns, Ns)]);

    /// Whether it wants to be told of [`Self::run_began`], [`Self::time`] and [`Self::run_ended`].
    fn wants_time(&self) -> bool {
        false
    }
    /// The timed gear begins a run, with these latencies of runs before: all that the drive does
    /// from now on takes time.
    fn run_began(&mut self, _at: Ns, _latencies: &TimedMetrics) {}
    /// What happened in time since the last call. All that led to it was told before.
    fn time(&mut self, _events: &[TimeEvent]) {}
    /// The run is over, with work still under way or waiting, and these latencies of all runs so
    /// far.
    fn run_ended(&mut self, _pending: &[OpId], _latencies: &TimedMetrics) {}
}
