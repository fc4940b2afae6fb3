//! Seeded bugs of the data of requests, its counts, and its timing.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_requests {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_flash! { $to {
            $($before)*
            /// An erase counts as one cycle even in an accelerated life.
            AccelerationForgotten,
            /// Reprogramming wears like one cycle in an accelerated life.
            ExtraWearOfOneCycle,
            /// Techniques keep the row of the previous erase in an accelerated life.
            RowKept,
            /// A block with data of several hint budgets uses the most relaxed budget.
            TighterBudgetIgnored,
            /// Moved data counts as data without a hint.
            HintLostAtMove,
            /// A block is regrouped by hints when half of the necessary share is more relaxed.
            RegroupsTooSoon,
            /// A block is regrouped by hints although all of its data lies in the right place.
            RegroupsPure,
            /// The mover sometimes drops a page.
            MoverDropsPage,
            /// A host write is mapped for the neighbouring page.
            WriteToNeighbour,
            /// An overwritten page stays valid, and a move brings it back.
            StaleCopyReturns,
            /// A trim is forgotten.
            TrimForgotten,
            /// A rewrite is sometimes acknowledged and dropped.
            RewriteForgotten,
            /// Reads that move data are not counted.
            ReadsUncounted,
            /// The dose of reads does not reach the wordline's neighbours.
            DoseLost,
            /// The reclaim threshold forgets the neighbours' weight.
            AlphaForgotten,
            /// A page past its limit is returned as good.
            LossHidden,
            /// A good page is reported lost.
            LossInvented,
            /// An erase does not clear the counters of the block.
            CountersKept,
            /// A channel carries two pages at once.
            ChannelShared,
            /// Pages that reprogramming takes away are not moved first.
            BackupForgotten,
            /// The error model takes every block for a block with guard levels.
            ModeForgotten,
            /// A merge of a single wordline hits the next wordline.
            MergeBeside,
            /// A partly written page is programmed without its rest being read.
            FillForgotten,
            /// If a mover passes below a partly written page, the page counts as complete although
            /// its rest was not read.
            FillFromMoverForgotten,
            /// A host read of a partly written page does not read its rest.
            RestUnread,
            /// A partial write covers one part too many.
            PartTooMany,
            /// The last page of a read of several pages is not read.
            LastPageSkipped,
            /// The first page of a read of several pages is read twice.
            PageReadTwice,
            /// A trim discards pages of which a part should stay.
            PartTrimmed,
            /// A write that waits for buffer space is sometimes dropped.
            StalledForgotten,
            /// Copies of reclaim jobs are sometimes not counted.
            CopiesUncounted,
            /// Pages reported lost are not counted.
            LossesUncounted,
            /// Host reads answered with an error are not counted.
            FailuresUncounted,
            /// Blocks that GC erases for reclaim jobs are not counted.
            CleaningUncounted,
            /// Bytes of reads are counted in whole pages.
            BytesRounded,
            /// Padding pages without data are not counted.
            PaddingUncounted,
            /// Fill reads are not counted.
            FillsUncounted,
            /// The copies of a reclaim job are blamed twice on the ranges whose reads caused them.
            BlameDoubled,
            /// Dynamic wear levelling takes the most worn free block.
            OldestFirst,
            /// Static wear levelling never moves a block.
            ColdLeftBehind,
            /// Static wear levelling moves blocks that lag less than the allowed gap.
            LevelledTooSoon,
            /// A read of several pages is complete when its first page arrives.
            EndsWithFirstPage,
            /// The latency of a write leaves out its wait for buffer space.
            StallUncounted,
            /// Without a buffer, a write is acknowledged when its data has arrived.
            AcknowledgedAtOnce,
            /// Without a buffer, a write is acknowledged before its data has arrived.
            ArrivalForgotten,
            /// Copies of jobs take time to read, but none to program.
            CopiesUnprogrammed,
            /// Suspended work counts as done when it is resumed.
            ResumedAsDone,
            /// A suspension costs nothing.
            SuspensionsFree,
            /// Work is suspended once more than allowed.
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
            /// Every page takes the sensing time of its wordline's first page.
            FirstKindForAll,
            /// Erases of deferred jobs take no time.
            ErasesFree,
            /// In the timed gear, a job spends time on programs of pages that it could not read.
            LostCopiesProgrammed,
            /// A wordline is programmed before its pages have been read.
            ProgramBeforeLoads,
            /// A die sometimes does not look for more work after its work has ended.
            DieIdles,
            /// Only the first of several planes with waiting reads begins.
            PlaneIdles,
            /// Writes are accepted without buffer space.
            RoomForgotten,
            /// Half of the buffer space is not used.
            RoomUnseen,
            /// The drive takes one request fewer than allowed from the host.
            RequestHeldBack,
            /// Reclaim jobs are not counted.
            JobsUncounted,
            /// Jobs that were not done before the block's last allowed read are not counted.
            MissesUncounted,
            /// Data that has moved elsewhere is not blamed for its reads.
            BlameForgetsMoved,
            /// A wordline is blamed for its own reads.
            BlameCountsOwn,
            /// The latest of several reads that wait for a die goes first.
            ReadsReversed,
            /// The latest of several pieces of work that wait for a die goes first.
            WorkReversed,
            /// Work goes before waiting reads.
            WorkBeforeReads,
            /// Reads count as waiting for reclaim although all reclaim jobs have ended.
            ReclaimNeverEnds,
            /// A read counts as waiting for work that began before it.
            StallFromWorkOn,
            /// An idle die sometimes does not give its job a step.
            StepForgotten,
            /// The data of a fill read is not kept while space is freed for the page.
            FillDropped,
        } }
    };
}
