//! Exceptions of the Python package. An exception has the message of the command, with options as
//! Python writes them.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use serde_json::Map;
use vpass_drive::base::phrase::{Dialect, Opt};
use vpass_lab::failure::{Failure, Kind};

create_exception!(vpass, Error, PyException, "Sentence that says what could not be done.");
create_exception!(
    vpass,
    UsageError,
    Error,
    "A question without an answer; the message says what would be right."
);
create_exception!(vpass, DriveStopped, Error, "The simulated drive could not go on.");
create_exception!(vpass, Bug, Error, "A fault of vpass. Please report it.");

/// Way in which Python writes options: `gear="untimed"`, `set={"bch.target": "uber"}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keywords;

/// Options that only the command has, and the Python package does not.
const OF_COMMAND: [Opt; 8] = [
    Opt::Dwpd,
    Opt::Interface,
    Opt::Out,
    Opt::RandomReadIops,
    Opt::RandomWriteIops,
    Opt::SequentialRead,
    Opt::SequentialWrite,
    Opt::Tbw,
];

impl Dialect for Keywords {
    fn option(&self, option: Opt) -> String {
        let name = option.name();
        if OF_COMMAND.contains(&option) {
            format!("`{name}` of the command")
        } else {
            format!("`{name}`")
        }
    }

    fn choice(&self, option: Opt, value: &str) -> String {
        let name = option.name();
        if option == Opt::Trace {
            format!("`Trace({})`", literal(value))
        } else if OF_COMMAND.contains(&option) {
            format!("`{name}` {value} of the command")
        } else {
            format!("`{name}={}`", literal(value))
        }
    }

    fn setting(&self, setting: &str) -> String {
        match setting.split_once('=') {
            Some((key, value)) => format!("`set={{\"{key}\": {}}}`", literal(value)),
            None => format!("`set` of {setting}"),
        }
    }
}

/// Returns a value as Python writes it. A placeholder such as `N` does not change.
fn literal(value: &str) -> String {
    let is_placeholder = value.chars().all(|c| c.is_ascii_uppercase());
    match value {
        "" => "None".into(),
        "true" => "True".into(),
        "false" => "False".into(),
        _ if is_placeholder || value.parse::<f64>().is_ok() => value.into(),
        _ => format!("{value:?}"),
    }
}

/// Failure with a message that writes options as Python does.
pub(crate) struct Told {
    sentence: String,
    /// Values of the attributes in [`Self::NAMES`].
    values: [Option<String>; 5],
}

impl Told {
    /// Names of the attributes that every exception of the package has.
    pub(crate) const NAMES: [&str; 5] = ["kind", "key", "value", "place", "remedy"];

    pub(crate) fn of(failure: &Failure) -> Self {
        let kind = match failure.kind {
            Kind::Usage => "usage",
            Kind::Failed => "failed",
            Kind::Stopped => "stopped",
            Kind::Interrupted => "interrupted",
        };
        let entry = failure.entry();
        let (key, value) = entry.map_or((None, None), |entry| (Some(entry.key), entry.value));
        let (place, remedy) = (failure.place_in(&Keywords), failure.remedy_in(&Keywords));
        Self {
            sentence: failure.in_dialect(&Keywords),
            values: [Some(kind.into()), key, value, place, remedy],
        }
    }

    /// Returns the sentence and the attributes of a failure as a JSON object in one line.
    pub(crate) fn json(self) -> serde_json::Value {
        let sentence = ("sentence", Some(self.sentence));
        let all = Self::NAMES.into_iter().zip(self.values).chain([sentence]);
        all.map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>().into()
    }
}

/// Returns the Python exception for a failure, with its attributes.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it by value")]
pub(crate) fn raised(failure: Failure) -> PyErr {
    let Told { sentence, values } = Told::of(&failure);
    let error = match failure.kind {
        Kind::Usage => UsageError::new_err(sentence),
        Kind::Failed => Error::new_err(sentence),
        Kind::Stopped => DriveStopped::new_err(sentence),
        Kind::Interrupted => return PyKeyboardInterrupt::new_err(sentence),
    };
    Python::attach(|py| {
        let raised = error.value(py);
        let mut all = Told::NAMES.into_iter().zip(values);
        let set = all.try_for_each(|(name, value)| raised.setattr(name, value));
        set.err().unwrap_or(error)
    })
}
