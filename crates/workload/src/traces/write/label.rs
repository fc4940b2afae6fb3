//! Makes unique device names in the notation of an output format.

use std::collections::BTreeSet;

/// Device names that are already used.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeSet<String>);

impl Labels {
    /// Returns the name if no other device has this name. Otherwise, adds a number to the name and
    /// returns the result.
    pub(super) fn unique(
        &mut self,
        name: &str,
        with_number: impl Fn(&str, u64) -> String,
    ) -> String {
        let mut label = name.to_owned();
        for number in 2.. {
            if !self.0.contains(&label) {
                break;
            }
            label = with_number(name, number);
        }
        self.0.insert(label.clone());
        label
    }
}
