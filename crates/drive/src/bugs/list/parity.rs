//! Seeded bugs of parity.

/// Adds these bugs to the bugs before, and passes all of them on.
macro_rules! bugs_of_parity {
    ($to:ident { $($before:tt)* }) => {
        bugs_of_nested! { $to {
            $($before)*
            // Parity.
            /// GC moves a page to another die than its own.
            MemberAstray,
            /// A page of a technique's own stream goes to another die than its own.
            ApartAstray,
            /// In a computed start, one page in 61 of a die gets the place of its predecessor.
            LanePlaceWrong,
            /// In a computed start, one flash page in 61 of a die has the owner of another page.
            LaneOwnerWrong,
            /// In a computed start, some pages of a die are not in the order of their stripes.
            LaneTurnedWrong,
            /// The parity of a stripe is sometimes not updated.
            ParityStale,
            /// An old version that the parity still needs is given up when new data reaches the
            /// buffer.
            OldGivenUpEarly,
            /// A trimmed page stays in its stripe's parity.
            TrimLeavesParity,
            /// The new parity sometimes leaves out the old data of a page.
            OldDataForgotten,
            /// A page is rebuilt from data that could not be read.
            RebuiltFromGarbage,
            /// A version that delayed parity needs is erased before the partial parity is complete.
            KeptErasedEarly,
            /// A wordline with a version that delayed parity needs is reprogrammed before the
            /// partial parity is complete.
            KeptMergedEarly,
            /// A partial parity drops a page that it should cover.
            PartialForgetsPage,
            /// A partial parity keeps the version of a page that changes again.
            PartialKeepsOld,
            /// Parity is committed from the old parity and the new data of pages, instead of the
            /// data that it counts.
            CommitTakesNew,
            /// A version that is not monitored counts as within its limit.
            KeptTakenForGood,
            /// A stripe is rebuilt from the parity on flash, although a partial parity covers the
            /// page.
            PartialUnseen,
            /// A renewed partial parity drops the pages that do not change.
            GatherForgetsOthers,
            /// Some host writes are not counted for the stripes whose parity waits.
            WindowUncounted,
            /// The published rule also drops pages if at most `n_update` pages change.
            ForgetsTooSoon,
            /// The rest of a partly written page is rebuilt again, although a move has just rebuilt
            /// and written it.
            RestRebuiltTwice,
            /// A page of the host that was rebuilt and written elsewhere counts as parity.
            RecoveryAsParity,
            /// A stripe that is read in vain to rebuild a page does not count as a recovery.
            FailedRecoveryUncounted,
            /// A rebuilt page sometimes goes to another die than its own.
            RebuiltAstray,
            /// The watermark of a rebuild sometimes passes a page.
            WatermarkSkips,
            /// A write that first needs a rebuild in its stripe is lost.
            WriteLostInRebuild,
            /// Free blocks of a failed die stay in the list of free blocks.
            DeadBlockReused,
            /// Every third page on failed flash that cannot be rebuilt is dropped without a report.
            LossByFailureHidden,
            /// A host read of a rebuilt page does not wait for the reads of the rebuild.
            RebuiltReadAtOnce,
            /// A host read whose page had to be rebuilt ends as if the page had been decoded.
            RepairedReadAtOnce,
            /// The pages for a rebuild are read before the page's own read has failed.
            RepairReadsAhead,
            /// The reads of a rebuild wait behind other work, although a host read waits for the
            /// rebuild.
            RebuildBehindWork,
            /// A page that a failure took from a stripe without parity is rebuilt as if the parity
            /// were zero.
            RebuiltWithoutParity,
            /// Pages that leave failed blocks, lost or rebuilt elsewhere, stay counted in worn
            /// blocks.
            FailedCountedWorn,
            /// After a failure, the last stage gives parity to no more stripes.
            SweepEndsAtFailure,
            /// Parity that wear no longer requires is given up although a page of its stripe is
            /// still to be rebuilt.
            ParityNotKeptForRebuild,
            /// Moves of pages to worn blocks are not counted.
            MovesNotCounted,
            /// Stripes that need parity because of a move sometimes do not get it.
            ParityNotFormed,
            /// Limits are raised as if parity were always on flash, although parity is delayed.
            LateParityTrusted,
            /// Expected numbers leave out the reads of a block before its erase.
            ServiceForgotten,
            /// Expected numbers treat reads before a block got larger limits as if the block
            /// already had them.
            ServiceAtNewLimit,
            /// Limits from a code ignore the spread of the pages' error rates.
            SpreadForgotten,
            /// The parity of a stripe is given up while one of its pages lies in a worn block.
            DissolvedEarly,
            /// The last stage skips stripes without giving them parity.
            SweptUnformed,
            /// Blocks that should be left alone are recycled, and blocks that should be recycled
            /// are left alone.
            WornRecycled,
        } }
    };
}
