//! How slow a read of some data may be, in the words of `NVMe`: the access latency of its Dataset
//! Management ranges and of its reads.

use serde::{Serialize, Serializer};

/// What a host says of data, or of a read. Data of which nothing is said counts as
/// [`Self::Smallest`]. The tightest comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AccessLatency {
    /// As small as possible.
    #[default]
    Smallest,
    /// Typical.
    Typical,
    /// Longer is acceptable: `NVMe`'s "idle".
    Idle,
}

impl Serialize for AccessLatency {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

impl AccessLatency {
    /// How many there are.
    pub const COUNT: usize = 3;

    /// The tightest first.
    pub const ALL: [Self; Self::COUNT] = [Self::Smallest, Self::Typical, Self::Idle];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smallest => "smallest",
            Self::Typical => "typical",
            Self::Idle => "idle",
        }
    }

    /// What a word says; `none` says nothing.
    ///
    /// # Errors
    /// A word that is none of `NVMe`'s.
    pub fn parse(word: &str) -> Result<Option<Self>, String> {
        match Self::ALL.into_iter().find(|latency| latency.name() == word) {
            None if word == "none" => Ok(None),
            None => Err(format!(
                "invalid access latency `{word}`: it must be none, idle, typical or smallest"
            )),
            found => Ok(found),
        }
    }

    /// The next tighter one.
    pub(crate) fn tighter(self) -> Option<Self> {
        Self::ALL[..self as usize].last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::AccessLatency::{self, Idle, Smallest, Typical};

    #[test]
    fn words_read_back_and_the_tightest_comes_first() {
        assert!(
            AccessLatency::ALL
                .iter()
                .all(|latency| AccessLatency::parse(latency.name()) == Ok(Some(*latency)))
        );
        assert_eq!(AccessLatency::parse("none"), Ok(None));
        assert!(
            AccessLatency::parse("slow")
                .unwrap_err()
                .contains("it must be none, idle, typical or smallest")
        );
        assert!(Smallest < Typical && Typical < Idle);
        assert_eq!(
            [Smallest, Typical, Idle].map(AccessLatency::tighter),
            [None, Some(Smallest), Some(Typical)]
        );
        assert_eq!(size_of::<Option<AccessLatency>>(), 1);
    }
}
