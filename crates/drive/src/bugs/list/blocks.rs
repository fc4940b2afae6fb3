//! Seeded bugs of blocks: taking, preparation, cleaning and ageing.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_blocks {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_bounds! { $to {
            $($before)*
            /// GC takes recently moved blocks like any other block.
            ProtectionForgotten,
            /// Cold data goes to the youngest blocks.
            ColdToYoungest,
            /// Wear of reprogramming does not count when blocks are taken.
            ExtraWearUnranked,
            /// The ending cycle does not count when reprogramming is weighed.
            CyclesOneShort,
            /// Static wear levelling moves the most worn block.
            LevelsOldest,
            /// Static wear levelling checks eight times too rarely.
            LevelsRarely,
            /// Wear of reprogramming is truncated instead of rounded.
            ExtraTruncated,
            /// Counters keep only eight bits of the wordline number.
            KeyCutOff,
            /// Policies do not see wear by reprogramming.
            WearUnseen,
            /// Policies do not see reads by movers.
            MoversUnseen,
            /// Policies look limits up for one cycle too few.
            RowOfBefore,
            /// Half of the late reads are left out.
            LateHalved,
            /// Policies take the last wordline to be empty.
            LastWordlineInvalid,
            /// The dose that a wordline does not count is rounded up.
            SparedRoundsUp,
            /// The limit of a wordline is rounded only once.
            LimitRoundedOnce,
            /// A page at its limit is lost.
            LimitReachedIsLost,
            /// The reads for which the error model guarantees good data are rounded up.
            QuietRoundedUp,
            /// No wordline is checked below a bound. This bound is computed for the strongest
            /// group.
            BoundOfStrongest,
            /// Pages of a wordline that spans two words of a bitmap are not seen.
            AcrossWordsLost,
            /// The number of pages still to be written is one too small.
            ToComeOneShort,
            /// A job skips the first page of each word of 64.
            JobSkipsPage,
            /// A block that stays in use after a job counts as being moved.
            MovingKept,
            /// A block that stays in use after a job is never a victim again.
            ReleasedUnlisted,
            /// An erase keeps the alarm of the error model.
            ModelAlarmKept,
            /// GC takes the fullest block.
            GcTakesFullest,
            /// A block stays in its list when one of its pages becomes invalid.
            VictimsStale,
            /// If a mover finds a page lost, the newer data in the buffer is lost, too.
            LossTakesBuffered,
            /// In a divided block, marked pages and other pages go to each other's places.
            DivideInverted,
            /// GC moves data into blocks of the host.
            GcIntoHost,
            /// Earlier activity decides where blocks are opened.
            NotDeterministic,
            /// The drive spares any number of pages.
            SpareOverdrawn,
            /// A wordline is reprogrammed without reading its most significant page.
            MergeReadsLess,
            /// Pages of a partly written wordline stay when a block is reprogrammed.
            PartWordlineStays,
            /// A page that was disturbed past its limit before it was written counts as good.
            BornLostUnseen,
            /// The first read of a wordline in a block that needs retries takes no retry.
            BornTiredUnseen,
            /// The error model does not know that a wordline is still being written.
            ToComeForgotten,
            /// A wordline that gets guard levels keeps the page that they should take.
            GuardBackupShort,
            /// The policy is not asked again about a block that GC already moves.
            JobLearnsNoDeadline,
            /// A fill read does not ask the policy.
            FillAsksNobody,
            /// Sensings by movers delay every alarm until the erase.
            PutOffGrows,
            /// Blocks start with twice the reads of `start.reads`.
            StartReadsTwice,
            /// Blocks start with half of the reads that were drawn for them.
            StartReadsHalved,
            /// Reads of preparation do not count among the reads with which a block starts.
            PreparationUncounted,
            /// Twice as many blocks as `start.worn_share` says start with `start.worn_pec` cycles.
            WornShareTwice,
            /// Partly written blocks start with the reads of full blocks.
            StartReadsOpen,
            /// The start-up state has one page less than `start.fill`.
            FillOneShort,
            /// The start-up state has half of the writes of `start.overwrite`.
            OverwritesHalved,
            /// The overwrites of the start-up state hit only the first half.
            OverwritesFirstHalf,
            /// In a computed steady state, the next block also holds the last page of each block.
            SteadyPageTwice,
            /// In a computed steady state, one host page in 1009 has the place of another page.
            SteadyPlaceWrong,
            /// In a computed steady state, one flash page in 1009 has the owner of another page.
            SteadyOwnerWrong,
            /// In a computed steady state, all blocks are of one kind.
            SteadyAllFull,
            /// The search for losses does not find losses that the search itself causes.
            UnreadOnce,
            /// The search for losses at the end skips open blocks.
            UnreadOpenSkipped,
            /// Cost-benefit ignores how long a block was not changed.
            CostBenefitAgeless,
            /// Stable greedy takes the most worn of the stable blocks.
            StableTakesWorn,
            /// The latest of several victims with equally many valid pages comes first.
            YoungestVictim,
            /// A read of more than sixteen pages ends after the sixteenth page.
            LongReadCut,
            /// A block to which moves are written is not checked when it is old.
            AgeForgottenAfterMove,
            /// A block sometimes keeps its age through an erase.
            StaleAgeAfterRefresh,
            /// An open block never becomes due.
            OpenNeverDue,
            /// A technique that uses limits for the age of data is not asked again when the data
            /// grows older.
            OlderUnasked,
            /// A block that merges have rejuvenated is checked at the time for its older age.
            StepsOfOlder,
            /// A retry adds no dose.
            RetryUncharged,
            /// A read makes one retry fewer than its data needs.
            RetryForgotten,
            /// After an erase, reads of a block still begin at the level that decoded last before
            /// the erase.
            LevelKept,
            /// Retries are drawn as if the error rate were a tenth higher.
            NoiseTooLoud,
            /// A page that a merge of its wordline corrupted counts as good.
            CorruptedLeft,
            /// A read of a merged wordline takes one sensing fewer than its coding needs.
            MergedReadTooFast,
            /// A read of a merged wordline adds the dose of full density.
            MergedDoseInFull,
            /// A merge erases the read dose of its block.
            MergeForgetsDose,
            /// A merge for faster reads makes a block young, although some of its data was not
            /// merged.
            AgeRestartsInPart,
            /// Wordlines are merged for faster reads although the reads of the merge may bring data
            /// to its limit.
            AdjustsWithoutRoom,
        } }
    };
}
