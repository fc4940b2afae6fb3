//! Differences between the record and the current results: changed, removed and new values, and
//! changed sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::record::Record;

/// Largest number of runs that a change names as examples.
const EXAMPLES: usize = 3;

/// Titles of runs, by field and by change.
type Changes = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Differences between some runs and the record.
#[derive(Default)]
pub(crate) struct Report {
    moved: Changes,
    removed: Changes,
    added: Changes,
    reworded: Changes,
}

impl Report {
    /// Compares these runs with the record. A run that the record lacks is not a difference.
    pub(crate) fn new(recorded: &Record, now: &Record) -> Self {
        let mut report = Self::default();
        let known: BTreeSet<_> = recorded.runs.iter().map(|(id, _)| id).collect();
        for (id, title) in now.runs.iter().filter(|(id, _)| known.contains(id)) {
            report.values(recorded, now, id, title);
            report.sentences(recorded, now, id, title);
        }
        report
    }

    fn values(&mut self, recorded: &Record, now: &Record, id: &str, title: &str) {
        let fields: BTreeSet<_> = recorded.values.keys().chain(now.values.keys()).collect();
        for field in fields {
            let old = recorded.values.get(field).and_then(|by_run| by_run.get(id));
            let new = now.values.get(field).and_then(|by_run| by_run.get(id));
            match (old, new) {
                (Some(old), Some(new)) if old != new => {
                    note(&mut self.moved, field, format!("{old} -> {new}"), title)
                }
                (Some(old), None) => note(&mut self.removed, field, format!("was {old}"), title),
                // Other runs had this field.
                (None, Some(new)) if recorded.values.contains_key(field) => {
                    note(&mut self.moved, field, format!("absent -> {new}"), title);
                }
                (None, Some(new)) => note(&mut self.added, field, new.clone(), title),
                _ => {}
            }
        }
    }

    fn sentences(&mut self, recorded: &Record, now: &Record, id: &str, title: &str) {
        let none = BTreeSet::new();
        let fields: BTreeSet<_> = recorded.sentences.keys().chain(now.sentences.keys()).collect();
        for field in fields {
            let of = |record: &'_ Record| {
                record
                    .sentences
                    .get(field)
                    .and_then(|by_run| by_run.get(id))
                    .unwrap_or(&none)
                    .clone()
            };
            let (old, new) = (of(recorded), of(now));
            let list = if recorded.sentences.contains_key(field) {
                &mut self.reworded
            } else {
                &mut self.added
            };
            old.difference(&new).for_each(|text| note(list, field, format!("- {text}"), title));
            new.difference(&old).for_each(|text| note(list, field, format!("+ {text}"), title));
        }
    }

    /// Returns the changed and removed values, which the author of a change must explain. The text
    /// is empty if no value changed.
    pub(crate) fn of_values(&self) -> String {
        listed("moved values", &self.moved) + &listed("removed fields", &self.removed)
    }

    /// Returns the changed sentences.
    pub(crate) fn of_sentences(&self) -> String {
        listed("changed sentences", &self.reworded)
    }

    /// Returns the fields that the record lacks.
    pub(crate) fn of_additions(&self) -> String {
        listed("new fields", &self.added)
    }
}

fn note(changes: &mut Changes, field: &str, change: String, title: &str) {
    changes.entry(field.to_owned()).or_default().entry(change).or_default().push(title.to_owned());
}

fn listed(heading: &str, changes: &Changes) -> String {
    let mut text = String::new();
    if !changes.is_empty() {
        writeln!(text, "{heading}:").unwrap();
    }
    for (field, by_change) in changes {
        let runs: BTreeSet<_> = by_change.values().flatten().collect();
        writeln!(text, "  {field}: {} run{}", runs.len(), if runs.len() == 1 { "" } else { "s" })
            .unwrap();
        for (change, titles) in by_change.iter().take(EXAMPLES) {
            writeln!(text, "    {change}   ({} x; {})", titles.len(), titles[0]).unwrap();
        }
        if by_change.len() > EXAMPLES {
            writeln!(text, "    and {} other changes", by_change.len() - EXAMPLES).unwrap();
        }
    }
    text
}

#[test]
fn each_kind_of_change_is_reported_apart() {
    let record = |values: &[(&str, &str)], sentences: &[(&str, &str)]| {
        let title = "run 1".to_owned();
        let id = crate::record::number(&title);
        let by_run = |value: &str| BTreeMap::from([(id.clone(), value.to_owned())]);
        let texts = |text: &str| BTreeMap::from([(id.clone(), BTreeSet::from([text.to_owned()]))]);
        Record {
            runs: vec![(id.clone(), title)],
            values: values
                .iter()
                .map(|(field, value)| ((*field).to_owned(), by_run(value)))
                .collect(),
            sentences: sentences
                .iter()
                .map(|(field, text)| ((*field).to_owned(), texts(text)))
                .collect(),
        }
    };
    let old = record(
        &[("s alarms", "330"), ("s gone", "1"), ("s kept", "7")],
        &[("s warnings[]", "Old.")],
    );
    let new = record(
        &[("s alarms", "331"), ("s new", "5"), ("s kept", "7")],
        &[("s warnings[]", "New.")],
    );
    let report = Report::new(&old, &new);
    assert_eq!(
        report.of_values(),
        "moved values:\n  s alarms: 1 run\n    330 -> 331   (1 x; run 1)\n\
         removed fields:\n  s gone: 1 run\n    was 1   (1 x; run 1)\n"
    );
    assert_eq!(report.of_additions(), "new fields:\n  s new: 1 run\n    5   (1 x; run 1)\n");
    let reworded = "changed sentences:\n  s warnings[]: 1 run\n    + New.   (1 x; run 1)\n    - \
        Old.   (1 x; run 1)\n";
    assert_eq!(report.of_sentences(), reworded);
    assert_eq!(Report::new(&new, &new).of_values(), "");
}
