//! What a drive file and the command line say of refresh, kept apart from what a parity technique
//! makes of it that brings one of its own.

use vpass_core::base::span::Span;
use vpass_core::config::DriveConfig;
use vpass_core::slots::parity;

use crate::failure::Failure;
use crate::load::Loaded;
use crate::overrides::Override;

/// What was said of refresh.
#[derive(Clone, Copy, Debug)]
pub struct SaidOfRefresh {
    /// `refresh.period`.
    period: Span,
    /// Whether the command line has it.
    is_set: bool,
    /// Whether a refresh technique was named, and not left to the parity technique.
    pub(crate) is_named: bool,
}

impl SaidOfRefresh {
    /// That of a drive as it was read, with what the command line set.
    pub fn of(config: &DriveConfig, sets: &[Override], named: Option<&str>) -> Self {
        let is_set = sets
            .iter()
            .any(|set| set.table == "refresh" && set.technique.is_none() && set.key == "period");
        Self { period: config.refresh.period, is_set, is_named: named.is_some() }
    }

    /// The drive under a parity technique and what was named of refresh; gives the refresh
    /// technique.
    ///
    /// # Errors
    /// A period on the command line where the drive's limits give it.
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
                "--set refresh.period: the period of `{parity}` follows from [bch] of drive {}; name --refresh block to go by refresh.period",
                drive.name
            )));
        }
        let (config, refresh) = parity::with_parts(config, parity, named);
        drive.config = config;
        Ok(refresh)
    }
}
