//! `[density]`: what taking page kinds away does for a block, and to it.

use serde::{Deserialize, Serialize};

use super::{ConfigError, require_range};

/// `[density]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DensityConfig {
    /// Limits of a block with guard levels over those that `[disturb]` gives.
    pub limit_factor: f64,
}

impl Default for DensityConfig {
    fn default() -> Self {
        // ipr-2018 III-C: 10K reads become 100K, "predicted" from measurements of others.
        Self { limit_factor: 10.0 }
    }
}

impl DensityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_range("density.limit_factor", self.limit_factor, 1.0, 100.0)
    }
}
