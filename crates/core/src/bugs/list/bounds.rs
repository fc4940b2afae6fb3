//! Seeded bugs of work in time, and bounds and limits of policies.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_bounds {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_parity! { $to {
            $($before)*
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
        } }
    };
}
