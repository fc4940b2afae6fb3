//! Seeded bugs of timing, and of the bounds and limits of policies.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_bounds {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_parity! { $to {
            $($before)*
            // Timing, and choice of blocks.
            /// No job ever goes before reads.
            NeverUrgent,
            /// Dies do not notice that writers wait for space in the buffer.
            PressureUnfelt,
            /// Latencies of a group do not record which reads waited for reclaim.
            GroupReclaimReadsForgotten,
            /// Blocks that should lie in the pool, but do not, are not counted.
            PoolMissUncounted,
            /// Blocks that can hold fewer pages look emptier to GC than they are.
            ShortBlocksLookEmpty,
            /// Pages that guard levels of single wordlines took are not returned.
            PagesAwayLeak,
            /// Streams that must not use the pool take blocks anywhere.
            PoolOpenToAll,
            /// Idle gaps are used for cleaning although they should not be.
            BackgroundThoughOff,
            /// Idle gaps are never used for cleaning.
            BackgroundForgotten,
            /// While writers wait, no read goes before their programs.
            CreditForgotten,
            /// Idle gaps queue programs of copies without a limit.
            PilesUp,
            /// A stream opens all its blocks on one die.
            OpensOnOneDie,
            /// Waiting work never runs between the pieces of jobs.
            WriteTurnForgotten,
            /// Every second alarm is not counted.
            AlarmsUncounted,
            /// Blocks that should have got guard levels, but did not, are not counted.
            RefusalsUncounted,
            /// Moved data is protected from GC for half of the time.
            RestHalved,
            /// An urgent job has the die, but another job runs.
            UrgentNotFirst,
            /// Merges take no time in the estimate of urgency.
            MergesUnweighed,
            /// Full blocks are moved out of a pool that is not reserved.
            EvictsFromShared,
            /// Static wear levelling moves recently moved data.
            LevelsResting,

            // Bounds and limits of policies, long times, and the pool.
            /// One block more has guard levels than `density.low_density` allows.
            LowDensityOverfull,
            /// The page kinds that `page-type` moves later move a few reads too late.
            PageTypeDueLate,
            /// The limit of a rewritten shadow block counts from the check, and not from the
            /// write.
            FillingFromNow,
            /// The bound of wordlines leaves out the dose of a job's merges.
            BurdenForgotten,
            /// A piece of a job takes its time modulo 2^32 ns.
            PieceWraps,
            /// Data that age alone spoiled counts as good, if reads and age do not share the code.
            AgeAloneForgotten,
            /// The gain by retries minus the loss by age is linear between the rows of
            /// `disturb.table`.
            BudgetBetweenRows,
            /// Reads of a neighbour count like reads elsewhere if age has the larger effect.
            QuietAtAnyDose,
            /// Every program takes the time of the first page kind.
            FirstKindPrograms,
            /// An erase takes the time of a block with one more cycle.
            ErasedOlder,
            /// The pool begins one block too late.
            PoolBeginsLate,
            /// Wordlines with guard levels are confused if their numbers differ by 64.
            GuardsAlias64,
            /// Incomplete wordlines are never padded.
            PadsNever,
            /// Blocks that GC erases for deferred jobs are not counted.
            DeferredCleaningUncounted,
        } }
    };
}
