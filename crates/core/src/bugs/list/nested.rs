//! Seeded bugs of a second event within the first, and reads in bulk.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_nested {
    ($to:ident { $($before:tt)* }) => {
        $to! {
            $($before)*
            // A second event within the first.
            /// A page of which a write makes room is taken to lie where it lay before.
            EntryBeforeRoom,
            /// Room is made before the rest of a page is read, and what that read sets off may use
            /// it up.
            RoomBeforeFill,
            /// A page is written although a move that its fill set off has lost it.
            FillOutlivesLoss,
            /// A read of a page in the buffer is good although a move that it set off has lost the
            /// rest.
            RestOutlivesLoss,
            /// A fill takes the time of the coding that its page has after a move.
            FillCodingLate,
            /// A fill is read, in time, where its page lies after a move.
            FillSourceLate,
            /// A page whose fill failed is dropped where it lay before a move.
            FillDropsOld,
            /// Whether a fill failed by age is asked of where its page lay, after a move.
            AgedAfterFill,
            /// A policy is told of retries of a page that has moved since.
            RetriedTellsMoved,
            /// Retries of a quiet read do not count towards the alarm.
            QuietForgetsRetries,
            /// Retries of a read do not count towards the alarm.
            RungBeforeRetries,
            /// A block that is being moved when it is a step older is not looked at again.
            OlderMovingSkipped,
            /// A block that is being moved when it is due is not looked at again.
            AgedMovingForgotten,
            /// A block in which a job that was finished for its age leaves data is not looked at
            /// again.
            AgedLeftForgotten,
            /// A job is not finished when its block is a step older.
            OlderJobKept,
            /// A block without dose is not asked about when it is a step older.
            OlderUnreadForgotten,
            /// A block that is young again keeps the limits of the age that it had.
            RestartKeepsLevels,
            /// A block that is young again is due at no time.
            AdjustedNeverDue,
            /// A job that has a deadline gets another.
            DeadlineReplaced,
            /// A job that adjusts wordlines gets a deadline for those alone.
            AdjustingNotWidened,
            /// An old version that parity counts is read without retries.
            KeptRetriesForgotten,
            /// Partial parities are made whole with reads of which policies should be asked.
            KeptReadUnasked,
            /// A parity is programmed although making room has changed its stripe.
            UpdateAcrossRoom,
            /// A partial parity is renewed although making room has changed its stripe.
            RenewedAcrossRoom,
            /// A parity is committed although making room has changed its partial parity.
            CommittedAcrossRoom,
            /// A rebuilt page is written although making room has moved it.
            RepairAcrossRoom,
            /// Of two rows of limits the smaller alpha holds.
            SmallerAlpha,
            /// Of two rows of limits the alpha of more cycles holds.
            AlphaOfOlder,
            /// Of two rows of limits the alpha of fewer cycles holds.
            AlphaOfYounger,
            /// Techniques take a row for what lies before it.
            ClassForgetsRow,
            /// Alpha stays beyond the table's end.
            AlphaNotExtrapolated,
            /// What retries add is reserved by the smaller alpha of two rows.
            ReserveOfSmallerAlpha,
            /// Tired blocks have the alpha of new ones.
            LevelsOfNewAlpha,
            /// Reads are blamed by the alpha of new blocks.
            BlameOfNewAlpha,
            /// A block that becomes tired keeps what was known of it in a life before.
            TiredKept,
            /// What jobs have adjusted is not set back with the clock.
            JobsNotSetBack,
            /// Steps of age are not set back with the clock.
            StepsNotSetBack,
            /// A block that is due at once is rewritten in time.
            LateRefreshDeferred,
            /// Retries of fills take no time.
            FillRetriesTimeless,
            /// Retries of movers put off no alarm.
            MoverRetriesPutOffNothing,
            /// Refreshes that came too late are not counted.
            RefreshMissUncounted,
            /// A job whose block grows too old is not urgent.
            AgedNotUrgent,

            // Reads in bulk.
            /// When a block's rate of reads changes, those not yet drawn no longer count towards
            /// its alarm.
            AlarmNotDrawnAgain,
            /// Retries of reads in bulk deposit no dose.
            BulkRetriesUncharged,
            /// Reads in bulk of a tired block are taken to be as bad beside a page as elsewhere.
            BulkRoomAnywhere,
            /// Reads in bulk take the retries of the age step in which the first of them came.
            BulkAcrossSteps,
        }
    };
}
