//! Refresh settings that the user gave in the drive file or on the command line. They are kept
//! separately, because some parity techniques change the refresh settings of the drive.

use vpass_drive::api::parity::ParityTechnique;
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_drive::base::phrase::{Opt, Part};
use vpass_drive::base::span::Span;
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;
use vpass_techniques::with_parts;

use crate::failure::Failure;
use crate::load::Loaded;
use crate::overrides::Override;

/// Refresh settings as the user gave them.
#[derive(Clone, Copy, Debug)]
pub struct SaidOfRefresh {
    /// Value of the key `refresh.period`.
    period: Span,
    /// Whether the user set `refresh.period` on the command line.
    is_set: bool,
    /// Whether the user named a refresh technique. Without such a name, the parity technique
    /// determines the refresh.
    pub(crate) is_named: bool,
}

impl SaidOfRefresh {
    /// Returns the refresh settings of a drive. `sets` has the overrides of the command line.
    pub fn of(config: &DriveConfig, sets: &[Override], named: Option<&RefreshTechnique>) -> Self {
        let is_set = sets
            .iter()
            .any(|set| set.table == "refresh" && set.technique.is_none() && set.key == "period");
        Self { period: config.refresh.period, is_set, is_named: named.is_some() }
    }

    /// Applies the refresh settings to a drive with a parity technique. Returns the refresh
    /// technique.
    ///
    /// # Errors
    /// Returns an error if the command line sets the period, although the parity technique computes
    /// the period from the drive's limits.
    pub(super) fn put_under(
        &self,
        drive: &mut Loaded<DriveConfig>,
        parity: &'static ParityTechnique,
        named: Option<&'static RefreshTechnique>,
    ) -> Result<&'static RefreshTechnique, Failure> {
        let mut config = drive.config.clone();
        config.refresh.period = self.period;
        let period = parity.parts.as_ref().and_then(|parts| (parts.period)(&config));
        if self.is_set && named.is_none() && period.is_some() {
            return Err(Failure::usage(format!(
                "`{parity}` computes the refresh period from the [bch] table of drive {}",
                drive.name
            ))
            .at(Part::Setting("refresh.period".into()))
            .with_remedy(phrase![
                "add ",
                Opt::Refresh.to("block"),
                " to use refresh.period",
            ]));
        }
        let (config, refresh) = with_parts(config, parity, named);
        drive.config = config;
        Ok(refresh)
    }
}
