//! Fields of result files: values and sentences, each under its JSON path or CSV column.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Length of the longest value that is stored as itself. A longer value is stored as a digest.
const LONGEST: usize = 24;

/// Keys and columns that hold sentences, even short ones. Any other text with a space is a sentence
/// too.
const PROSE: [&str; 9] = [
    "description",
    "findings",
    "life_method",
    "notes",
    "source",
    "verdict",
    "warnings",
    "what",
    "workload_source",
];

/// Keys of the program's version and of its arguments, which name a temporary folder.
const OF_PROGRAM: [&str; 3] = ["vpass", "git_commit", "command_line"];

/// Keys whose numbers depend on the machine. `null` is recorded: it shows that a file holds none.
const OF_MACHINE: [&str; 3] = ["peak_rss_bytes", "requests_per_s", "wall_s"];

/// Fields of one run. A key has the name of the file, a space, and the path inside the file.
#[derive(Clone, Default)]
pub(crate) struct Fields {
    values: BTreeMap<String, Vec<String>>,
    pub(crate) sentences: BTreeMap<String, Vec<String>>,
}

impl Fields {
    /// Adds a field that is not inside a file.
    pub(crate) fn value(&mut self, field: &str, value: impl Into<String>) {
        self.values.entry(field.to_owned()).or_default().push(value.into());
    }

    fn sentence(&mut self, field: &str, text: &str) {
        let texts = self.sentences.entry(field.to_owned()).or_default();
        if !texts.iter().any(|t| t == text) {
            texts.push(text.to_owned());
        }
    }

    /// Adds every path of a JSON file, except those of the program and numbers of the machine.
    pub(crate) fn json(&mut self, file: &str, bytes: &[u8]) {
        let value: Value = serde_json::from_slice(bytes).expect("JSON");
        self.descend(&format!("{file} "), false, &value);
    }

    fn descend(&mut self, path: &str, prose: bool, value: &Value) {
        match value {
            Value::Object(map) => {
                let dot = if path.ends_with(' ') { "" } else { "." };
                let is_left_out = |key: &str, value: &Value| {
                    OF_PROGRAM.contains(&key) || OF_MACHINE.contains(&key) && value.is_number()
                };
                for (key, value) in map.iter().filter(|(key, value)| !is_left_out(key, value)) {
                    self.descend(
                        &format!("{path}{dot}{key}"),
                        PROSE.contains(&key.as_str()),
                        value,
                    );
                }
            }
            Value::Array(values) if values.is_empty() && !prose => {
                self.value(&format!("{path}[]"), "no_entry")
            }
            Value::Array(values) => {
                for v in values {
                    self.descend(&format!("{path}[]"), prose, v);
                }
            }
            Value::String(text) if prose || text.contains(' ') => self.sentence(path, text),
            Value::Null if prose => {}
            other => self.value(path, other.to_string()),
        }
    }

    /// Adds every column of a CSV file, and its comments as sentences.
    pub(crate) fn csv(&mut self, file: &str, text: &str) {
        let (comments, rows): (Vec<_>, Vec<_>) =
            text.lines().partition(|line| line.starts_with('#'));
        for comment in comments {
            self.sentence(&format!("{file} #"), comment);
        }
        let mut rows = rows.into_iter().map(cells);
        let columns = rows.next().expect("a header");
        let fields: Vec<_> = columns.iter().map(|column| format!("{file} {column}")).collect();
        let mut empty = true;
        for row in rows {
            assert_eq!(row.len(), columns.len(), "{file}: {row:?}");
            empty = false;
            for ((column, field), cell) in columns.iter().zip(&fields).zip(row) {
                let prose = PROSE.contains(&column.as_str()) || cell.contains(' ');
                if prose { self.sentence(field, &cell) } else { self.value(field, cell) }
            }
        }
        for (column, field) in columns.iter().zip(&fields) {
            if empty && !PROSE.contains(&column.as_str()) {
                self.value(field, "no_entry");
            }
        }
    }

    /// Returns the values by field. A single short value is stored as itself. Other values are
    /// stored as their number and a digest.
    pub(crate) fn condensed(&self) -> BTreeMap<String, String> {
        self.values.iter().map(|(field, values)| (field.clone(), condense(field, values))).collect()
    }
}

fn condense(field: &str, values: &[String]) -> String {
    let in_file = field.contains(' ');
    match values {
        [value] if value.is_empty() => "empty".to_owned(),
        [value] if value.len() <= LONGEST || !in_file => value.clone(),
        _ => format!("{}:{}", values.len(), digest(values.join("\n").as_bytes())),
    }
}

/// Returns the first 32 bits of the SHA-256 digest, in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    format!("{:08x}", u32::from_be_bytes(sum[..4].try_into().expect("32 bytes")))
}

/// Splits a CSV line into cells. A comma in quotes does not end a cell.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("one cell").push(c),
        }
    }
    cells
}

#[test]
fn a_rewritten_sentence_moves_no_value_and_a_number_moves_one() {
    let of = |json: &str, csv: &str| {
        let mut fields = Fields::default();
        fields.json("a.json", json.as_bytes());
        fields.csv("b.csv", csv);
        fields
    };
    let json = r#"{"vpass":"1","n":[{"x":1,"y":2.5},{"x":3}],"warnings":["2 blocks"],"none":[]}"#;
    let csv = "# Fig. 1\nname,us\n\"a,b\",1\nc,2\n";
    let before = of(json, csv);
    let values: Vec<_> = before.condensed().into_iter().collect();
    let two = |a: &str| format!("2:{}", digest(a.as_bytes()));
    let expected = [
        ("a.json n[].x", two("1\n3")),
        ("a.json n[].y", "2.5".to_owned()),
        ("a.json none[]", "no_entry".to_owned()),
        ("b.csv name", two("a,b\nc")),
        ("b.csv us", two("1\n2")),
    ];
    assert_eq!(values, expected.map(|(field, value)| (field.to_owned(), value)));
    let after = of(&json.replace("2 blocks", "Two blocks."), &csv.replace("Fig. 1", "Figure 1"));
    assert_eq!(after.condensed(), before.condensed());
    assert_ne!(after.sentences, before.sentences);
    let moved = of(&json.replace("\"x\":3", "\"x\":4"), csv).condensed();
    let moved: Vec<_> = moved.into_iter().filter(|v| !values.contains(v)).collect();
    assert_eq!(moved, [("a.json n[].x".to_owned(), two("1\n4"))]);
}
