//! `[parity]`: parity pages that repair others. Which technique keeps them is the run's `parity`
//! option.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::keys::Keys;
use super::params::Params;

/// What a loss of power leaves of the memory in which parity waits to be programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "kebab-case")]
pub enum ParityCache {
    /// Nothing.
    #[default]
    Volatile,
    /// All of it.
    NonVolatile,
}

/// `[parity]`.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(table = "parity", slot)]
pub struct ParityConfig {
    /// Memory of parity that waits to be programmed: what a loss of power would take of it counts
    /// as lost ("volatile") or is kept ("non-volatile").
    #[key(default = ParityCache::Volatile)]
    pub cache: ParityCache,
    /// Pages of the host in a stripe, where a technique groups them. No key of a file: the run's
    /// `parity` option says so.
    #[key(skip)]
    pub(crate) stripe: Option<u32>,
    /// Whether each stripe's parity is on flash whenever the host goes on. No key of a file, as
    /// `stripe`.
    #[key(skip)]
    pub(crate) is_always_there: bool,
    /// Where wear says which stripes have parity. No key of a file, as `stripe`.
    #[key(skip)]
    pub(crate) by_wear: Option<ByWear>,
    /// Parameters of techniques.
    #[key(skip)]
    pub params: Params,
}

/// Which stripes have parity where their wear says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByWear {
    /// `T_p`: blocks of more P/E cycles are worn, and a stripe with a page of the host in one has
    /// parity.
    pub above: u32,
    /// The counters of stripes go by the printed rule, which forgets where the old copy lay.
    pub as_printed: bool,
    /// Stripes that may wait for their parity; more are formed at once.
    pub queue: u32,
    /// Where the drive lives in stages: what its last one begins with, and is like.
    pub last: Option<LastStage>,
}

/// The last stage of a drive's life, in which all stripes have parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastStage {
    /// L: with a page in a worn block in more stripes than these it begins.
    pub beyond: u32,
    /// Pages of the longest request that the write buffer takes in then.
    pub cut_off: u32,
    /// Pages of partial parity that the controller keeps then.
    pub cache_pages: u32,
}

impl ParityConfig {
    /// Pages of the host in a stripe, where each stripe has its parity on flash whenever the host
    /// goes on.
    pub fn protects(&self) -> Option<u32> {
        self.stripe.filter(|_| self.is_always_there)
    }

    /// Where wear says which stripes have parity.
    pub fn by_wear(&self) -> Option<ByWear> {
        self.by_wear
    }

    /// Whether nothing was said of it.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Serialize for ParityConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut table = s.serialize_map(None)?;
        table.serialize_entry("cache", &self.cache)?;
        self.params.write(&mut table)?;
        table.end()
    }
}
