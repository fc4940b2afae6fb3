//! Seeded bugs of moves, the map, counters, alarms, wear, and what flash endures.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_flash {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_told! { $to {
            $($before)*
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
            /// What moves to level wear counts as moved for GC.
            LevellingAsGc,
            /// What was written because of its age counts as written because of reads.
            RetentionAsReadDisturb,
            /// Retries of movers count as reads that decode at once.
            SoftErrorsOfHostOnly,
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
        } }
    };
}
