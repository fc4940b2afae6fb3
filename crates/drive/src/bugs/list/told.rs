//! Seeded bugs of the information for policies, of parts of pages, and of latencies.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_told {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_blocks! { $to {
            $($before)*
            // Information for policies.
            /// No read comes between an alarm and the end of its job, although the job takes time.
            LateReadsZero,
            /// A read of a neighbouring wordline weighs no more than another read.
            AlphaOne,
            /// All wordlines belong to the strongest group.
            BestGroup,
            /// Blocks count as new.
            LimitsOfNew,
            /// Between two rows of limits, the better row applies.
            BetterRow,
            /// Blocks have no page that still has to be moved.
            MoversForgotten,
            /// Open blocks have no page that still has to be written.
            OpenTakenForClosed,
            /// Counters count as exact.
            CountersExact,
            /// A segment of a block begins with its last wordline.
            SegmentsBeginLate,
            /// A probe finds half of the errors.
            ProbeHalved,
            /// A probe is compared with the endurance of a wordline without age.
            ProbeOfToday,
            /// Blocks written during the run begin with reads counted, like those from before it.
            StartCountsInRun,
            /// `count` moves a block only after one retry more than its trigger.
            TriggerOneLate,
            /// The rewrite that a technique wants because of retries is forgotten.
            RetriedRewriteForgotten,
            /// The host works round the clock, whatever its hours of use.
            HoursForgotten,
            /// Host reads from before the measured phase are forgotten.
            HostReadsRestart,
            /// A part of which only the end is written counts as written.
            MaskFromPart,
            /// A part of which only the beginning is written counts as written.
            MaskToPart,
            /// The last page of a request of several pages counts as whole.
            LastPageWhole,
            /// A write to a buffered page drops the parts that were there.
            MergeReplacesMask,
            /// The last page of a trim is not trimmed.
            TrimLastSkipped,
            /// A trimmed page that was lost stays lost.
            TrimKeepsLost,
            /// A partial write makes a lost page whole.
            PartClearsLost,
            /// A partly written page whose rest is lost is not reported.
            FillLossUnreported,
            /// A read of a partly written page in the buffer is served from flash alone.
            BufferedReadsOld,
            /// Only one waiting write is accepted for each program that ends.
            UnstallsOne,
            /// The progress of suspended work is counted from its beginning.
            SuspendedFromStart,
            /// Suspending an erase costs as much as suspending a program.
            SuspendCostSwapped,
            /// Shorter transfers take the time of the last longer transfer.
            TransferMemoStale,
            /// On the link, shorter pages take the time of the last longer page.
            LinkMemoStale,
            /// Writes use the link for whole pages.
            LinkRoundsUp,
            /// Parts of pages are not decoded.
            PartsUndecoded,
            /// A copy takes the sensing time of the page kind to which it is written.
            CopySensesTarget,
            /// Copies within a piece are not decoded.
            PieceUndecoded,
            /// A wordline programmed in a piece takes only one transfer.
            PieceMovesOnePage,
            /// Probes of several wordlines take the time of one probe.
            ProbesOnce,
            /// A wordline is padded after twice the pause.
            PadsLate,
            /// A copy is programmed on the die on which it was read.
            ProgramOnSourceDie,
            /// Work begins on a die while another plane of the die is read.
            OtherPlanesUnseen,
            /// The latency of a write begins when its data has arrived.
            LinkTimeUncounted,
            /// A trim does not wait for the writes before it.
            TrimOvertakes,
            /// Reads count as waiting for reclaim since their arrival, even before reclaim began.
            StallFromQueue,
            /// The drive takes one request more than allowed from the host.
            RequestTooMany,
            /// Latency begins when the drive takes a request, and not when the request arrives.
            WaitOmitted,
            /// Latencies of trims are counted as latencies of writes.
            TrimsMeasured,
            /// A batch copies one page too many.
            BatchTooLong,
            /// A job in the foreground waits for the waiting reads.
            ForegroundWaits,
            /// Host reads from memory do not use the link.
            MemorySkipsLink,
            /// A read of flash that completes a host read takes no time.
            FillTimeless,
            /// A wordline has the number of the previous wordline.
            SerialKept,
            /// Without a buffer, the last pages of a write wait for other pages.
            PadForgotten,
            /// Pages that a job could not read count as copied.
            LostCopiesCounted,
            /// Copies of GC are counted as copies of reclaim.
            GcCopiesCounted,
            /// A failed fill read counts as a failed host read.
            FillFailureCounted,
            /// Reads of lost pages also count as reads of pages without data.
            LostReadUnmapped,
            /// A write that covers no whole part does not count as a partial write.
            EmptyPartsUncounted,
            /// Reads of one range are blamed on the next range.
            BlameShifted,
            /// A job for some pages is blamed like a job for the whole block.
            BlameOfWhole,
            /// Jobs for some pages are not blamed on any range.
            BlameForgotten,
            /// Every erase of a block with guard levels counts as an erase by GC.
            LowErasesAll,
            /// The use of blocks with guard levels is compared with the limits of full density.
            UsedOfFullLimit,
            /// Blocks that are reprogrammed are not counted.
            ReprogramsUncounted,
            /// Counts of reclaim include events before the measured phase.
            ReclaimFromStart,
            /// Counts of a technique include events before the measured phase.
            OwnFromStart,
        } }
    };
}
