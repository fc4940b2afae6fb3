//! `[parity]`: parity pages that repair others. The run's `parity` technique keeps them.

use serde::{Deserialize, Serialize};

use super::flash::KindUs;
use super::keys::Keys;
use super::params::Params;

/// Memory in which parity waits to be programmed: what remains after a loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "kebab-case")]
pub enum ParityCache {
    /// Nothing remains.
    #[default]
    Volatile,
    /// All waiting parity remains.
    NonVolatile,
}

/// `[parity]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(default)]
#[keys(table = "parity")]
pub struct ParityConfig {
    /// Memory that holds parity until it is programmed. A loss of power clears the memory
    /// ("volatile") or not ("non-volatile").
    #[key(default = ParityCache::Volatile)]
    pub cache: ParityCache,
    /// Host pages in a stripe, if a technique groups them. A file cannot set this value; the run's
    /// `parity` option does.
    #[serde(skip)]
    #[key(skip)]
    pub stripe: Option<u32>,
    /// Whether each stripe always has its parity on flash before the host continues. A file cannot
    /// set this value.
    #[serde(skip)]
    #[key(skip)]
    pub is_always_there: bool,
    /// Choice of the stripes that have parity, if this choice depends on wear. A file cannot set
    /// this value.
    #[serde(skip)]
    #[key(skip)]
    pub by_wear: Option<ByWear>,
    /// Program time of a wordline that the drive file gives, if the run's technique programs page
    /// by page instead. A file cannot set this value.
    #[serde(skip)]
    #[key(skip)]
    pub wordline_program: Option<KindUs>,
    /// Parameters of techniques.
    #[serde(flatten)]
    #[key(skip)]
    pub params: Params,
}

/// Choice of the stripes that have parity, by wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByWear {
    /// `T_p`: blocks with more P/E cycles are worn. A stripe with a host page in a worn block has
    /// parity.
    pub above: u32,
    /// Whether the counters of stripes use the published rule, which ignores where the old copy
    /// lay.
    pub as_printed: bool,
    /// Largest number of stripes that wait for their parity. Beyond this number, parity is formed
    /// at once.
    pub queue: u32,
    /// Last stage of the drive's life, if it has stages.
    pub last: Option<LastStage>,
}

/// Last stage of a drive's life, in which all stripes have parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastStage {
    /// L: the stage begins if more stripes than this have a page in a worn block.
    pub beyond: u32,
    /// Pages of the longest request that the write buffer accepts in this stage.
    pub cut_off: u32,
    /// Pages of partial parity that the controller keeps in this stage.
    pub cache_pages: u32,
}

impl ParityConfig {
    /// Returns the host pages in a stripe if each stripe always has its parity on flash.
    pub fn protects(&self) -> Option<u32> {
        self.stripe.filter(|_| self.is_always_there)
    }

    /// Returns the choice of the stripes that have parity, if it depends on wear.
    pub fn by_wear(&self) -> Option<ByWear> {
        self.by_wear
    }

    /// Returns the program time of a wordline in microseconds, if the technique programs page by page
    /// although the drive file has `timing.program_unit = "wordline"`.
    pub fn wordline_program_us(&self) -> Option<f64> {
        self.wordline_program.as_ref().map(KindUs::mean)
    }
}
