//! Latency that a host accepts for reads, in the words of `NVMe`: the access latency of Dataset
//! Management ranges and of reads.

use serde::Serialize;

use crate::base::named::named;

named! {
    /// Hint of a host about data or about a read. Data without a hint counts as [`Self::Smallest`].
    /// The strictest hint comes first.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    #[repr(u8)]
    pub enum AccessLatency {
        /// Latency as small as possible.
        #[default]
        Smallest = "smallest",
        /// Typical latency.
        Typical = "typical",
        /// Longer latency; `NVMe` calls it "idle".
        Idle = "idle",
    }
}

impl AccessLatency {
    /// Reads a hint; `none` gives `None`.
    ///
    /// # Errors
    /// Reports a word that `NVMe` does not have.
    pub fn parse(word: &str) -> Result<Option<Self>, String> {
        match Self::ALL.into_iter().find(|latency| latency.name() == word) {
            None if word == "none" => Ok(None),
            None => Err(format!(
                "invalid access latency `{word}`: it must be none, idle, typical or smallest"
            )),
            found => Ok(found),
        }
    }

    /// Returns the next stricter hint.
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
