//! Every seeded bug, with a sentence.

/// Hands the list to a macro.
macro_rules! list {
    ($to:ident) => {
        $to! {
            /// An erase counts as one cycle in an accelerated life, too.
            AccelerationForgotten,
            /// Reprogramming wears as in one cycle in an accelerated life.
            ExtraWearOfOneCycle,
            /// Techniques keep the row of the erase before in an accelerated life.
            RowKept,
            /// A block that holds data of several budgets goes by the most relaxed.
            TighterBudgetIgnored,
            /// Data that moves is taken for data without a hint.
            HintLostAtMove,
            /// A block is regrouped by hints when half as much of it is more relaxed as should be.
            RegroupsTooSoon,
            /// A block is regrouped by hints although all of its data lies right.
            RegroupsPure,
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
            /// A mover that passes under a partly written page calls it complete without having
            /// read it.
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
            /// No read comes between an alarm and the end of its job, which takes its time all the
            /// same.
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
            /// A probe is held against what a wordline without age endures.
            ProbeOfToday,
            /// A part of which only the end is written counts as written.
            MaskFromPart,
            /// A part of which only the beginning is written counts as written.
            MaskToPart,
            /// The last page of a request of several is taken whole.
            LastPageWhole,
            /// A write that joins a buffered page forgets the parts that were there.
            MergeReplacesMask,
            /// The last page of a trim is left.
            TrimLastSkipped,
            /// A trimmed page that was lost stays lost.
            TrimKeepsLost,
            /// A write in part makes a lost page whole.
            PartClearsLost,
            /// A partly written page whose rest is lost is not reported.
            FillLossUnreported,
            /// A read of a page in the buffer that is being written in part is served from flash
            /// alone.
            BufferedReadsOld,
            /// One write that waits is taken in for each program that ends.
            UnstallsOne,
            /// What work has done when it is suspended is counted from its beginning.
            SuspendedFromStart,
            /// Suspending an erase costs what suspending a program does.
            SuspendCostSwapped,
            /// Shorter transfers take the time of the last longer one.
            TransferMemoStale,
            /// Shorter pages take the time of the last longer one on the link.
            LinkMemoStale,
            /// Writes take the link for whole pages.
            LinkRoundsUp,
            /// Parts of pages are not decoded.
            PartsUndecoded,
            /// A copy is sensed in the time of the page kind that it is written to.
            CopySensesTarget,
            /// Copies in a piece are not decoded.
            PieceUndecoded,
            /// A wordline programmed in a piece takes one transfer.
            PieceMovesOnePage,
            /// Probes of several wordlines take the time of one.
            ProbesOnce,
            /// A wordline is padded after twice the pause.
            PadsLate,
            /// A copy is programmed on the die that it was read on.
            ProgramOnSourceDie,
            /// Work begins on a die while another of its planes is read.
            OtherPlanesUnseen,
            /// The latency of a write begins when its data has arrived.
            LinkTimeUncounted,
            /// A trim does not wait for the writes before it.
            TrimOvertakes,
            /// Reads have waited for reclaim work since they came, even before it began.
            StallFromQueue,
            /// One request more than may be is taken over from the host.
            RequestTooMany,
            /// Latency begins when a request is taken over, not when it came.
            WaitOmitted,
            /// Latencies of trims are counted as of writes.
            TrimsMeasured,
            /// A batch copies one page more.
            BatchTooLong,
            /// A job in the foreground waits for the reads that wait.
            ForegroundWaits,
            /// What the host reads out of memory does not take the link.
            MemorySkipsLink,
            /// A page read to complete one that the host reads takes no time.
            FillTimeless,
            /// A wordline has the number of the one before it.
            SerialKept,
            /// Without a buffer the last pages of a write wait for others.
            PadForgotten,
            /// Pages that a job could not read count as copied.
            LostCopiesCounted,
            /// Copies of GC are counted as those of reclaim.
            GcCopiesCounted,
            /// A fill that fails counts as a host read that failed.
            FillFailureCounted,
            /// Reads of lost pages count as of pages that hold nothing, too.
            LostReadUnmapped,
            /// A write that covers no whole part does not count as one in part.
            EmptyPartsUncounted,
            /// Reads of one range are blamed on the next.
            BlameShifted,
            /// A job for some pages is blamed as one for the whole block.
            BlameOfWhole,
            /// Jobs for some pages are blamed on nobody.
            BlameForgotten,
            /// Every erase of a block with guard levels counts as of GC.
            LowErasesAll,
            /// What blocks with guard levels used is compared with the limits of full density.
            UsedOfFullLimit,
            /// Blocks reprogrammed are not counted.
            ReprogramsUncounted,
            /// Counts of reclaim include what came before the measured phase.
            ReclaimFromStart,
            /// What a technique counts includes what came before the measured phase.
            OwnFromStart,
            /// GC takes what was moved not long ago like any other.
            ProtectionForgotten,
            /// Cold data goes to the youngest blocks.
            ColdToYoungest,
            /// Wear of reprogramming does not count when blocks are taken.
            ExtraWearUnranked,
            /// The cycle that ends does not count when reprogramming is weighed.
            CyclesOneShort,
            /// Static wear levelling moves the most worn block.
            LevelsOldest,
            /// Static wear levelling looks eight times too rarely.
            LevelsRarely,
            /// Wear of reprogramming is cut off, not rounded.
            ExtraTruncated,
            /// Counters know wordlines by eight bits.
            KeyCutOff,
            /// Policies do not see what reprogramming wears.
            WearUnseen,
            /// Policies do not see what movers have read.
            MoversUnseen,
            /// Policies look limits up for a cycle less.
            RowOfBefore,
            /// Half of the reads that come late are left out.
            LateHalved,
            /// Policies take the last wordline for empty.
            LastWordlineInvalid,
            /// What a wordline is spared is rounded up.
            SparedRoundsUp,
            /// The limit of a wordline is rounded once only.
            LimitRoundedOnce,
            /// A page at its limit is lost.
            LimitReachedIsLost,
            /// What the error model vouches for is rounded up.
            QuietRoundedUp,
            /// The bound below which no wordline is looked at is that of the strongest group.
            BoundOfStrongest,
            /// Pages of a wordline across two words of a bitmap are not seen.
            AcrossWordsLost,
            /// One page less is still to come.
            ToComeOneShort,
            /// A job leaves the first page of each word of 64.
            JobSkipsPage,
            /// A block that serves on after a job counts as being moved.
            MovingKept,
            /// A block that serves on after a job is no victim any more.
            ReleasedUnlisted,
            /// An erase leaves what the error model vouched for.
            ModelAlarmKept,
            /// GC takes the fullest block.
            GcTakesFullest,
            /// A block stays in its list when a page of it becomes invalid.
            VictimsStale,
            /// What a mover finds lost takes the newer data in the buffer with it.
            LossTakesBuffered,
            /// The marked pages of a divided block go where the others should.
            DivideInverted,
            /// GC moves data into the blocks of the host.
            GcIntoHost,
            /// What runs before decides where blocks are opened.
            NotDeterministic,
            /// The drive spares any pages.
            SpareOverdrawn,
            /// A wordline is programmed over itself without its most significant page read.
            MergeReadsLess,
            /// Pages of a wordline written in part stay when a block is reprogrammed.
            PartWordlineStays,
            /// A page that was disturbed past its limit before it was written is good.
            BornLostUnseen,
            /// A wordline of a block that is too old for it takes no retry at its first read.
            BornTiredUnseen,
            /// The error model does not know that a wordline is still being written.
            ToComeForgotten,
            /// A wordline that gets guard levels keeps the page that they take.
            GuardBackupShort,
            /// A block that GC moves already is not asked about again.
            JobLearnsNoDeadline,
            /// What the host reads to complete a page asks no policy.
            FillAsksNobody,
            /// What movers sensed puts off every alarm until the erase.
            PutOffGrows,
            /// Blocks have served twice the reads of start.reads.
            StartReadsTwice,
            /// Blocks have served half the reads that they were drawn.
            StartReadsHalved,
            /// What preparation has read of a block does not count among the reads that it begins
            /// with.
            PreparationUncounted,
            /// Twice as many blocks as `start.worn_share` says begin with `start.worn_pec` cycles.
            WornShareTwice,
            /// Blocks written in part served the reads of whole ones.
            StartReadsOpen,
            /// One page less than start.fill is written.
            FillOneShort,
            /// Half of start.overwrite is written.
            OverwritesHalved,
            /// The overwrites before the run are of the first half.
            OverwritesFirstHalf,
            /// A computed steady state holds the last page of each block in the next one, too.
            SteadyPageTwice,
            /// In a computed steady state the place of one page of the host in 1009 is that of
            /// another.
            SteadyPlaceWrong,
            /// In a computed steady state one flash page in 1009 has the owner of another.
            SteadyOwnerWrong,
            /// A computed steady state has blocks of one kind.
            SteadyAllFull,
            /// Losses that looking for losses brings about are not looked for.
            UnreadOnce,
            /// Losses in open blocks are not looked for at the end.
            UnreadOpenSkipped,
            /// Cost-benefit forgets how long a block was left alone.
            CostBenefitAgeless,
            /// Stable greedy takes the most worn of the stable blocks.
            StableTakesWorn,
            /// Of victims with as many valid pages the one that changed last comes first.
            YoungestVictim,
            /// A read of more than sixteen pages ends with the sixteenth.
            LongReadCut,
            /// A block that moves are written to is not looked at when it is old.
            AgeForgottenAfterMove,
            /// A block keeps its age through the erase now and then.
            StaleAgeAfterRefresh,
            /// An open block never comes due.
            OpenNeverDue,
            /// A technique that looks limits up at the age of data is not asked again when that
            /// grows older.
            OlderUnasked,
            /// A block that merges have made young is asked about when it would have been a step
            /// older.
            StepsOfOlder,
            /// A retry deposits nothing.
            RetryUncharged,
            /// A read makes one retry less than its data takes.
            RetryForgotten,
            /// Reads of a block begin with the level that worked last before its erase.
            LevelKept,
            /// Retries are drawn as if the error rate were a tenth higher.
            NoiseTooLoud,
            /// A page that merging its wordline for fewer sensings corrupted is taken for good.
            CorruptedLeft,
            /// A read of a merged wordline takes one sensing less than its coding needs.
            MergedReadTooFast,
            /// A read of a merged wordline deposits as much as in full density.
            MergedDoseInFull,
            /// A merge makes its block forget what reads did to it.
            MergeForgetsDose,
            /// Such merges make a block young although not all that is left in it was merged.
            AgeRestartsInPart,
            /// Such merges are done although their reads may bring data to its limit.
            AdjustsWithoutRoom,
            // What is done in time, and where blocks are taken.
            /// No job ever goes ahead of reads.
            NeverUrgent,
            /// Dies do not feel that writers wait for room in the buffer.
            PressureUnfelt,
            /// Latencies of a group forget which of its reads met reclaim.
            GroupReclaimReadsForgotten,
            /// Blocks outside the pool that should lie in it are not counted.
            PoolMissUncounted,
            /// Blocks that hold few pages look emptier to GC than they are.
            ShortBlocksLookEmpty,
            /// Pages that guard levels of single wordlines took away are not given back.
            PagesAwayLeak,
            /// Streams that should keep out of the pool take blocks anywhere.
            PoolOpenToAll,
            /// Idle gaps are spent on cleaning though they should not be.
            BackgroundThoughOff,
            /// Idle gaps are never spent on cleaning.
            BackgroundForgotten,
            /// While writers wait no read goes before their programs.
            CreditForgotten,
            /// Idle gaps pile up programs of copies without end.
            PilesUp,
            /// A stream opens its blocks on one die.
            OpensOnOneDie,
            /// Work that waits has no turn between the pieces of jobs.
            WriteTurnForgotten,
            /// Every other time that a policy is asked is not counted.
            AlarmsUncounted,
            /// Blocks that should have got guard levels, and did not, are not counted.
            RefusalsUncounted,
            /// What was moved rests half as long as it should.
            RestHalved,
            /// An urgent job has the die, and another job the steps.
            UrgentNotFirst,
            /// Merges take no time when urgency is weighed.
            MergesUnweighed,
            /// Full blocks are moved out of a pool that is not kept.
            EvictsFromShared,
            /// Static wear levelling moves what was moved not long ago.
            LevelsResting,

            // Bounds and limits of policies, long times, and the pool.
            /// One block more has guard levels than `density.low_density` allows.
            LowDensityOverfull,
            /// The kinds of pages that `page-type` moves later move a few reads too late.
            PageTypeDueLate,
            /// The room of a shadow block that was written again is reckoned from when it is asked
            /// about, and not from when it was written.
            FillingFromNow,
            /// The bound of wordlines forgets what the merges of a job deposit.
            BurdenForgotten,
            /// A piece of a job takes its time modulo 2^32 ns.
            PieceWraps,
            /// Data that age alone has spoilt is taken for good, where reads and age do not share
            /// the code.
            AgeAloneForgotten,
            /// What retries add and age takes is linear between the rows of `disturb.table`.
            BudgetBetweenRows,
            /// Reads beside a wordline are taken for as good as reads elsewhere, where age has more
            /// to say.
            QuietAtAnyDose,
            /// Every program takes the time of a first page.
            FirstKindPrograms,
            /// An erase takes the time of a block that is a cycle older.
            ErasedOlder,
            /// The pool begins a block late.
            PoolBeginsLate,
            /// Of wordlines with guard levels those whose numbers differ by 64 are taken for each
            /// other.
            GuardsAlias64,
            /// Incomplete wordlines wait for ever.
            PadsNever,
            /// Blocks that GC erases for deferred jobs are not counted.
            DeferredCleaningUncounted,

            // Parity.
            /// GC moves a page to another die than its own.
            MemberAstray,
            /// A page of a technique's own stream goes to another die than its own.
            ApartAstray,
            /// The parity of a stripe is not brought up to date now and then.
            ParityStale,
            /// An old version that the parity still needs is given up when new data comes to the
            /// buffer.
            OldGivenUpEarly,
            /// A trimmed page stays in its stripe's parity.
            TrimLeavesParity,
            /// The old data of a page is left out of the new parity now and then.
            OldDataForgotten,
            /// A page is rebuilt out of data that could not be read.
            RebuiltFromGarbage,
            /// A version on which delayed parity counts is erased before the partial parity is
            /// whole.
            KeptErasedEarly,
            /// A wordline is programmed over with a version on which delayed parity counts, before
            /// the partial parity is whole.
            KeptMergedEarly,
            /// A partial parity forgets a page that it is said to cover.
            PartialForgetsPage,
            /// A partial parity keeps the version of a page that changes again.
            PartialKeepsOld,
            /// Parity is committed out of the old one with what its pages hold now, not with what
            /// it counts of them.
            CommitTakesNew,
            /// A version that nobody watches is taken to be within its limit.
            KeptTakenForGood,
            /// A stripe is rebuilt out of the parity on flash, although a partial parity covers the
            /// page.
            PartialUnseen,
            /// A partial parity that is begun anew forgets the pages that do not change.
            GatherForgetsOthers,
            /// Writes of the host are not all counted for the stripes whose parity waits.
            WindowUncounted,
            /// The published rule forgets pages where no more than `n_update` change, too.
            ForgetsTooSoon,
            /// The rest of a partly written page is rebuilt once more, although a move has just
            /// rebuilt and written it.
            RestRebuiltTwice,
            /// A page that is rebuilt goes to another die than its own now and then.
            RebuiltAstray,
            /// The watermark of a rebuild passes a page now and then.
            WatermarkSkips,
            /// A write for which a page of its stripe is rebuilt first is lost.
            WriteLostInRebuild,
            /// Free blocks of a die that failed stay among the free ones.
            DeadBlockReused,
            /// Of what lay on failed flash and nothing gives back every third page is dropped
            /// without a word.
            LossByFailureHidden,
            /// A host read of a page that is rebuilt does not wait for the reads that this takes.
            RebuiltReadAtOnce,
            /// A host read whose page had to be rebuilt ends as if it could have been decoded.
            RepairedReadAtOnce,
            /// What a page is rebuilt of is read before its own read has failed.
            RepairReadsAhead,
            /// What a rebuild reads waits behind other work, although a host read waits for it.
            RebuildBehindWork,
            /// A page that a failure took from a stripe without parity is rebuilt as if that were
            /// all zero.
            RebuiltWithoutParity,
            /// Pages that go from failed blocks, lost or rebuilt elsewhere, are counted in worn
            /// blocks for ever.
            FailedCountedWorn,
            /// The last stage gives no more stripes parity once flash has failed.
            SweepEndsAtFailure,
            /// Parity that wear does not call for any more is given back although a page of its
            /// stripe is still to be rebuilt.
            ParityNotKeptForRebuild,
            /// That a move brings a page to a worn block is not counted.
            MovesNotCounted,
            /// Stripes that need parity because of a move do not get it, now and then.
            ParityNotFormed,
            /// Limits are raised as if parity were always on flash although it is delayed.
            LateParityTrusted,
            /// What a block served until its erase is left out of expected numbers.
            ServiceForgotten,
            /// What a block served before it got larger limits counts in expected numbers as if it
            /// had had them.
            ServiceAtNewLimit,
            /// Limits that follow from a code forget that error rates of pages are spread.
            SpreadForgotten,
            /// The parity of a stripe is given back while one of its pages lies in a worn block.
            DissolvedEarly,
            /// The last stage passes stripes without giving them parity.
            SweptUnformed,
            /// Blocks that are to be left alone are recycled, and those that are to be recycled are
            /// left alone.
            WornRecycled,

            // A second event within the first.
            /// A page of which a write makes room is taken to lie where it lay before.
            EntryBeforeRoom,
            /// Room is made before the rest of a page is read, and what that read sets off may use
            /// it up.
            RoomBeforeFill,
            /// A page is written although a move that its fill set off has lost it.
            FillOutlivesLoss,
            /// A read of a page in the buffer is good although a move that it set off has lost the
            /// rest.
            RestOutlivesLoss,
            /// A fill takes the time of the coding that its page has after a move.
            FillCodingLate,
            /// A fill is read, in time, where its page lies after a move.
            FillSourceLate,
            /// A page whose fill failed is dropped where it lay before a move.
            FillDropsOld,
            /// Whether a fill failed by age is asked of where its page lay, after a move.
            AgedAfterFill,
            /// A policy is told of retries of a page that has moved since.
            RetriedTellsMoved,
            /// Retries of a quiet read do not count towards the alarm.
            QuietForgetsRetries,
            /// Retries of a read do not count towards the alarm.
            RungBeforeRetries,
            /// A block that is being moved when it is a step older is not looked at again.
            OlderMovingSkipped,
            /// A block that is being moved when it is due is not looked at again.
            AgedMovingForgotten,
            /// A block in which a job that was finished for its age leaves data is not looked at
            /// again.
            AgedLeftForgotten,
            /// A job is not finished when its block is a step older.
            OlderJobKept,
            /// A block without dose is not asked about when it is a step older.
            OlderUnreadForgotten,
            /// A block that is young again keeps the limits of the age that it had.
            RestartKeepsLevels,
            /// A block that is young again is due at no time.
            AdjustedNeverDue,
            /// A job that has a deadline gets another.
            DeadlineReplaced,
            /// A job that adjusts wordlines gets a deadline for those alone.
            AdjustingNotWidened,
            /// An old version that parity counts is read without retries.
            KeptRetriesForgotten,
            /// Partial parities are made whole with reads of which policies should be asked.
            KeptReadUnasked,
            /// A parity is programmed although making room has changed its stripe.
            UpdateAcrossRoom,
            /// A partial parity is renewed although making room has changed its stripe.
            RenewedAcrossRoom,
            /// A parity is committed although making room has changed its partial parity.
            CommittedAcrossRoom,
            /// A rebuilt page is written although making room has moved it.
            RepairAcrossRoom,
            /// Of two rows of limits the smaller alpha holds.
            SmallerAlpha,
            /// Of two rows of limits the alpha of more cycles holds.
            AlphaOfOlder,
            /// Of two rows of limits the alpha of fewer cycles holds.
            AlphaOfYounger,
            /// Techniques take a row for what lies before it.
            ClassForgetsRow,
            /// Alpha stays beyond the table's end.
            AlphaNotExtrapolated,
            /// What retries add is reserved by the smaller alpha of two rows.
            ReserveOfSmallerAlpha,
            /// Tired blocks have the alpha of new ones.
            LevelsOfNewAlpha,
            /// Reads are blamed by the alpha of new blocks.
            BlameOfNewAlpha,
            /// A block that becomes tired keeps what was known of it in a life before.
            TiredKept,
            /// What jobs have adjusted is not set back with the clock.
            JobsNotSetBack,
            /// Steps of age are not set back with the clock.
            StepsNotSetBack,
            /// A block that is due at once is rewritten in time.
            LateRefreshDeferred,
            /// Retries of fills take no time.
            FillRetriesTimeless,
            /// Retries of movers put off no alarm.
            MoverRetriesPutOffNothing,
            /// Refreshes that came too late are not counted.
            RefreshMissUncounted,
            /// A job whose block grows too old is not urgent.
            AgedNotUrgent,

            // Reads in bulk.
            /// When a block's rate of reads changes, those not yet drawn no longer count towards
            /// its alarm.
            AlarmNotDrawnAgain,
            /// Retries of reads in bulk deposit no dose.
            BulkRetriesUncharged,
            /// Reads in bulk of a tired block are taken to be as bad beside a page as elsewhere.
            BulkRoomAnywhere,
            /// Reads in bulk take the retries of the age step in which the first of them came.
            BulkAcrossSteps,
        }
    };
}
