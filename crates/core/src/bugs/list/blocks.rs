//! Seeded bugs of blocks: how they are taken, prepared, cleaned, and grow old.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_blocks {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_bounds! { $to {
            $($before)*
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
        } }
    };
}
