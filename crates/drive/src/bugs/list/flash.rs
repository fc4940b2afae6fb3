//! Seeded bugs of moves, the map, counters, alarms, wear, and the endurance of flash.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_flash {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_told! { $to {
            $($before)*
            // Moves.
            /// A reclaim job begins with the second page of its block.
            JobForgetsFirst,
            /// A page that a mover could not decode is written as if it had been decoded.
            MoverCopiesGarbage,
            /// A move of older data below a buffered page does not tell the buffer its new place.
            MoveMissesBuffer,
            /// A reclaim job handles only the first 512 pages of a block.
            PagesBeyond512,
            /// After a job that leaves data in its block, the policy is not asked again.
            ReleaseNeverAsks,
            /// A job does not know its deadline.
            DeadlineForgotten,
            /// A job that reaches its deadline is not finished.
            DeadlineOverrun,
            /// A block that is already being moved gets no deadline from its policy.
            GcJobGetsNoDeadline,
            /// What moves to level wear counts as moved for GC.
            LevellingAsGc,
            /// What was written because of its age counts as written because of reads.
            RetentionAsReadDisturb,
            /// Retries of movers count as reads that decode at once.
            SoftErrorsOfHostOnly,
            // Map and write buffer.
            /// A trimmed page stays valid on flash.
            TrimLeavesValid,
            /// The reverse map sometimes misses a program.
            OwnerForgotten,
            /// A page trimmed in the write buffer is still written to flash.
            TrimmedSlotFlushed,
            /// A trim of a buffered page does not invalidate the older data on flash.
            TrimKeepsBelow,
            /// A page completed in the write buffer does not invalidate the older data on flash.
            AbsorbedKeepsBelow,
            /// A lost page stays lost when it is written again.
            LostFlagKept,
            /// A read of a page reported lost is answered like a read of a page that was never
            /// written.
            LostForgotten,
            // Counters.
            /// An erase does not clear the counts of wordlines.
            WordlineCountsKept,
            /// An erase does not clear the technique's counters.
            TrackerKept,
            /// A wordline counts reads from before its programming.
            BaseForgotten,
            /// Reads from before a wordline's programming never count, whatever their weight.
            BaseSparesAll,
            /// A probe disturbs no neighbour.
            ProbeUncounted,
            /// The disturbance by reprogramming is not counted.
            MergeDoseForgotten,
            /// Sensings without an owner are not counted.
            NobodyUncounted,
            /// Every page kind is sensed as often as the least significant kind.
            DoseOfFirstKind,
            /// Reads of a block's last wordline reach no neighbour.
            LastWordlineUncounted,
            /// A fill read is not counted.
            FillDisturbsNothing,
            /// A block's count of reads wraps at 4,096.
            CountWraps,
            /// Reads of the start-up state are counted only for blocks.
            StartReadsUncounted,
            // Alarms, and their delays.
            /// A block that GC opens gets no alarm.
            ArmForgotten,
            /// Alarms are reached a quarter of a read too late.
            AlarmOneLate,
            /// The error model is asked two reads too late.
            ModelAlarmLate,
            /// A block with lost pages counts as intact when it is closed.
            SuspectForgotten,
            /// Sensings by movers delay alarms twice.
            PutOffTwice,
            /// Fill reads of the host delay alarms.
            PutOffByHost,
            /// The sensings of a job delay the question after the job.
            PutOffKept,
            // Wear.
            /// Every third erase is not counted as a cycle.
            CycleForgotten,
            /// Reprogramming wears no more than an ordinary cycle.
            ExtraWearForgotten,
            /// A block that was reprogrammed once counts as reprogrammed in every cycle.
            ReprogrammedForEver,
            // GC and streams.
            /// Moves take the blocks of the reserve.
            ReserveIgnored,
            /// A stream continues to write a block that is being moved.
            OpenBlockKept,
            /// Wordlines of a block opened in low density get no guard levels.
            LowDensityUnmerged,
            // Gathering of pages into wordlines.
            /// A page trimmed while it waits for its wordline is still programmed.
            GatherForgetsTrim,
            /// A trim of a waiting page removes another page.
            GatherForgetsAnother,
            /// The map still points to the buffer after a wordline was programmed.
            GatherKeepsMap,
            /// A copy that waited is programmed as new host data.
            GatherClaimsHost,
            /// Pages of a padded wordline count as valid.
            PaddingIsValid,
            /// Padding replaces the last page that waited.
            PaddingTakesLast,
            // Density and guard levels.
            /// An erase does not clear the guard levels of wordlines.
            GuardsKept,
            /// An erase does not clear the coding mode of a block.
            ModeKept,
            /// The last wordline is not merged when a block is reprogrammed.
            MergeOneShort,
            /// The last page that reprogramming takes away is not moved first.
            BackupOneShort,
            /// A block that is rewritten in place begins on a wordline that holds older data.
            RecycleSharesWordline,
            /// One wordline with guard levels gives them to its whole block.
            GuardForAll,
            /// Guard levels multiply limits by twice their factor.
            GuardFactorTwice,
            // Endurance of the flash, as the drive assumes it.
            /// Limits do not fall with wear.
            TruthOfNew,
            /// All wordlines belong to the first group.
            TruthOfFirstGroup,
            /// Alpha loses its fraction.
            AlphaFloor,
            /// Limits stay constant beyond the end of the table.
            NotExtrapolated,
            /// A wordline has the limit of the next wordline's layer.
            NextLayer,
            /// A block has the scatter of the next block.
            ScatterOfNext,
            /// Half of the factors of a scatter are below 1.
            ScatterBelowOne,
            /// A block becomes slow at any retry, whatever `ecc.slow_retries`.
            SlowAtAnyRetry,
            /// All page kinds have the endurance of the strongest kind.
            StrongestKind,
            /// Neighbours have adjacent numbers, whatever the stride.
            StrideForgotten,
            /// The first wordline of a block is a neighbour of the last.
            EdgeWraps,
        } }
    };
}
