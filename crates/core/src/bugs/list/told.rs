//! Seeded bugs of what policies are told, parts of pages, and latencies.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_told {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_blocks! { $to {
            $($before)*
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
            /// Blocks written during the run begin with reads counted, like those from before it.
            StartCountsInRun,
            /// Host reads from before the measured phase are forgotten.
            HostReadsRestart,
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
        } }
    };
}
