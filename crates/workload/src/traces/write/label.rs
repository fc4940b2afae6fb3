//! Names of devices as a form can hold them, each only once.

use std::collections::BTreeSet;

/// Names given so far.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeSet<String>);

impl Labels {
    /// The name itself where nobody has it, else with a number behind it.
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
