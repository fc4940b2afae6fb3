//! Bugs on purpose, one chosen at run time: a checker that never fails is not trusted.
//! Without the feature `seeded-bugs` every question is `false` at compile time.

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The mover forgets a page now and then.
    MoverDropsPage,
    /// A host write is mapped for the neighbouring page.
    WriteToNeighbour,
    /// An overwritten page stays valid, and a move brings it back.
    StaleCopyReturns,
    /// A trim is forgotten.
    TrimForgotten,
    /// A rewrite is acknowledged and forgotten now and then.
    RewriteForgotten,
    /// Reads that move data are not counted.
    ReadsUncounted,
    /// The dose of reads does not reach the wordline's neighbours.
    DoseLost,
    /// The reclaim threshold forgets the neighbours' weight.
    AlphaForgotten,
    /// A page past its limit is given out as good.
    LossHidden,
    /// A sound page is reported lost.
    LossInvented,
    /// An erase leaves the counters of the block as they were.
    CountersKept,
    /// A channel carries two pages at once.
    ChannelShared,
    /// Pages that reprogramming takes away are not moved before.
    BackupForgotten,
    /// The error model takes every block for one with guard levels.
    ModeForgotten,
    /// A merge of a single wordline hits the one behind it.
    MergeBeside,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::MoverDropsPage,
        Self::WriteToNeighbour,
        Self::StaleCopyReturns,
        Self::TrimForgotten,
        Self::RewriteForgotten,
        Self::ReadsUncounted,
        Self::DoseLost,
        Self::AlphaForgotten,
        Self::LossHidden,
        Self::LossInvented,
        Self::CountersKept,
        Self::ChannelShared,
        Self::BackupForgotten,
        Self::ModeForgotten,
        Self::MergeBeside,
    ];
}

/// The bug of this drive, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    #[cfg(feature = "seeded-bugs")]
    pub(crate) seeded: Option<Bug>,
}

impl Bugs {
    /// Whether the drive has this bug.
    #[inline]
    #[cfg_attr(not(feature = "seeded-bugs"), expect(clippy::unused_self, reason = "a drive without the feature has no bugs to look up"))]
    pub(crate) fn has(self, bug: Bug) -> bool {
        #[cfg(feature = "seeded-bugs")]
        return self.seeded == Some(bug);
        #[cfg(not(feature = "seeded-bugs"))]
        {
            let _ = bug;
            false
        }
    }
}
