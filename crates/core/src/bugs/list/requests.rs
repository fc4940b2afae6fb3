//! Seeded bugs of data of requests, its counts, and its time.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_requests {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_flash! { $to {
            $($before)*
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
        } }
    };
}
