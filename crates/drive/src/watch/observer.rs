//! Interface of the drive to observers: the oracle, counters, and later the data of a live drive.
//! Observers see facts of the medium, never the drive's internal state, and cannot change anything.

use std::any::Any;

use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::metrics::TimedMetrics;
use crate::base::page_set::PageSet;
use crate::base::request::Request;
use crate::base::steady::Order;
use crate::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn, Reads, Seq, WordlineInBlock};
use crate::watch::time_event::{OpId, TimeEvent};

/// Marker of a read without a flash page: the page is unmapped (never written, trimmed, or reported
/// lost).
pub const NO_PPN: Ppn = Ppn::new(0x7FFF_FFFF);
/// Owner of a page without wanted data: no data was programmed there, or its data is no longer
/// wanted.
pub const NO_LPN: Lpn = Lpn::new(0x7FFF_FFFF);
/// Owner recorded for sensings that decode no data, such as probes.
pub const NO_OWNER: Lpn = Lpn::new(0xFFFF_FFFF);
/// Marker of data that came from the write buffer.
pub const FROM_BUFFER: Ppn = Ppn::new(0xFFFF_FFFF);

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReadResult {
    /// Decoded data that was used.
    Good,
    /// Data that the drive reported as uncorrectable. No data was used.
    Uncorrectable,
    /// Data that could not be decoded, or that differed from the copy in the controller's memory.
    /// The copy is used instead.
    InMemory,
}

/// Read of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysRead {
    /// Page of the host whose data was wanted, or [`NO_OWNER`].
    pub lpn: Lpn,
    /// Place of the read, or [`NO_PPN`] or [`FROM_BUFFER`].
    pub ppn: Ppn,
    /// Cause of the read.
    pub cause: Cause,
    /// Result of the read in the drive.
    pub result: ReadResult,
    /// Whether it completes a partly written page, whose newest part is in the write buffer.
    pub fill: bool,
    /// Number of retries until the page was decoded or the drive gave up.
    pub retries: u8,
}

impl PhysRead {
    /// Creates the read of a host page that was decoded at its first sensing.
    #[inline]
    pub fn good(lpn: Lpn, ppn: Ppn, cause: Cause) -> Self {
        Self { lpn, ppn, cause, result: ReadResult::Good, fill: false, retries: 0 }
    }
}

/// Origin of the content of a programmed page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Newest host data of the page, from the write buffer.
    Host,
    /// Copy of the data that was just read at this physical page.
    Copy(Ppn),
    /// Copy that waited in the controller's memory ([`Observer::gathered`]).
    Gathered,
    /// Result of the XOR with this number ([`Observer::xored`]): parity, or a page that could not
    /// be read and is rebuilt.
    Xor(u32),
}

/// Input of a XOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XorSource {
    /// Data that was just read at this physical page.
    Page(Ppn),
    /// Newest data of the host's page in the controller's memory.
    Memory(Lpn),
    /// Partial parity of this stripe in the cache.
    Partial(u32),
}

/// Reads of a block in bulk, some of them with retries. Each of them was decoded.
#[derive(Clone, Copy, Debug)]
pub struct BulkReads<'a> {
    /// Block that was read.
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

/// Reads of the host in bulk that sensed no flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadsOffFlash {
    /// Number of reads of pages without data.
    pub without_data: u64,
    /// Number of reads of lost pages.
    pub lost: u64,
    /// Number of reads served from the write buffer.
    pub buffered: u64,
}

impl ReadsOffFlash {
    /// Returns the number of all these reads.
    pub fn sum(&self) -> u64 {
        self.without_data + self.lost + self.buffered
    }
}

/// Observer. Calls arrive in the order in which the drive's state changed. It is `Any`, so that it
/// can be given back with its own type, and `Send`, so that a drive with its observers can run on
/// any thread.
pub trait Observer: Any + Send {
    /// Reports the drive's time from here on, before reads and events, if the time has changed
    /// since the last call. The reads of a batch have the time of its last read. The drive begins
    /// at 0.
    fn now(&mut self, _at: Ns) {}
    /// Reports requests of the host before they are submitted, in the order of their submission.
    /// All requests to the drive are numbered in sequence, in either gear. `first` is the number of
    /// the first request. Reads are served in this order, and so are writes and trims. In the timed
    /// gear, reads overtake writes that wait for space. An interrupted run does not serve its last
    /// requests.
    fn requests(&mut self, _first: u64, _requests: &[Request]) {}
    /// Reports at most 32 page reads, before any other event is reported.
    fn reads(&mut self, batch: &[PhysRead]);
    /// Reports reads of a block in bulk. Single reads are not known. `_reads` is their number since
    /// the last report of this block. `_doses` are the doses of its wordlines in quarters of a
    /// unit, from wordline 0. Doses are empty if reads do not disturb data. Each read was decoded.
    fn read_in_bulk(&mut self, _block: BlockId, _reads: u64, _doses: &[u32]) {}
    /// Reports reads of a block in bulk, some of them with retries. Single reads are not known.
    fn read_in_bulk_with_retries(&mut self, _reads: &BulkReads) {}
    /// Reports reads of the host in bulk that sensed no flash, since the last report.
    fn read_off_flash(&mut self, _reads: ReadsOffFlash) {}
    /// Reports that the host makes only reads in bulk until this time.
    fn quiet_until(&mut self, _at: Ns) {}
    /// Reports that the host wrote this page, with the request of this number. The write is
    /// accepted: in the write buffer or on its way to flash. `whole` says whether the whole page is
    /// new now. Otherwise older data completes it, if that can be read.
    fn host_wrote(&mut self, request: u64, lpn: Lpn, whole: bool);
    /// Reports the parts of a page that the host wrote and that the controller's memory holds now,
    /// just before [`Self::host_wrote`]. There is a bit for each 64th of the page that was
    /// completely written, the first in the lowest bit.
    fn took_in(&mut self, _lpn: Lpn, _parts: u64) {}
    /// Reports that the data just read to complete this partly written page stays in the
    /// controller's memory. The page is whole there from now on.
    fn filled(&mut self, _lpn: Lpn) {}
    /// Reports that the host trimmed this page.
    fn trimmed(&mut self, lpn: Lpn);
    /// Reports that the drive reported the host's data at this page as lost.
    fn lost(&mut self, lpn: Lpn);
    /// Reports that the data just read at this physical page waits in the controller's memory until
    /// it is programmed. The page on flash is not wanted any more.
    fn gathered(&mut self, lpn: Lpn, from: Ppn);
    /// Reports an input of the XOR with this number, which a page will hold ([`Origin::Xor`]). A
    /// new number begins with an empty XOR. Data that was read counts as it was at that time.
    fn xored(&mut self, _number: u32, _source: XorSource) {}
    /// Reports that the XOR with this number is to rebuild this page. Its inputs are reported next.
    /// One of them may turn out to be unreadable.
    fn recovering(&mut self, _lpn: Lpn, _number: u32) {}
    /// Reports that the result of the XOR with this number is the data of this page on flash, which
    /// could not be read. The controller's memory holds it now.
    fn rebuilt(&mut self, _lpn: Lpn, _number: u32) {}
    /// Reports that this page on flash can neither be read nor rebuilt, and is given up. The
    /// controller's memory holds newer data of the whole page.
    fn superseded(&mut self, _lpn: Lpn) {}
    /// Reports that the parity of a stripe is given up, because too much of the stripe cannot be
    /// read. Until it is programmed again, the stripe is unprotected.
    fn unprotected(&mut self, _stripe: u32) {}
    /// Reports that the result of the XOR with this number is now the partial parity of a stripe.
    /// It covers these members, one bit each, with their data on flash. The parity on flash
    /// includes the versions that they had when a partial parity first covered them, until parity
    /// is programmed. Members that are `exposed` were covered before, but nothing protects them
    /// until then.
    fn delayed(&mut self, _stripe: u32, _number: u32, _covered: u64, _exposed: u64) {}
    /// Reports the beginning of a stage of the drive's life: the second or the third.
    fn lives_in(&mut self, _stage: u8) {}
    /// Reports that these pages of the flash have failed and cannot be read any more. The data lost
    /// with them is reported next.
    fn failed(&mut self, _pages: Stretch) {}
    /// Reports that all data on failed flash is now rebuilt or lost.
    fn rebuild_done(&mut self) {}
    /// Reports that a page of this stripe is in a worn block, and that the stripe has no parity: it
    /// waits for it. Its earlier parity is out of date and not wanted any more.
    fn awaits_parity(&mut self, _stripe: u32) {}
    /// Reports that no page of this stripe is in a worn block. It has no parity from now on, and
    /// waits for none.
    fn needs_no_parity(&mut self, _stripe: u32) {}
    /// Reports that an empty page of a wordline was programmed, because the wordline could not wait
    /// for more data.
    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause);
    /// Reports that a page was programmed.
    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause);
    /// Reports that a wordline, numbered within its block, was programmed so that its cells use
    /// only the states of this coding mode. The pages of the kinds that the mode gives up are lost,
    /// and the others stay. In a block of full density, every page of the wordline was sensed for
    /// this. Its limits stay until it, or its block, is [`Self::recoded`].
    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause);
    /// Reports that the limits of this wordline, numbered within its block, are now those of a
    /// coding mode. It was just [`Self::merged`], and its block stays in full density.
    ///
    /// Without a wordline, the limits of the whole block change. The block may be erased: the pages
    /// that the mode gives up are then never programmed, and a wordline is complete when it is
    /// merged. Otherwise all its complete wordlines have been merged, and only their remaining
    /// pages hold wanted data.
    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8);
    /// Returns whether it wants [`Self::alarm`]. Without it, reads before an alarm are reported with
    /// later reads.
    fn hears_alarms(&self) -> bool {
        false
    }
    /// Reports that the reclaim policy is about to be asked about a block. All earlier reads and
    /// events have been reported.
    fn alarm(&mut self, _block: BlockId) {}
    /// Reports the number of dose units since its erase at which the reclaim policy is asked about
    /// a block, at the next host read. Later doses of movers are added to this number. The report
    /// comes when the policy has decided: when a block is opened, and after each question. 0 means
    /// the next host read. In this case, a job has left data in the block, or the block is a step
    /// of age older and has no dose.
    fn asks_at(&mut self, _block: BlockId, _at: Reads) {}
    /// Reports that a job has ended and left data in its block.
    fn job_ended(&mut self, _block: BlockId) {}
    /// Reports that a mover begins to move the data of a block: all of it, or these pages. The job
    /// ends with the block's erase, or with [`Self::job_ended`].
    fn moving(&mut self, _block: BlockId, _pages: Option<&PageSet>, _cause: Cause) {}
    /// Reports that a block was erased.
    fn erased(&mut self, block: BlockId, cause: Cause);
    /// Reports that preconditioning filled this erased block with these pages, from page 0 on.
    /// [`NO_LPN`] stands for a page that was programmed with data that is no longer valid.
    fn preloaded(&mut self, block: BlockId, lpns: &[Lpn]);
    /// Reports that the drive begins in a computed state: its blocks take the host pages below
    /// `filled` in a random order. With parity, they also take the parity pages of the stripes of
    /// these pages. Each die then has an order of its own. It orders numbers of the die's pages.
    /// Number n is the nth page of the die in the order of stripes, from 0 on.
    fn begins_in_order(&mut self, orders: &[Order], filled: u32);
    /// Reports that this erased block holds valid data in the first `holds` pages of an order of
    /// its pages. The data are the pages from place `first` of the drive's order on, one after the
    /// other. With parity, this is the order of the block's die. All other pages of the block were
    /// programmed with data that is no longer valid.
    fn preloaded_in_order(&mut self, block: BlockId, first: u32, pages: Order, holds: u32);
    /// Reports that the drive begins with blocks of different wear: this block has this number of
    /// P/E cycles. All blocks are reported before any write.
    fn worn_before(&mut self, _block: BlockId, _pec: u32) {}
    /// Reports that preconditioning read this block before the run, after all its data was
    /// programmed. `doses` are the doses of the wordlines, from wordline 0 on.
    fn served_before(&mut self, block: BlockId, doses: &[Quarters]);
    /// Reports the time if it matters for the data in the drive: before a block is opened, and
    /// before an effect of time alone.
    fn clock(&mut self, _at: Ns) {}
    /// Reports that, after preconditioning, the oldest page of this block was programmed at this
    /// time, at 0 or before.
    fn aged(&mut self, _block: BlockId, _since: Moment) {}
    /// Reports that a job that now ends has merged all data of a block, wordline by wordline. The
    /// first merge was at this time, from which the block's age now counts.
    fn renewed(&mut self, _block: BlockId, _since: Moment) {}
    /// Reports that the clock is set back to 0 after this time has passed.
    fn clock_restarts(&mut self, _passed: Ns) {}
    /// Reports the start of the measured phase: counts start here, and erases count as
    /// `wear.acceleration` says.
    fn measured_phase(&mut self);
    /// Reports that this number of P/E cycles is skipped. Each block takes them over at its next
    /// erase.
    fn cycles_skipped(&mut self, _cycles: u32) {}

    /// Reports the times in which the timed gear used a die (or a plane of it, with independent
    /// planes) or a channel. Each entry is (number, start, end) in ns. Channels are numbered after
    /// the dies or planes. The intervals of each number are in order of their ends.
    fn occupied(&mut self, intervals: &[(u32, Ns, Ns)]);

    /// Returns whether it wants [`Self::run_began`], [`Self::time`] and [`Self::run_ended`].
    fn wants_time(&self) -> bool {
        false
    }
    /// Reports that the timed gear begins a run, with the latencies of earlier runs. All that the
    /// drive does from now on takes time.
    fn run_began(&mut self, _at: Ns, _latencies: &TimedMetrics) {}
    /// Reports the events in time since the last call. All their causes were reported before.
    fn time(&mut self, _events: &[TimeEvent]) {}
    /// Reports the end of a run, with running or waiting work, and the latencies of all runs so
    /// far.
    fn run_ended(&mut self, _pending: &[OpId], _latencies: &TimedMetrics) {}
}
