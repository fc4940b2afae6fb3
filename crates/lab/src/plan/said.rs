//! Refresh as a drive file and the command line set it, before a parity technique with its own
//! refresh changes it.

use vpass_core::base::span::Span;
use vpass_core::config::DriveConfig;
use vpass_core::slots::parity;

use crate::failure::Failure;
use crate::load::Loaded;
use crate::overrides::Override;

/// Refresh settings of the user.
#[derive(Clone, Copy, Debug)]
pub struct SaidOfRefresh {
    /// `refresh.period`.
    period: Span,
    /// Whether the command line sets the period.
    is_set: bool,
    /// Whether the user named a refresh technique instead of leaving it to the parity technique.
    pub(crate) is_named: bool,
}

impl SaidOfRefresh {
    /// Returns the settings of a drive with the overrides of the command line.
    pub fn of(config: &DriveConfig, sets: &[Override], named: Option<&str>) -> Self {
        let is_set = sets
            .iter()
            .any(|set| set.table == "refresh" && set.technique.is_none() && set.key == "period");
        Self { period: config.refresh.period, is_set, is_named: named.is_some() }
    }

    /// Applies the settings to a drive under a parity technique, and returns the refresh technique.
    ///
    /// # Errors
    /// Reports a period on the command line although the drive's limits determine it.
    pub(super) fn put_under(
        &self,
        drive: &mut Loaded<DriveConfig>,
        parity: &str,
        named: Option<&'static str>,
    ) -> Result<&'static str, Failure> {
        let mut config = drive.config.clone();
        config.refresh.period = self.period;
        if self.is_set && named.is_none() && parity::period_of_part(&config, parity).is_some() {
            return Err(Failure::usage(format!(
                "--set refresh.period: the period of `{parity}` follows from [bch] of drive {}; \
                 add --refresh block to use refresh.period",
                drive.name
            )));
        }
        let (config, refresh) = parity::with_parts(config, parity, named);
        drive.config = config;
        Ok(refresh)
    }
}
