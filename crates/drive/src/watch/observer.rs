//! Interface of the drive to observers: the oracle, counters, the data of a live drive. Observers
//! see facts of the medium, never the drive's internal state, and cannot change anything.

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
    /// Copy that waited in the controller's memory ([`Event::Gathered`]).
    Gathered,
    /// Result of the XOR with this number ([`Event::Xored`]): parity, or a page that could not
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

/// Event of a drive, as observers get it. The sentence of a variant explains its fields.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the sentence of a variant explains its fields")]
pub enum Event<'a> {
    /// The drive's time from here on, before reads and events, if the time has changed since the
    /// last event. The reads of a batch have the time of its last read. The drive begins at 0.
    Now { at: Ns },
    /// Requests of the host before they are submitted, in the order of their submission. All
    /// requests to the drive are numbered in sequence, in either gear. `first` is the number of the
    /// first request. Reads are served in this order, and so are writes and trims. In the timed
    /// gear, reads overtake writes that wait for space. An interrupted run does not serve its last
    /// requests.
    Requests { first: u64, requests: &'a [Request] },
    /// At most 32 page reads, before any other event.
    Reads { batch: &'a [PhysRead] },
    /// Reads of a block in bulk. Single reads are not known. `reads` is their number since the last
    /// event of this block. `doses` are the doses of its wordlines in quarters of a unit, from
    /// wordline 0. Doses are empty if reads do not disturb data. Each read was decoded.
    ReadInBulk { block: BlockId, reads: u64, doses: &'a [u32] },
    /// Reads of a block in bulk, some of them with retries. Single reads are not known.
    ReadInBulkWithRetries(BulkReads<'a>),
    /// Reads of the host in bulk that sensed no flash, since the last such event.
    ReadOffFlash(ReadsOffFlash),
    /// The host makes only reads in bulk until this time.
    QuietUntil { at: Ns },
    /// The host wrote this page, with the request of this number. The write is accepted: in the
    /// write buffer or on its way to flash. `whole` says whether the whole page is new now.
    /// Otherwise older data completes it, if that can be read.
    Wrote { request: u64, lpn: Lpn, whole: bool },
    /// Parts of a page that the host wrote and that the controller's memory holds now, just before
    /// [`Self::Wrote`]. There is a bit for each 64th of the page that was completely written, the
    /// first in the lowest bit.
    TookIn { lpn: Lpn, parts: u64 },
    /// The data just read to complete this partly written page stays in the controller's memory.
    /// The page is whole there from now on.
    Filled { lpn: Lpn },
    /// The host trimmed this page.
    Trimmed { lpn: Lpn },
    /// The drive reported the host's data at this page as lost.
    Lost { lpn: Lpn },
    /// The data just read at this physical page waits in the controller's memory until it is
    /// programmed. The page on flash is not wanted any more.
    Gathered { lpn: Lpn, from: Ppn },
    /// An input of the XOR with this number, which a page will hold ([`Origin::Xor`]). A new number
    /// begins with an empty XOR. Data that was read counts as it was at that time.
    Xored { number: u32, source: XorSource },
    /// The XOR with this number is to rebuild this page. Its inputs come next. One of them may turn
    /// out to be unreadable.
    Recovering { lpn: Lpn, number: u32 },
    /// The result of the XOR with this number is the data of this page on flash, which could not be
    /// read. The controller's memory holds it now.
    Rebuilt { lpn: Lpn, number: u32 },
    /// This page on flash can neither be read nor rebuilt, and is given up. The controller's memory
    /// holds newer data of the whole page.
    Superseded { lpn: Lpn },
    /// The parity of a stripe is given up, because too much of the stripe cannot be read. Until it
    /// is programmed again, the stripe is unprotected.
    Unprotected { stripe: u32 },
    /// The result of the XOR with this number is now the partial parity of a stripe. It covers
    /// these members, one bit each, with their data on flash. The parity on flash includes the
    /// versions that they had when a partial parity first covered them, until parity is
    /// programmed. Members that are `exposed` were covered before, but nothing protects them until
    /// then.
    Delayed { stripe: u32, number: u32, covered: u64, exposed: u64 },
    /// A stage of the drive's life begins: the second or the third.
    LivesIn { stage: u8 },
    /// These pages of the flash have failed and cannot be read any more. The data lost with them
    /// comes next.
    Failed { pages: Stretch },
    /// All data on failed flash is now rebuilt or lost.
    RebuildDone,
    /// A page of this stripe is in a worn block, and the stripe has no parity: it waits for it. Its
    /// earlier parity is out of date and not wanted any more.
    AwaitsParity { stripe: u32 },
    /// No page of this stripe is in a worn block. It has no parity from now on, and waits for none.
    NeedsNoParity { stripe: u32 },
    /// An empty page of a wordline was programmed, because the wordline could not wait for more
    /// data.
    Padded { ppn: Ppn, seq: Seq, cause: Cause },
    /// A page was programmed.
    Programmed { ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause },
    /// A wordline, numbered within its block, was programmed so that its cells use only the states
    /// of this coding mode. The pages of the kinds that the mode gives up are lost, and the others
    /// stay. In a block of full density, every page of the wordline was sensed for this. Its limits
    /// stay until it, or its block, is [`Self::Recoded`].
    Merged { block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause },
    /// The limits of this wordline, numbered within its block, are now those of a coding mode. It
    /// was just [`Self::Merged`], and its block stays in full density.
    ///
    /// Without a wordline, the limits of the whole block change. The block may be erased: the pages
    /// that the mode gives up are then never programmed, and a wordline is complete when it is
    /// merged. Otherwise all its complete wordlines have been merged, and only their remaining
    /// pages hold wanted data.
    Recoded { block: BlockId, wordline: Option<WordlineInBlock>, mode: u8 },
    /// The reclaim policy is about to be asked about a block. All earlier reads and events have
    /// been reported. Comes only if an observer wants it ([`Observer::hears_alarms`]).
    Alarm { block: BlockId },
    /// Number of dose units since its erase at which the reclaim policy is asked about a block, at
    /// the next host read. Later doses of movers are added to this number. The event comes when the
    /// policy has decided: when a block is opened, and after each question. 0 means the next host
    /// read. In this case, a job has left data in the block, or the block is a step of age older
    /// and has no dose.
    AsksAt { block: BlockId, at: Reads },
    /// A mover begins to move the data of a block: all of it, or these pages. The job ends with the
    /// block's erase, or with [`Self::JobEnded`].
    JobBegan { block: BlockId, pages: Option<&'a PageSet>, cause: Cause },
    /// A job has ended and left data in its block.
    JobEnded { block: BlockId },
    /// A block was erased.
    Erased { block: BlockId, cause: Cause },
    /// Preconditioning filled this erased block with these pages, from page 0 on. [`NO_LPN`] stands
    /// for a page that was programmed with data that is no longer valid.
    Preloaded { block: BlockId, lpns: &'a [Lpn] },
    /// The drive begins in a computed state: its blocks take the host pages below `filled` in a
    /// random order. With parity, they also take the parity pages of the stripes of these pages.
    /// Each die then has an order of its own. It orders numbers of the die's pages. Number n is the
    /// nth page of the die in the order of stripes, from 0 on.
    BeginsInOrder { orders: &'a [Order], filled: u32 },
    /// This erased block holds valid data in the first `holds` pages of an order of its pages. The
    /// data are the pages from place `first` of the drive's order on, one after the other. With
    /// parity, this is the order of the block's die. All other pages of the block were programmed
    /// with data that is no longer valid.
    PreloadedInOrder { block: BlockId, first: u32, pages: Order, holds: u32 },
    /// The drive begins with blocks of different wear: this block has this number of P/E cycles.
    /// All blocks come before any write.
    WornBefore { block: BlockId, pec: u32 },
    /// Preconditioning read this block before the run, after all its data was programmed. `doses`
    /// are the doses of the wordlines, from wordline 0 on.
    ServedBefore { block: BlockId, doses: &'a [Quarters] },
    /// The time, if it matters for the data in the drive: before a block is opened, and before an
    /// effect of time alone.
    Clock { at: Ns },
    /// After preconditioning, the oldest page of this block was programmed at this time, at 0 or
    /// before.
    Aged { block: BlockId, since: Moment },
    /// A job that now ends has merged all data of a block, wordline by wordline. The first merge
    /// was at this time, from which the block's age now counts.
    Renewed { block: BlockId, since: Moment },
    /// The clock is set back to 0 after this time has passed.
    ClockRestarted { passed: Ns },
    /// The measured phase starts: counts start here, and erases count as `wear.acceleration` says.
    MeasuredPhase,
    /// This number of P/E cycles is skipped. Each block takes them over at its next erase.
    CyclesSkipped { cycles: u32 },
    /// Times in which the timed gear used a die (or a plane of it, with independent planes) or a
    /// channel. Each entry is (number, start, end) in ns. Channels are numbered after the dies or
    /// planes. The intervals of each number are in order of their ends.
    Occupied { intervals: &'a [(u32, Ns, Ns)] },
    /// The timed gear begins a run, with the latencies of earlier runs. All that the drive does
    /// from now on takes time.
    RunBegan { at: Ns, latencies: &'a TimedMetrics },
    /// Events in time since the last such event. All their causes were reported before.
    Time { events: &'a [TimeEvent] },
    /// End of a run, with running or waiting work, and the latencies of all runs so far.
    RunEnded { pending: &'a [OpId], latencies: &'a TimedMetrics },
}

impl Event<'_> {
    /// Returns whether only observers that want time get this event.
    pub(crate) fn is_of_time(&self) -> bool {
        matches!(self, Self::RunBegan { .. } | Self::Time { .. } | Self::RunEnded { .. })
    }
}

/// Observer. Events arrive in the order in which the drive's state changed. It is `Any`, so that it
/// can be given back with its own type, and `Send`, so that a drive with its observers can run on
/// any thread.
pub trait Observer: Any + Send {
    /// Takes an event.
    fn take(&mut self, event: Event<'_>);

    /// Returns whether it wants [`Event::Alarm`]. Without it, reads before an alarm are reported
    /// with later reads.
    fn hears_alarms(&self) -> bool {
        false
    }

    /// Returns whether it wants [`Event::RunBegan`], [`Event::Time`] and [`Event::RunEnded`].
    fn wants_time(&self) -> bool {
        false
    }
}
