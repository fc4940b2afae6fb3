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
    /// Jobs of reclaim are not counted.
    JobsUncounted,
    /// Jobs that a block's last allowed read overtook are not counted.
    MissesUncounted,
    /// Data that has gone elsewhere is not blamed for what it read.
    BlameForgetsMoved,
    /// A wordline is blamed for what it read of itself.
    BlameCountsOwn,
    /// Of the reads that wait for a die the last one that came goes first.
    ReadsReversed,
    /// Of the work that waits for a die the last that came goes first.
    WorkReversed,
    /// Work goes before reads that wait.
    WorkBeforeReads,
    /// Reads are taken for such that meet reclaim where its jobs have ended.
    ReclaimNeverEnds,
    /// A read is taken to have waited for work that was there before it.
    StallFromWorkOn,
    /// An idle die does not give its job a step, now and then.
    StepForgotten,
    /// What was read to complete a page is not kept while room is made for it.
    FillDropped,
    // Moves.
    /// A job of reclaim begins with the second page of its block.
    JobForgetsFirst,
    /// A page that a mover could not decode is written on as if it had been.
    MoverCopiesGarbage,
    /// A move of older data below a buffered page does not tell the buffer where it went.
    MoveMissesBuffer,
    /// A job of reclaim looks at the first 512 pages of a block only.
    PagesBeyond512,
    /// After a job that leaves data in its block the policy is not asked again.
    ReleaseNeverAsks,
    /// A job does not know its deadline.
    DeadlineForgotten,
    /// A job that comes to its deadline is not finished.
    DeadlineOverrun,
    /// A block that is being moved already gets no deadline from its policy.
    GcJobGetsNoDeadline,
    // Map and write buffer.
    /// A trimmed page stays valid on flash.
    TrimLeavesValid,
    /// The reverse map misses a program now and then.
    OwnerForgotten,
    /// A page trimmed in the write buffer is written to flash all the same.
    TrimmedSlotFlushed,
    /// A trim of a buffered page forgets the older data below.
    TrimKeepsBelow,
    /// A page completed in the write buffer forgets to invalidate the older data below.
    AbsorbedKeepsBelow,
    /// A page that was lost stays so when it is written anew.
    LostFlagKept,
    /// A read of a page reported lost is answered as of one that was never written.
    LostForgotten,
    // Counters.
    /// An erase leaves the counts of wordlines.
    WordlineCountsKept,
    /// An erase leaves the technique's counters.
    TrackerKept,
    /// A wordline answers for reads from before its programming.
    BaseForgotten,
    /// Reads from before a wordline's programming never count, whatever their weight.
    BaseSparesAll,
    /// A probe disturbs no neighbour.
    ProbeUncounted,
    /// What reprogramming disturbs is not counted.
    MergeDoseForgotten,
    /// Sensings whose data nobody wants are not counted.
    NobodyUncounted,
    /// Every page kind is sensed as often as the least significant.
    DoseOfFirstKind,
    /// Reads of a block's last wordline reach no neighbour.
    LastWordlineUncounted,
    /// A read that completes a partly written page is not counted.
    FillDisturbsNothing,
    /// A block's count of reads wraps at 4,096.
    CountWraps,
    /// Reads from before the run are counted for blocks alone.
    StartReadsUncounted,
    // Alarms and what puts them off.
    /// A block that GC opens gets no alarm.
    ArmForgotten,
    /// Alarms ring a quarter of a read late.
    AlarmOneLate,
    /// The error model is asked two reads late.
    ModelAlarmLate,
    /// A block with lost pages is taken for whole when it is closed.
    SuspectForgotten,
    /// What movers sense puts alarms off twice.
    PutOffTwice,
    /// What the host reads to complete a page puts alarms off.
    PutOffByHost,
    /// What a job sensed puts off the question behind it.
    PutOffKept,
    // Wear.
    /// Every third erase is not counted as a cycle.
    CycleForgotten,
    /// Reprogramming wears no more than a plain cycle.
    ExtraWearForgotten,
    /// A block reprogrammed once counts as such in every cycle.
    ReprogrammedForEver,
    // GC and streams.
    /// Moves take the blocks that are kept in reserve.
    ReserveIgnored,
    /// A stream goes on writing a block that is being moved.
    OpenBlockKept,
    /// Wordlines of a block opened in low density get no guard levels.
    LowDensityUnmerged,
    // Gathers.
    /// A page trimmed while it waits for its wordline is programmed all the same.
    GatherForgetsTrim,
    /// A trim of a page that waits takes another out.
    GatherForgetsAnother,
    /// The map leads to the buffer after a wordline was programmed.
    GatherKeepsMap,
    /// A copy that waited is programmed as new data of the host.
    GatherClaimsHost,
    /// Pages of a padded wordline count as valid.
    PaddingIsValid,
    /// Padding takes the place of the last page that waited.
    PaddingTakesLast,
    // Density and guard levels.
    /// An erase leaves the guard levels of wordlines.
    GuardsKept,
    /// An erase leaves a block's coding mode.
    ModeKept,
    /// The last wordline is not merged when a block is reprogrammed.
    MergeOneShort,
    /// The last page that reprogramming takes away is not moved before.
    BackupOneShort,
    /// A block written again within itself begins on a wordline that holds older data.
    RecycleSharesWordline,
    /// One wordline with guard levels lends them to its block.
    GuardForAll,
    /// Guard levels multiply limits by twice their factor.
    GuardFactorTwice,
    // What the drive takes its flash to endure.
    /// Limits do not fall with wear.
    TruthOfNew,
    /// All wordlines are of the first group.
    TruthOfFirstGroup,
    /// Alpha loses its fraction.
    AlphaFloor,
    /// Limits stay beyond the table's end.
    NotExtrapolated,
    /// A wordline has the limit of the next one's layer.
    NextLayer,
    /// All page kinds endure what the strongest does.
    StrongestKind,
    /// Neighbours lie beside each other whatever the stride.
    StrideForgotten,
    /// The first wordline of a block is the last one's neighbour.
    EdgeWraps,
    // What policies are told.
    /// No read comes between an alarm and the end of its job, which takes its time all the same.
    LateReadsZero,
    /// A read beside a wordline weighs no more than another.
    AlphaOne,
    /// All wordlines are of the strongest group.
    BestGroup,
    /// Blocks are as good as new.
    LimitsOfNew,
    /// Between two rows of limits the better one holds.
    BetterRow,
    /// Blocks hold no page that is still to be moved.
    MoversForgotten,
    /// No page of an open block is still to be written.
    OpenTakenForClosed,
    /// What counters know is exact.
    CountersExact,
    /// A segment of a block begins with its last wordline.
    SegmentsBeginLate,
    /// A probe finds half of the errors.
    ProbeHalved,
}

/// Who must find a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// Random drives: `vpass check`.
    Check,
    /// The battery of a technique whose bounds it distorts: the same drives, that technique alone.
    Battery,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 139] = [
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
        Self::JobsUncounted,
        Self::MissesUncounted,
        Self::BlameForgetsMoved,
        Self::BlameCountsOwn,
        Self::ReadsReversed,
        Self::WorkReversed,
        Self::WorkBeforeReads,
        Self::ReclaimNeverEnds,
        Self::StallFromWorkOn,
        Self::StepForgotten,
        Self::FillDropped,
        Self::JobForgetsFirst,
        Self::MoverCopiesGarbage,
        Self::MoveMissesBuffer,
        Self::PagesBeyond512,
        Self::ReleaseNeverAsks,
        Self::DeadlineForgotten,
        Self::DeadlineOverrun,
        Self::GcJobGetsNoDeadline,
        Self::TrimLeavesValid,
        Self::OwnerForgotten,
        Self::TrimmedSlotFlushed,
        Self::TrimKeepsBelow,
        Self::AbsorbedKeepsBelow,
        Self::LostFlagKept,
        Self::LostForgotten,
        Self::WordlineCountsKept,
        Self::TrackerKept,
        Self::BaseForgotten,
        Self::BaseSparesAll,
        Self::ProbeUncounted,
        Self::MergeDoseForgotten,
        Self::NobodyUncounted,
        Self::DoseOfFirstKind,
        Self::LastWordlineUncounted,
        Self::FillDisturbsNothing,
        Self::CountWraps,
        Self::StartReadsUncounted,
        Self::ArmForgotten,
        Self::AlarmOneLate,
        Self::ModelAlarmLate,
        Self::SuspectForgotten,
        Self::PutOffTwice,
        Self::PutOffByHost,
        Self::PutOffKept,
        Self::CycleForgotten,
        Self::ExtraWearForgotten,
        Self::ReprogrammedForEver,
        Self::ReserveIgnored,
        Self::OpenBlockKept,
        Self::LowDensityUnmerged,
        Self::GatherForgetsTrim,
        Self::GatherForgetsAnother,
        Self::GatherKeepsMap,
        Self::GatherClaimsHost,
        Self::PaddingIsValid,
        Self::PaddingTakesLast,
        Self::GuardsKept,
        Self::ModeKept,
        Self::MergeOneShort,
        Self::BackupOneShort,
        Self::RecycleSharesWordline,
        Self::GuardForAll,
        Self::GuardFactorTwice,
        Self::TruthOfNew,
        Self::TruthOfFirstGroup,
        Self::AlphaFloor,
        Self::NotExtrapolated,
        Self::NextLayer,
        Self::StrongestKind,
        Self::StrideForgotten,
        Self::EdgeWraps,
        Self::LateReadsZero,
        Self::AlphaOne,
        Self::BestGroup,
        Self::LimitsOfNew,
        Self::BetterRow,
        Self::MoversForgotten,
        Self::OpenTakenForClosed,
        Self::CountersExact,
        Self::SegmentsBeginLate,
        Self::ProbeHalved,
    ];

    /// Those that tell policies what is not so.
    pub const OF_BOUNDS: [Self; 10] = [
        Self::LateReadsZero,
        Self::AlphaOne,
        Self::BestGroup,
        Self::LimitsOfNew,
        Self::BetterRow,
        Self::MoversForgotten,
        Self::OpenTakenForClosed,
        Self::CountersExact,
        Self::SegmentsBeginLate,
        Self::ProbeHalved,
    ];

    /// Who must find it.
    pub fn finder(self) -> Finder {
        if Self::OF_BOUNDS.contains(&self) { Finder::Battery } else { Finder::Check }
    }
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
