//! Seeded bugs of parity.

/// Adds these bugs to those before them, and hands all on.
macro_rules! bugs_of_parity {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_nested! { $to {
            $($before)*
            // Parity.
            /// GC moves a page to another die than its own.
            MemberAstray,
            /// A page of a technique's own stream goes to another die than its own.
            ApartAstray,
            /// The parity of a stripe is not brought up to date now and then.
            ParityStale,
            /// An old version that the parity still needs is given up when new data comes to the
            /// buffer.
            OldGivenUpEarly,
            /// A trimmed page stays in its stripe's parity.
            TrimLeavesParity,
            /// The old data of a page is left out of the new parity now and then.
            OldDataForgotten,
            /// A page is rebuilt out of data that could not be read.
            RebuiltFromGarbage,
            /// A version on which delayed parity counts is erased before the partial parity is
            /// whole.
            KeptErasedEarly,
            /// A wordline is programmed over with a version on which delayed parity counts, before
            /// the partial parity is whole.
            KeptMergedEarly,
            /// A partial parity forgets a page that it is said to cover.
            PartialForgetsPage,
            /// A partial parity keeps the version of a page that changes again.
            PartialKeepsOld,
            /// Parity is committed out of the old one with what its pages hold now, not with what
            /// it counts of them.
            CommitTakesNew,
            /// A version that nobody watches is taken to be within its limit.
            KeptTakenForGood,
            /// A stripe is rebuilt out of the parity on flash, although a partial parity covers the
            /// page.
            PartialUnseen,
            /// A partial parity that is begun anew forgets the pages that do not change.
            GatherForgetsOthers,
            /// Writes of the host are not all counted for the stripes whose parity waits.
            WindowUncounted,
            /// The published rule forgets pages where no more than `n_update` change, too.
            ForgetsTooSoon,
            /// The rest of a partly written page is rebuilt once more, although a move has just
            /// rebuilt and written it.
            RestRebuiltTwice,
            /// A page of the host that was rebuilt and written elsewhere counts as parity.
            RecoveryAsParity,
            /// A page that is rebuilt goes to another die than its own now and then.
            RebuiltAstray,
            /// The watermark of a rebuild passes a page now and then.
            WatermarkSkips,
            /// A write for which a page of its stripe is rebuilt first is lost.
            WriteLostInRebuild,
            /// Free blocks of a die that failed stay among the free ones.
            DeadBlockReused,
            /// Of what lay on failed flash and nothing gives back every third page is dropped
            /// without a word.
            LossByFailureHidden,
            /// A host read of a page that is rebuilt does not wait for the reads that this takes.
            RebuiltReadAtOnce,
            /// A host read whose page had to be rebuilt ends as if it could have been decoded.
            RepairedReadAtOnce,
            /// What a page is rebuilt of is read before its own read has failed.
            RepairReadsAhead,
            /// What a rebuild reads waits behind other work, although a host read waits for it.
            RebuildBehindWork,
            /// A page that a failure took from a stripe without parity is rebuilt as if that were
            /// all zero.
            RebuiltWithoutParity,
            /// Pages that go from failed blocks, lost or rebuilt elsewhere, are counted in worn
            /// blocks for ever.
            FailedCountedWorn,
            /// The last stage gives no more stripes parity once flash has failed.
            SweepEndsAtFailure,
            /// Parity that wear does not call for any more is given back although a page of its
            /// stripe is still to be rebuilt.
            ParityNotKeptForRebuild,
            /// That a move brings a page to a worn block is not counted.
            MovesNotCounted,
            /// Stripes that need parity because of a move do not get it, now and then.
            ParityNotFormed,
            /// Limits are raised as if parity were always on flash although it is delayed.
            LateParityTrusted,
            /// What a block served until its erase is left out of expected numbers.
            ServiceForgotten,
            /// What a block served before it got larger limits counts in expected numbers as if it
            /// had had them.
            ServiceAtNewLimit,
            /// Limits that follow from a code forget that error rates of pages are spread.
            SpreadForgotten,
            /// The parity of a stripe is given back while one of its pages lies in a worn block.
            DissolvedEarly,
            /// The last stage passes stripes without giving them parity.
            SweptUnformed,
            /// Blocks that are to be left alone are recycled, and those that are to be recycled are
            /// left alone.
            WornRecycled,
        } }
    };
}
