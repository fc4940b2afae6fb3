//! Right and wrong example values of keys whose ranges are described in words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// Values that vpass accepts, and values that vpass rejects.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Examples {
    pub(super) good: Vec<String>,
    pub(super) wrong: Vec<String>,
}

/// Keys with their values, from `examples.toml`.
pub(super) static EXAMPLES: LazyLock<BTreeMap<String, Examples>> =
    LazyLock::new(|| toml::from_str(include_str!("examples.toml")).expect("tables of values"));
