//! Seeded bugs of a second event within an event, and of reads in bulk.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_nested {
    ($to:ident { $($before:tt)* }) => {
        $to! {
            $($before)*
            // Second event within an event.
            /// After a write has freed buffer space with a page, that page counts as lying at its
            /// old place.
            EntryBeforeRoom,
            /// Space is freed before the rest of a page is read. Work that this read starts may use
            /// the space up.
            RoomBeforeFill,
            /// A page is written although a move that its fill read started has lost the page.
            FillOutlivesLoss,
            /// A read of a buffered page counts as good although a move that it started has lost
            /// the rest.
            RestOutlivesLoss,
            /// A fill read takes the time of the coding that its page has after a move.
            FillCodingLate,
            /// In the timed gear, a fill read uses the die of the place that its page has after a
            /// move.
            FillSourceLate,
            /// A page whose fill read failed is dropped at the place that it had before a move.
            FillDropsOld,
            /// After a move, the old place of a page decides whether its fill read failed because
            /// of age.
            AgedAfterFill,
            /// A policy is told of retries of a page that has moved since.
            RetriedTellsMoved,
            /// Retries of a quiet read do not count towards the alarm.
            QuietForgetsRetries,
            /// Retries of a read do not count towards the alarm.
            RungBeforeRetries,
            /// A block that is being moved when it becomes a step older is not checked again.
            OlderMovingSkipped,
            /// A block that is being moved when it is due is not checked again.
            AgedMovingForgotten,
            /// A block in which a job leaves data is not checked again, if the job was finished
            /// because of age.
            AgedLeftForgotten,
            /// A job is not finished when its block becomes a step older.
            OlderJobKept,
            /// A block without dose is not checked when it becomes a step older.
            OlderUnreadForgotten,
            /// A rejuvenated block keeps the limits of its former age.
            RestartKeepsLevels,
            /// A rejuvenated block is never due.
            AdjustedNeverDue,
            /// A job with a deadline gets another deadline.
            DeadlineReplaced,
            /// A job that merges wordlines gets a deadline for these wordlines only.
            AdjustingNotWidened,
            /// An old version that parity needs is read without retries.
            KeptRetriesForgotten,
            /// Partial parities are completed with reads for which policies should be asked.
            KeptReadUnasked,
            /// A parity is programmed although freeing space has changed its stripe.
            UpdateAcrossRoom,
            /// A partial parity is renewed although freeing space has changed its stripe.
            RenewedAcrossRoom,
            /// A parity is committed although freeing space has changed its partial parity.
            CommittedAcrossRoom,
            /// A rebuilt page is written although freeing space has moved it.
            RepairAcrossRoom,
            /// Between two rows of limits, the smaller alpha applies.
            SmallerAlpha,
            /// Between two rows of limits, the alpha of more cycles applies.
            AlphaOfOlder,
            /// Between two rows of limits, the alpha of fewer cycles applies.
            AlphaOfYounger,
            /// Techniques use a row of limits for smaller P/E counts.
            ClassForgetsRow,
            /// Alpha stays constant beyond the end of the table.
            AlphaNotExtrapolated,
            /// The reserve for retries uses the smaller alpha of two rows.
            ReserveOfSmallerAlpha,
            /// Blocks that need retries have the alpha of new blocks.
            LevelsOfNewAlpha,
            /// Reads are blamed with the alpha of new blocks.
            BlameOfNewAlpha,
            /// A block that begins to need retries keeps what was known before its erase.
            TiredKept,
            /// Merges by jobs are not set back with the clock.
            JobsNotSetBack,
            /// Steps of age are not set back with the clock.
            StepsNotSetBack,
            /// A block that is due at once is rewritten later, by a job that takes time.
            LateRefreshDeferred,
            /// Retries of fill reads take no time.
            FillRetriesTimeless,
            /// Retries of movers delay no alarm.
            MoverRetriesPutOffNothing,
            /// Refreshes that come too late are not counted.
            RefreshMissUncounted,
            /// A job whose block becomes too old is not urgent.
            AgedNotUrgent,

            // Reads in bulk.
            /// When a block's read rate changes, reads that are not yet drawn no longer count
            /// towards its alarm.
            AlarmNotDrawnAgain,
            /// Retries of reads in bulk add no dose.
            BulkRetriesUncharged,
            /// Reads in bulk of a block that needs retries have the same effect on neighbours as
            /// elsewhere.
            BulkRoomAnywhere,
            /// Reads in bulk take the retries of the age step in which the first read came.
            BulkAcrossSteps,
        }
    };
}
