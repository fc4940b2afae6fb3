//! `vpass smart --measured`: reports what a real drive wrote to flash between two snapshots, as
//! text.

use std::path::Path;

use serde::Serialize;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::measured::{Measured, OfPreset, between};

use crate::out;
use crate::table::wants_colour;
use vpass_report::facts;

/// Prints the difference between two snapshots of a real drive.
pub(super) fn print(
    before: &Path,
    after: &Path,
    drive: Option<&str>,
    as_json: bool,
) -> Result<(), Failure> {
    let measured = between(before, after)?;
    let of_drive = drive.map(|drive| measured.estimate_for(drive)).transpose()?;
    out::print(&if as_json {
        as_json::text(&Printed { measured, of_drive })?
    } else {
        let colour = wants_colour();
        let model = measured.model.as_deref().unwrap_or("Drive of unknown model").to_owned();
        let printed = Printed { measured, of_drive };
        facts::heading(&model, colour) + &facts::text(&printed, &["schema", "model"], colour)
    })
}

/// Difference between two snapshots, in the form that `--json` prints.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    measured: Measured,
    /// Estimated amounts for the drive that `--drive` names; absent without `--drive`.
    #[serde(rename = "drive_estimate", skip_serializing_if = "Option::is_none")]
    of_drive: Option<OfPreset>,
}
