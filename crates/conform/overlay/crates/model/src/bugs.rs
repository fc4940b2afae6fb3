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

/// Test that finds a bug. A `case` is the number of a random drive. `cards` are its techniques of
/// reclaim, GC and refresh, and `nested` if the case is.
#[expect(missing_docs, reason = "the names say what the fields are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Random drives of `vpass check`.
    Check { case: u64, cards: &'static str },
    /// Battery of the reclaim technique whose bounds the bug distorts: random drives of that
    /// technique alone.
    Battery { of: &'static str, case: u64, cards: &'static str },
    /// Random drives with this parity technique.
    Parity { of: &'static str, refresh: Option<&'static str>, case: u64, cards: &'static str },
    /// Random drives that lose a die.
    Failures { by_wear: bool, case: u64 },
    /// Random drives whose erases count as several cycles.
    Acceleration { case: u64 },
    /// Random drives in the fluid gear. Their data is `fresh`, `aged` or `tired`.
    Fluid { data: &'static str, writes: bool, case: u64 },
    /// Unit test of a crate.
    Unit { of: &'static str, test: &'static str },
    /// Test of whole drives in `crates/drive/tests`.
    Story { test: &'static str },
}

/// Facts about a bug, from its table in `crates/conform/faults`.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Tests that find the bug.
    pub found: &'static [Found],
    /// Words, of which a finding must contain one to count; any finding counts if there are none.
    pub words: &'static [&'static str],
    /// Whether the drive's own assertions always find the bug first.
    pub stops: bool,
    /// Whether the bug is already in the drive's configuration.
    pub configured: bool,
}

/// Makes the type of all bugs from their list.
macro_rules! all_of {
    ($($(#[$doc:meta])* $name:ident = $record:expr,)*) => {
        /// Seeded bug.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$doc])* $name,)*
        }

        impl Bug {
            const COUNT: usize = [$(Self::$name,)*].len();

            /// All bugs.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name,)*];

            /// Returns the facts about the bug.
            pub fn record(self) -> &'static Record {
                match self {
                    $(Self::$name => &$record,)*
                }
            }
        }
    };
}

list!(all_of);

impl Bug {
    /// Returns whether the bug gives policies wrong information.
    pub fn distorts_bounds(self) -> bool {
        self.record().found.iter().any(|found| matches!(found, Found::Battery { .. }))
    }
}

#[cfg(feature = "seeded-bugs")]
thread_local! {
    static PLANTED: Cell<Option<Bug>> = Cell::new(of_all());
    /// Bug of every drive without another bug.
    static OF_ALL: Option<Bug> = of_all();
}

/// Environment variable that names a bug for all drives of a process.
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
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug.or_else(|| OF_ALL.with(|of_all| *of_all)));
}

/// Gives the next drive of this thread a bug in its configuration, if the bug is of that kind.
/// Otherwise removes such a bug.
#[cfg(feature = "seeded-bugs")]
pub fn plant_in_configuration(bug: Option<Bug>) {
    plant(bug.filter(|bug| bug.record().configured));
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
pub fn disorder() -> u32 {
    #[cfg(feature = "seeded-bugs")]
    {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        ASKED.fetch_add(1, Ordering::Relaxed)
    }
    #[cfg(not(feature = "seeded-bugs"))]
    0
}
