//! Seeded bugs: deliberate faults, of which one is chosen at run time. They show that the checkers
//! find faults. The list is in `bugs/list.rs`. Without the feature `seeded-bugs`, all questions are
//! `false` at compile time.

#[macro_use]
mod list;
#[cfg(feature = "seeded-bugs")]
pub mod stories;

#[cfg(feature = "seeded-bugs")]
use std::cell::Cell;
#[cfg(feature = "seeded-bugs")]
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes the type of all bugs from their list.
macro_rules! all_of {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Seeded bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$doc])* $name,)*
        }

        impl Bug {
            const COUNT: usize = [$(Self::$name,)*].len();

            /// All bugs.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name,)*];
        }
    };
}

list!(all_of);

/// Checker that must find a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// Random drives of `vpass check`.
    Check,
    /// Battery of the technique whose bounds the bug distorts: random drives of that technique
    /// alone.
    Battery,
    /// Random drives in the fluid gear.
    Fluid,
    /// Random drives with parity.
    Parity,
    /// Random drives that lose a die.
    Failures,
    /// Random drives whose erases count as several cycles.
    Acceleration,
}

impl Bug {
    /// Bugs that give policies wrong information.
    pub const OF_BOUNDS: [Self; 15] = [
        Self::LateReadsZero,
        Self::AlphaOne,
        Self::BestGroup,
        Self::LimitsOfNew,
        Self::BetterRow,
        Self::MoversForgotten,
        Self::OpenTakenForClosed,
        Self::CountersExact,
        Self::SegmentsBeginLate,
        Self::ProbeHalved,
        Self::LowDensityOverfull,
        Self::PageTypeDueLate,
        Self::FillingFromNow,
        Self::BurdenForgotten,
        Self::GuardsAlias64,
    ];

    /// Bugs of rebuilds after failures.
    pub const OF_FAILURES: [Self; 7] = [
        Self::RebuiltAstray,
        Self::WatermarkSkips,
        Self::WriteLostInRebuild,
        Self::DeadBlockReused,
        Self::LossByFailureHidden,
        Self::RebuiltReadAtOnce,
        Self::RebuildBehindWork,
    ];

    /// Bugs of failures on drives where wear decides which stripes have parity.
    pub const OF_WORN_FAILURES: [Self; 4] = [
        Self::RebuiltWithoutParity,
        Self::FailedCountedWorn,
        Self::SweepEndsAtFailure,
        Self::ParityNotKeptForRebuild,
    ];

    /// Bugs of parity.
    pub const OF_PARITY: [Self; 16] = [
        Self::MemberAstray,
        Self::ApartAstray,
        Self::LanePlaceWrong,
        Self::LaneOwnerWrong,
        Self::LaneTurnedWrong,
        Self::ParityStale,
        Self::OldGivenUpEarly,
        Self::TrimLeavesParity,
        Self::OldDataForgotten,
        Self::RebuiltFromGarbage,
        Self::RepairedReadAtOnce,
        Self::RepairReadsAhead,
        Self::UpdateAcrossRoom,
        Self::RepairAcrossRoom,
        Self::RecoveryAsParity,
        Self::FailedRecoveryUncounted,
    ];

    /// Bugs of delayed parity.
    pub const OF_DELAY: [Self; 14] = [
        Self::KeptErasedEarly,
        Self::PartialForgetsPage,
        Self::PartialKeepsOld,
        Self::CommitTakesNew,
        Self::KeptTakenForGood,
        Self::PartialUnseen,
        Self::GatherForgetsOthers,
        Self::WindowUncounted,
        Self::ForgetsTooSoon,
        Self::RestRebuiltTwice,
        Self::KeptRetriesForgotten,
        Self::KeptReadUnasked,
        Self::RenewedAcrossRoom,
        Self::CommittedAcrossRoom,
    ];

    /// Bugs of parity on drives that reprogram wordlines in place.
    pub const OF_MERGES: [Self; 1] = [Self::KeptMergedEarly];

    /// Bugs of parity that depends on wear.
    pub const OF_WEAR: [Self; 5] = [
        Self::MovesNotCounted,
        Self::ParityNotFormed,
        Self::DissolvedEarly,
        Self::SweptUnformed,
        Self::WornRecycled,
    ];

    /// Bugs of accelerated lives.
    pub const OF_ACCELERATION: [Self; 3] =
        [Self::AccelerationForgotten, Self::ExtraWearOfOneCycle, Self::RowKept];

    /// Bugs of limits that parity raises. They are already in the drive's configuration.
    pub const OF_RAISED: [Self; 4] = [
        Self::LateParityTrusted,
        Self::SpreadForgotten,
        Self::ServiceForgotten,
        Self::ServiceAtNewLimit,
    ];

    /// Bugs of reads in bulk.
    pub const OF_FLUID: [Self; 4] = [
        Self::AlarmNotDrawnAgain,
        Self::BulkRetriesUncharged,
        Self::BulkRoomAnywhere,
        Self::BulkAcrossSteps,
    ];

    /// Returns whether this is a bug of parity.
    fn is_of_parity(self) -> bool {
        let of_writes = Self::OF_PARITY.contains(&self)
            || Self::OF_DELAY.contains(&self)
            || Self::OF_WEAR.contains(&self);
        of_writes || Self::OF_MERGES.contains(&self) || Self::OF_RAISED.contains(&self)
    }

    /// Returns whether no checker must find the bug; `retired` of its file says why.
    pub fn is_retired(self) -> bool {
        list::RETIRED.contains(&self)
    }

    /// Returns the checker that must find the bug.
    pub fn finder(self) -> Finder {
        match self {
            bug if Self::OF_FLUID.contains(&bug) => Finder::Fluid,
            bug if Self::OF_ACCELERATION.contains(&bug) => Finder::Acceleration,
            bug if Self::OF_FAILURES.contains(&bug) || Self::OF_WORN_FAILURES.contains(&bug) => {
                Finder::Failures
            }
            bug if bug.is_of_parity() => Finder::Parity,
            bug if Self::OF_BOUNDS.contains(&bug) => Finder::Battery,
            _ => Finder::Check,
        }
    }
}

/// Bug of this drive, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bugs {
    #[cfg(feature = "seeded-bugs")]
    pub(crate) seeded: Option<Bug>,
}

impl Bugs {
    /// Returns whether the drive has this bug.
    #[inline]
    #[cfg_attr(
        not(feature = "seeded-bugs"),
        expect(clippy::unused_self, reason = "a drive without the feature has no bugs to look up")
    )]
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

#[cfg(feature = "seeded-bugs")]
thread_local! {
    static PLANTED: Cell<Option<Bug>> = Cell::new(of_all());
    /// Bug of every drive without another bug.
    static OF_ALL: Option<Bug> = of_all();
}

/// Environment variable that names a bug for all drives of a process. It does not affect bugs that
/// a drive stores itself.
#[cfg(feature = "seeded-bugs")]
const PLANT: &str = "VPASS_PLANT";

#[cfg(feature = "seeded-bugs")]
fn of_all() -> Option<Bug> {
    let named = std::env::var(PLANT).ok()?;
    Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == named)
}

/// Gives the drives of this thread a bug, until another drive is made. Code without access to a
/// drive needs this, and so does code that a checker might share with the drive.
#[cfg(feature = "seeded-bugs")]
pub(crate) fn plant(bug: Option<Bug>) {
    PLANTED.set(bug.or_else(|| OF_ALL.with(|of_all| *of_all)));
}

/// Gives the next drive of this thread a bug in its configuration, if the bug is of that kind.
/// Otherwise removes such a bug.
#[cfg(feature = "seeded-bugs")]
pub fn plant_in_configuration(bug: Option<Bug>) {
    plant(bug.filter(|bug| Bug::OF_RAISED.contains(bug)));
}

/// Returns whether the drive of this thread has this bug.
#[inline]
pub fn planted(bug: Bug) -> bool {
    #[cfg(feature = "seeded-bugs")]
    return PLANTED.get() == Some(bug);
    #[cfg(not(feature = "seeded-bugs"))]
    {
        let _ = bug;
        false
    }
}

/// Returns another number at each call, whatever the seed. It makes a drive that is not
/// deterministic.
pub(crate) fn disorder() -> u32 {
    #[cfg(feature = "seeded-bugs")]
    {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        ASKED.fetch_add(1, Ordering::Relaxed)
    }
    #[cfg(not(feature = "seeded-bugs"))]
    0
}
