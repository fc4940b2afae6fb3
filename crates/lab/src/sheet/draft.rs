//! Draft of a drive file: the text of a preset, the changed keys, and notes for the user.

use std::fmt::Display;

use serde::Serialize;
use vpass_drive::config::DriveConfig;

use super::{Sheet, edit, endurance, parse};
use crate::failure::Failure;
use crate::load::{self, Loaded};
use crate::presets::{self, TO_BEGIN_FROM};

/// Name of the drafted drive in error messages.
const NAME: &str = "of the data sheet";

/// Key that the draft changes, with the new value.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Key, with the name of its table.
    pub key: String,
    /// Value of the key, in TOML.
    pub value: String,
    /// Reason for the value: a line of the data sheet, or an assumption.
    pub because: String,
}

/// Drive file that was drafted from a data sheet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Preset whose file was changed.
    pub preset: &'static str,
    /// Text of the drive file.
    pub text: String,
    /// Changed keys, in the order of the changes. Each key appears once.
    pub changes: Vec<Change>,
    /// Sentences for the user. For example, a sentence names a rate of the data sheet that the
    /// drive cannot reach.
    pub notes: Vec<String>,
}

impl Draft {
    /// Begins a draft with the text of the nearest preset.
    pub(super) fn begin(sheet: &Sheet) -> Self {
        let far = |name: &&str| {
            load::drive(name, &[]).map_or(u32::MAX, |drive| {
                drive.config.geometry.cell.bits().abs_diff(sheet.cell.bits())
            })
        };
        let preset = TO_BEGIN_FROM.into_iter().min_by_key(far).expect("the list has a preset");
        let text = presets::drive(preset).expect("a preset of the list").to_owned();
        Self { preset, text, changes: vec![], notes: vec![] }
    }

    /// Sets a key, such as "geometry.cell", and records the reason. If the key was already set, the
    /// new value replaces the old one.
    pub(super) fn set(&mut self, key: &str, value: impl Display, because: impl Into<String>) {
        self.changes.retain(|change| change.key != key);
        let (value, because) = (value.to_string(), because.into());
        self.changes.push(Change { key: key.into(), value, because });
        let preset = presets::drive(self.preset).expect("a preset of the list").to_owned();
        self.text = self.changes.iter().fold(preset, |text, change| {
            let path = change.key.split_once('.').expect("a key is TABLE.KEY");
            edit::set(&text, path, &change.value, &change.because)
        });
    }

    /// Returns the drive that the draft describes now.
    pub(super) fn drive(&self) -> Result<Loaded<DriveConfig>, Failure> {
        load::drive_of(NAME, self.text.clone(), &[])
    }

    /// Returns the configuration of the drive that the draft describes now.
    pub(super) fn config(&self) -> Result<DriveConfig, Failure> {
        Ok(self.drive()?.config)
    }

    /// Completes the drive file: adds the comment at the top, the description, and the numbers of
    /// the data sheet.
    pub(super) fn finish(mut self, sheet: &Sheet) -> Result<Self, Failure> {
        let blocks = self.config()?.geometry.blocks_per_plane.unwrap_or(0);
        let follows = "# blocks_per_plane follows from capacity and spare: ";
        let lines = self.text.lines().map(|line| {
            if line.starts_with(follows) { format!("{follows}{blocks}.") } else { line.to_owned() }
        });
        let description = format!("description = \"{}\"", describe(sheet, self.preset));
        let lines =
            lines.map(
                |line| {
                    if line.starts_with("description = ") { description.clone() } else { line }
                },
            );
        self.text = head(self.preset) + &lines.collect::<Vec<_>>().join("\n") + "\n";
        let known = [
            ("sequential_read_mb_s", sheet.sequential_read_mb_s),
            ("sequential_write_mb_s", sheet.sequential_write_mb_s),
            ("random_read_iops", sheet.random_read_iops),
            ("random_write_iops", sheet.random_write_iops),
            ("tbw", sheet.endurance.map(|of| of.terabytes(sheet.capacity))),
        ];
        for (key, value) in known.into_iter().rev() {
            let Some(value) = value else { continue };
            let because = match sheet.endurance {
                Some(endurance) if key == "tbw" => endurance::in_words(endurance, sheet),
                _ => key.trim_end_matches("_mb_s").replace('_', " "),
            };
            let because = format!("sheet: {because}");
            self.text = edit::set(&self.text, ("sheet", key), &value.to_string(), &because);
        }
        self.drive()?;
        Ok(self)
    }
}

/// Returns a description of the drive in one line.
fn describe(sheet: &Sheet, preset: &str) -> String {
    let link = sheet.interface.as_ref().map_or_else(String::new, |link| format!(", {link}"));
    format!(
        "{} {}{link}, from a data sheet; everything else as in {preset}",
        parse::size_word(sheet.capacity),
        parse::cell_word(sheet.cell)
    )
}

/// Returns the comment for the top of the drive file.
fn head(preset: &str) -> String {
    let words = format!(
        "A drive from a data sheet, written by `vpass new drive`. A comment that begins with \
         \"sheet\" names the line of the sheet that gives the value of the key. A value with the \
         comment \"assumption\" follows from neither the sheet nor the preset. All other keys, and \
         the comments below, come from the preset {preset}. `vpass show FILE` compares the drive \
         with the sheet."
    );
    edit::comment(&words).join("\n") + "\n#\n# The preset:\n#\n"
}
