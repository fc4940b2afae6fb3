//! Snapshot: one file with the counters of a drive. The file has the output of one command, or the
//! outputs of several commands one after another.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Deserializer, Value};

use super::number::Object;
use super::quantity::Quantity;
use super::{nvme, sata};
use crate::failure::Failure;
use crate::plain;

/// Commands whose output is a snapshot.
const COMMANDS: &str = "the JSON of `smartctl -j -a`, `nvme smart-log -o json` or `nvme ocp \
    smart-add-log -o json` is expected";

/// Counters of one snapshot file.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// Name of the snapshot file in error messages.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) serial: Option<String>,
    pub(super) model: Option<String>,
    /// Time of the snapshot according to the host's clock, in seconds since 1970.
    pub(super) clock_s: Option<i64>,
    values: BTreeMap<Quantity, u128>,
    /// Raw values of vendor attributes with an unknown unit. The key is the number and the name of
    /// the attribute.
    pub(super) vendor: BTreeMap<(u64, String), u64>,
}

impl Snapshot {
    /// Reads a snapshot file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not JSON, or has no known counters.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let file = plain::path(path);
        let text = fs::read_to_string(path)
            .map_err(|e| Failure::usage(format!("{file} cannot be read: {e}; {COMMANDS}")))?;
        Self::parse(&file, text)
    }

    pub(super) fn parse(file: &str, text: String) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::usage(format!("{file}: {why}; {COMMANDS}"));
        let mut snapshot = Self { file: file.to_owned(), ..Self::default() };
        let (mut documents, mut errors) = (0, vec![]);
        for document in Deserializer::from_str(&text).into_iter::<Value>() {
            let document = document.map_err(|e| wrong(&format!("it is not JSON: {e}")))?;
            documents += 1;
            let Some(object) = document.as_object() else {
                return Err(wrong("the file holds JSON, but not an object"));
            };
            let take = [nvme::take, sata::take];
            take.into_iter()
                .try_for_each(|take| take(object, &mut snapshot))
                .map_err(|why| Failure::usage(format!("{file}: {why}")))?;
            errors.extend(errors_of_smartctl(object));
        }
        if documents == 0 {
            return Err(wrong("it is empty"));
        }
        if snapshot.values.is_empty() && snapshot.vendor.is_empty() {
            let said = errors.first().map(|said| format!("; smartctl said: {said}"));
            let said = said.unwrap_or_default();
            return Err(wrong(&format!("the file has no counters of a drive{said}")));
        }
        snapshot.text = text;
        Ok(snapshot)
    }

    /// Records the value of a counter. If several documents in the file contain the same counter,
    /// the value in the first document is kept.
    pub(super) fn note(&mut self, quantity: Quantity, value: u128) {
        self.values.entry(quantity).or_insert(value);
    }

    /// Records the serial number and the model of the drive. If a model was already recorded, it is
    /// kept.
    ///
    /// # Errors
    /// Returns an error message if the file has the outputs of two different drives.
    pub(super) fn name(
        &mut self,
        serial: Option<&Value>,
        model: Option<&Value>,
    ) -> Result<(), String> {
        let text = |value: Option<&Value>| {
            let text = value?.as_str()?.trim();
            (!text.is_empty()).then(|| plain::line(text).into_owned())
        };
        let serial = text(serial);
        if let (Some(one), Some(other)) = (&self.serial, &serial)
            && one != other
        {
            return Err(format!(
                "the file has the serial numbers {one} and {other}, but all snapshots in a file \
                 must be of the same drive"
            ));
        }
        self.serial = self.serial.take().or(serial);
        self.model = self.model.take().or_else(|| text(model));
        Ok(())
    }

    /// Returns the value of a counter; `None` if the file does not contain the counter.
    pub(super) fn value(&self, quantity: Quantity) -> Option<u128> {
        self.values.get(&quantity).copied()
    }
}

/// Returns the error messages that smartctl wrote into its JSON output.
fn errors_of_smartctl(document: &Object) -> Vec<String> {
    let messages = document.get("smartctl").and_then(|own| own.get("messages"));
    let messages = messages.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_error = |message: &&Value| message["severity"] == "error";
    let texts = messages.iter().filter(is_error).filter_map(|message| message["string"].as_str());
    texts.map(|text| plain::line(text).into_owned()).collect()
}
