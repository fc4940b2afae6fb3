//! Bugs on purpose, one chosen at run time: a checker that never fails is not trusted.
//! Without the feature `seeded-bugs` every question is `false` at compile time.

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The mover forgets a page now and then.
    MoverDropsPage,
    /// A host write is mapped for the neighbouring page.
    WriteToNeighbour,
    /// An overwritten page stays valid, and a move brings it back.
    StaleCopyReturns,
    /// A trim is forgotten.
    TrimForgotten,
    /// A rewrite is acknowledged and forgotten now and then.
    RewriteForgotten,
    /// Reads that move data are not counted.
    ReadsUncounted,
    /// The dose of reads does not reach the wordline's neighbours.
    DoseLost,
    /// The reclaim threshold forgets the neighbours' weight.
    AlphaForgotten,
    /// A page past its limit is given out as good.
    LossHidden,
    /// A sound page is reported lost.
    LossInvented,
    /// An erase leaves the counters of the block as they were.
    CountersKept,
    /// A channel carries two pages at once.
    ChannelShared,
    /// Pages that reprogramming takes away are not moved before.
    BackupForgotten,
    /// The error model takes every block for one with guard levels.
    ModeForgotten,
    /// A merge of a single wordline hits the one behind it.
    MergeBeside,
    /// A partly written page is programmed without reading the rest of it.
    FillForgotten,
    /// A mover that passes under a partly written page calls it complete without having read it.
    FillFromMoverForgotten,
    /// The host reads a partly written page, and the rest of it is not read.
    RestUnread,
    /// A write in part covers one part more than it does.
    PartTooMany,
    /// The last page of a read of several is not read.
    LastPageSkipped,
    /// The first page of a read of several is read twice.
    PageReadTwice,
    /// A trim discards pages of which a part should stay.
    PartTrimmed,
    /// A write that waits for room in the buffer is forgotten now and then.
    StalledForgotten,
    /// Copies of reclaim jobs are not counted now and then.
    CopiesUncounted,
    /// Pages reported lost are not counted.
    LossesUncounted,
    /// Host reads answered with an error are not counted.
    FailuresUncounted,
    /// Blocks that GC erases for reclaim jobs are not counted.
    CleaningUncounted,
    /// Bytes of reads are counted in whole pages.
    BytesRounded,
    /// Pages of padded wordlines that hold nothing are not counted.
    PaddingUncounted,
    /// Reads that complete a partly written page are not counted.
    FillsUncounted,
    /// The copies of a reclaim job are booked twice on those whose reads caused them.
    BlameDoubled,
    /// Dynamic wear levelling takes the most worn free block.
    OldestFirst,
    /// Static wear levelling never moves a block.
    ColdLeftBehind,
    /// Static wear levelling moves blocks that lag less than they may.
    LevelledTooSoon,
    /// A read of several pages is complete with the first that comes.
    EndsWithFirstPage,
    /// The time that a write waits for room in the buffer is left out of its latency.
    StallUncounted,
    /// Without a buffer a write is acknowledged when it has arrived.
    AcknowledgedAtOnce,
    /// Without a buffer a write is acknowledged before its data has arrived.
    ArrivalForgotten,
    /// Copies of jobs are read in time, and their programs take none.
    CopiesUnprogrammed,
    /// Suspended work is done when it is resumed.
    ResumedAsDone,
    /// A suspension costs nothing.
    SuspensionsFree,
    /// Work is suspended once more than it may be.
    SuspendedTooOften,
    /// Transfers take half their time.
    HalfTransfers,
    /// A die uses the channel of another.
    OthersChannel,
    /// Erases take the time of another die.
    OthersDie,
    /// Decoding takes no time.
    EccForgotten,
    /// Data for the host does not wait for the link.
    LinkUnqueued,
    /// Data of writes does not wait for the link.
    WriteLinkUnqueued,
    /// Every page is sensed in the time of its wordline's first one.
    FirstKindForAll,
    /// Erases of deferred jobs take no time.
    ErasesFree,
    /// What a job could not read is programmed all the same, in time.
    LostCopiesProgrammed,
    /// A wordline is programmed before its pages have been read.
    ProgramBeforeLoads,
    /// A die whose work has ended does not look for more, now and then.
    DieIdles,
    /// Of the planes whose reads wait only the first begins.
    PlaneIdles,
    /// Writes are taken in without room in the buffer.
    RoomForgotten,
    /// Half of the room in the buffer is not used.
    RoomUnseen,
    /// One request fewer than may be is taken over from the host.
    RequestHeldBack,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 57] = [
        Self::MoverDropsPage,
        Self::WriteToNeighbour,
        Self::StaleCopyReturns,
        Self::TrimForgotten,
        Self::RewriteForgotten,
        Self::ReadsUncounted,
        Self::DoseLost,
        Self::AlphaForgotten,
        Self::LossHidden,
        Self::LossInvented,
        Self::CountersKept,
        Self::ChannelShared,
        Self::BackupForgotten,
        Self::ModeForgotten,
        Self::MergeBeside,
        Self::FillForgotten,
        Self::FillFromMoverForgotten,
        Self::RestUnread,
        Self::PartTooMany,
        Self::LastPageSkipped,
        Self::PageReadTwice,
        Self::PartTrimmed,
        Self::StalledForgotten,
        Self::CopiesUncounted,
        Self::LossesUncounted,
        Self::FailuresUncounted,
        Self::CleaningUncounted,
        Self::BytesRounded,
        Self::PaddingUncounted,
        Self::FillsUncounted,
        Self::BlameDoubled,
        Self::OldestFirst,
        Self::ColdLeftBehind,
        Self::LevelledTooSoon,
        Self::EndsWithFirstPage,
        Self::StallUncounted,
        Self::AcknowledgedAtOnce,
        Self::ArrivalForgotten,
        Self::CopiesUnprogrammed,
        Self::ResumedAsDone,
        Self::SuspensionsFree,
        Self::SuspendedTooOften,
        Self::HalfTransfers,
        Self::OthersChannel,
        Self::OthersDie,
        Self::EccForgotten,
        Self::LinkUnqueued,
        Self::WriteLinkUnqueued,
        Self::FirstKindForAll,
        Self::ErasesFree,
        Self::LostCopiesProgrammed,
        Self::ProgramBeforeLoads,
        Self::DieIdles,
        Self::PlaneIdles,
        Self::RoomForgotten,
        Self::RoomUnseen,
        Self::RequestHeldBack,
    ];
}

/// The bug of this drive, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    #[cfg(feature = "seeded-bugs")]
    pub(crate) seeded: Option<Bug>,
}

impl Bugs {
    /// Whether the drive has this bug.
    #[inline]
    #[cfg_attr(not(feature = "seeded-bugs"), expect(clippy::unused_self, reason = "a drive without the feature has no bugs to look up"))]
    pub(crate) fn has(self, bug: Bug) -> bool {
        #[cfg(feature = "seeded-bugs")]
        return self.seeded == Some(bug);
        #[cfg(not(feature = "seeded-bugs"))]
        {
            let _ = bug;
            false
        }
    }
}
