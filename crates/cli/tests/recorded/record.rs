//! Record of results. `runs.txt` names the runs, `values.txt` has their values by field, and
//! `sentences.txt` has their sentences by field. Runs with equal values share a line. In such a
//! line, `*` means all other runs that wrote the file of the field.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::fields::{Fields, digest};
use crate::runs::Run;

/// Data of runs, by field and by the number of the run.
type ByField<T> = BTreeMap<String, BTreeMap<String, T>>;

/// Value for a run that wrote the file but lacks the field.
const ABSENT: &str = "absent";

const WIDTH: usize = 100;

/// Values and sentences of many runs.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Record {
    /// Numbers and titles of the runs, in order.
    pub(crate) runs: Vec<(String, String)>,
    pub(crate) values: ByField<String>,
    pub(crate) sentences: ByField<BTreeSet<String>>,
}

/// Returns the number of a run: a digest of the run's arguments. Therefore a new run does not
/// change the numbers of other runs.
pub(crate) fn number(title: &str) -> String {
    digest(title.as_bytes())[..6].to_owned()
}

impl Record {
    /// Makes the record of these runs.
    pub(crate) fn of(runs: &[Run], outcomes: &[Fields]) -> Self {
        let mut record = Self::default();
        for (run, outcome) in runs.iter().zip(outcomes) {
            let id = number(&run.title());
            assert!(record.runs.iter().all(|(other, _)| *other != id), "two runs have number {id}");
            record.runs.push((id.clone(), run.title()));
            for (field, value) in outcome.condensed() {
                record.values.entry(field).or_default().insert(id.clone(), value);
            }
            for (field, texts) in &outcome.sentences {
                let texts = texts.iter().map(|text| text.replace('\n', " ")).collect();
                record.sentences.entry(field.clone()).or_default().insert(id.clone(), texts);
            }
        }
        record
    }

    /// Reads the record from its three files.
    pub(crate) fn read() -> Self {
        let text =
            |name| std::fs::read_to_string(file(name)).expect("the record is in the repository");
        Self::parse(&text("runs.txt"), &text("values.txt"), &text("sentences.txt"))
    }

    /// Writes the record into its three files.
    pub(crate) fn write(&self) {
        for (name, text) in
            ["runs.txt", "values.txt", "sentences.txt"].into_iter().zip(self.texts())
        {
            std::fs::write(file(name), text).expect("the record can be written");
        }
    }

    fn texts(&self) -> [String; 3] {
        let (mut runs, mut values, mut sentences) = (String::new(), String::new(), String::new());
        for (id, title) in &self.runs {
            writeln!(runs, "{id} {title}").unwrap();
        }
        for (field, by_run) in &self.values {
            writeln!(values, "{field}").unwrap();
            for (value, ids) in self.groups(field, by_run) {
                wrapped(&mut values, &format!("  {value}"), ids.iter().map(String::as_str));
            }
        }
        for (field, by_run) in &self.sentences {
            writeln!(sentences, "{field}").unwrap();
            let texts: BTreeSet<_> = by_run.values().flatten().collect();
            for text in texts {
                writeln!(sentences, "  {text}").unwrap();
                let ids = by_run.iter().filter(|(_, texts)| texts.contains(text));
                wrapped(&mut sentences, "   ", ids.map(|(id, _)| id.as_str()));
            }
        }
        [runs, values, sentences]
    }

    /// Returns the values of a field with their runs. The value of the most runs comes first, and
    /// `*` stands for these runs.
    fn groups(&self, field: &str, by_run: &BTreeMap<String, String>) -> Vec<(String, Vec<String>)> {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in self.domain(field) {
            let value = by_run.get(&id).map_or(ABSENT, String::as_str);
            groups.entry(value.to_owned()).or_default().push(id);
        }
        let most = groups.values().map(Vec::len).max().unwrap_or(0);
        let mut groups: Vec<_> = groups.into_iter().collect();
        let first = groups.iter().position(|(_, ids)| ids.len() == most).expect("a run");
        let (value, _) = groups.remove(first);
        groups.sort_by(|(_, a), (_, b)| a.cmp(b));
        groups.insert(0, (value, vec!["*".to_owned()]));
        groups
    }

    /// Returns the numbers of the runs that wrote the file of the field, in order.
    fn domain(&self, field: &str) -> Vec<String> {
        let mut ids: Vec<_> = match field.split_once(' ') {
            None => self.runs.iter().map(|(id, _)| id.clone()).collect(),
            Some((file, _)) => {
                let files = self.values["files"].iter();
                files
                    .filter(|(_, names)| names.split(',').any(|name| name == file))
                    .map(|(id, _)| id.clone())
                    .collect()
            }
        };
        ids.sort();
        ids
    }

    fn parse(runs: &str, values: &str, sentences: &str) -> Self {
        let runs = runs.lines().map(|line| line.split_once(' ').expect("a number and words"));
        let runs = runs.map(|(id, title)| (id.to_owned(), title.to_owned())).collect();
        let mut record = Self { runs, ..Self::default() };
        let fields: Vec<_> = sections(values).collect();
        // The list of files comes first, because it determines which runs a `*` stands for.
        let (without_file, in_file): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(field, _)| !field.contains(' '));
        for (field, lines) in without_file.into_iter().chain(in_file) {
            let by_run = record.spread(field, &lines);
            record.values.insert(field.to_owned(), by_run);
        }
        for (field, lines) in sections(sentences) {
            let by_run = record.sentences.entry(field.to_owned()).or_default();
            let mut text = "";
            for line in lines {
                match line.strip_prefix("    ") {
                    None => text = line.trim(),
                    Some(ids) => {
                        for id in ids.split(' ') {
                            by_run.entry(id.to_owned()).or_default().insert(text.to_owned());
                        }
                    }
                }
            }
        }
        record
    }

    fn spread(&self, field: &str, lines: &[&str]) -> BTreeMap<String, String> {
        let (mut by_run, mut value, mut rest) = (BTreeMap::new(), "", "");
        for line in lines {
            let mut words = line.trim().split(' ');
            if !line.starts_with("    ") {
                value = words.next().expect("a value");
            }
            for id in words {
                match id {
                    "*" => rest = value,
                    id => _ = by_run.insert(id.to_owned(), value.to_owned()),
                }
            }
        }
        for id in self.domain(field) {
            by_run.entry(id).or_insert_with(|| rest.to_owned());
        }
        by_run.retain(|_, value| value != ABSENT);
        by_run
    }
}

/// Splits a text into fields, each with the indented lines below it.
fn sections(text: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let mut lines = text.lines().peekable();
    std::iter::from_fn(move || {
        let field = lines.next()?;
        let mut below = vec![];
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            below.push(line);
        }
        Some((field, below))
    })
}

/// Writes words after `beginning`, over as many lines as needed.
fn wrapped<'a>(text: &mut String, beginning: &str, words: impl Iterator<Item = &'a str>) {
    let mut line = beginning.to_owned();
    for word in words {
        if line.len() + 1 + word.len() > WIDTH {
            writeln!(text, "{line}").unwrap();
            "   ".clone_into(&mut line);
        }
        line = line + " " + word;
    }
    writeln!(text, "{line}").unwrap();
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let run = |words: &str| Run { words: words.split(' ').map(str::to_owned).collect() };
    let outcome = |files: &str, json: &str| {
        let mut fields = Fields::default();
        fields.value("files", files);
        files.split(',').for_each(|file| fields.json(file, json.as_bytes()));
        fields
    };
    let runs: Vec<_> = (0..40).map(|i| run(&format!("run {i}"))).collect();
    let outcomes: Vec<_> = (0..40)
        .map(|i| match i {
            0 => outcome("a", r#"{"x":1,"warnings":["More blocks.","No block."]}"#),
            1..=30 => outcome("a", r#"{"x":2,"only":5,"warnings":["No block."]}"#),
            31..=37 => outcome("a,b,another-file-2-with-a-long-name", r#"{"x":1}"#),
            _ => outcome("b", r#"{"y":1}"#),
        })
        .collect();
    let record = Record::of(&runs, &outcomes);
    let [runs, values, sentences] = record.texts();
    assert!(values.contains("a only\n  5 *\n  absent "), "{values}");
    assert!([&values, &sentences].iter().all(|text| text.lines().all(|line| line.len() <= WIDTH)));
    assert_eq!(Record::parse(&runs, &values, &sentences), record);
}
