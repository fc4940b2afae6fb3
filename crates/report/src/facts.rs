//! Results as text, for any value that can be serialised. Each number stands beside the name of its
//! JSON key, so that a reader finds the same number in the text and in the JSON output.
//!
//! An object becomes a section of facts. A list of objects becomes a table. Objects with the same
//! keys that lie side by side become the rows of one table. The name of a key determines the unit:
//! `sensing_us` holds microseconds, and `read_bytes` holds bytes.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use vpass_lab::numbers::{bytes, count, days, digits, microseconds, seconds, years};

use crate::table::{Look, Table, wrapped_lines};

/// Largest number of rows of a table. The JSON output has all rows.
const MOST_ROWS: usize = 24;
/// Number of columns above which a table with few rows is turned, so that its columns become rows.
const MOST_COLUMNS: usize = 10;
/// Largest number of values of a list that are printed one by one. A longer list of numbers becomes
/// a sparkline.
const MOST_VALUES: usize = 8;
/// Length in characters above which the text of a cell is wrapped.
const LONG: usize = 30;

/// Keys of an object and their values, in the order in which they were serialised.
#[derive(Clone, Debug, Default, PartialEq)]
struct Fields(Vec<(String, Fact)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = vec![];
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Fact {
    Bool(bool),
    Whole(u64),
    Real(f64),
    Text(String),
    List(Vec<Fact>),
    Object(Fields),
    Unknown,
}

/// Returns a value as facts and tables. `left_out` lists keys that are not printed.
///
/// # Panics
/// Panics if the value cannot be serialised, which is an error of the program.
pub fn text(value: &impl Serialize, left_out: &[&str], colour: bool) -> String {
    let json = serde_json::to_string(value).expect("results serialise");
    let fact: Fact = serde_json::from_str(&json).expect("JSON reads back");
    let mut writer = Writer { text: String::new(), left_out, colour };
    if let Fact::Object(fields) = fact {
        writer.section("", "", &fields);
    }
    writer
        .text
        .push_str("  Numbers that are 0 or unknown are not printed; the JSON output has all.\n");
    wrapped_lines(&writer.text)
}

/// Returns a heading as a line of its own.
pub fn heading(title: &str, colour: bool) -> String {
    Look::Heading.paint(&vpass_lab::plain::line(title), colour) + "\n"
}

/// Returns a list of values as a table. `left_out` lists keys that have no column.
///
/// # Panics
/// Panics if the values cannot be serialised, which is an error of the program.
pub fn rows<T: Serialize>(values: &[T], left_out: &[&str], colour: bool) -> String {
    let json = serde_json::to_string(values).expect("results serialise");
    let list: Vec<Fact> = serde_json::from_str(&json).expect("JSON reads back");
    let mut writer = Writer { text: String::new(), left_out, colour };
    writer.list("", "", &list);
    writer.text
}

/// Text to which sections are added one after the other.
struct Writer<'a> {
    text: String,
    left_out: &'a [&'a str],
    colour: bool,
}

impl Writer<'_> {
    /// Adds an object: first its facts, then its tables, and last its inner objects. `key` is the
    /// key of the object.
    fn section(&mut self, title: &str, key: &str, fields: &Fields) {
        let is_shown = |(key, fact): &&(String, Fact)| {
            !self.left_out.contains(&key.as_str()) && !fact.is_empty()
        };
        let shown: Vec<_> = fields.0.iter().filter(is_shown).collect();
        let mut facts = Table::default();
        let mut has_facts = false;
        for (name, fact) in &shown {
            if let Some(value) = fact.inline(name, key) {
                facts.row([label(name), value]);
                has_facts = true;
            }
        }
        let rows: Vec<_> = shown.iter().filter(|field| is_row(fields, field)).collect();
        if has_facts || !rows.is_empty() {
            self.head(title);
        }
        if has_facts {
            self.text.push_str(&facts.render_words(self.colour));
        }
        for keys in rows.iter().map(|(_, fact)| fact.keys()).collect::<BTreeSet<_>>() {
            let mut table = Rows::default();
            for (name, fact) in rows.iter().filter(|(_, fact)| fact.keys() == keys) {
                let name = ("name".to_owned(), Fact::Text(label(name)));
                table.add(std::iter::once(&name).chain(fact.fields()), key);
            }
            self.table(&table);
        }
        for field in shown {
            let (name, fact) = field;
            match fact {
                Fact::Object(inner) if !is_row(fields, field) => {
                    self.section(&capital(&label(name)), name, inner);
                }
                Fact::List(list) if fact.inline(name, key).is_none() => {
                    self.list(&capital(&label(name)), name, list);
                }
                _ => {}
            }
        }
    }

    /// Adds a list of objects as a table. A list inside the objects becomes a table of its own, in
    /// which the first column names the object.
    fn list(&mut self, title: &str, key: &str, list: &[Fact]) {
        let mut table = Rows::default();
        let mut inner: Vec<(&str, Vec<Fact>)> = vec![];
        for row in list {
            let fields = row.fields();
            let is_shown = |(name, _): &&(String, Fact)| !self.left_out.contains(&name.as_str());
            table.add(fields.iter().filter(is_shown), key);
            for (name, fact) in fields.iter().filter(is_shown) {
                let Fact::List(rows) = fact else { continue };
                if fact.inline(name, "").is_none() {
                    let rows = rows.iter().map(|row| {
                        let first =
                            fields.iter().find(|(name, fact)| fact.inline(name, "").is_some());
                        Fact::Object(Fields(first.chain(row.fields()).cloned().collect()))
                    });
                    match inner.iter_mut().find(|(of, _)| of == name) {
                        Some((_, all)) => all.extend(rows),
                        None => inner.push((name, rows.collect())),
                    }
                }
            }
        }
        if table.columns.len() > 1 || inner.is_empty() {
            self.head(title);
            self.table(&table);
        }
        for (name, rows) in inner {
            self.list(&format!("{title}: {}", label(name)), name, &rows);
        }
    }

    fn head(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if !title.is_empty() {
            self.text.push_str(&heading(title, self.colour));
        }
    }

    /// Adds a table. If it has many columns and few rows, its columns become rows.
    fn table(&mut self, rows: &Rows) {
        let names: Vec<&String> = rows.columns.iter().filter(|name| rows.has(name)).collect();
        let text = |row: &[(String, String)], name: &str| cell(row, name).unwrap_or("-").to_owned();
        let head = |name: &&String| {
            if *name == "name" { String::new() } else { label(name) }
        };
        let is_upright = names.len() > MOST_COLUMNS && rows.rows.len() <= MOST_COLUMNS;
        let mut table = if is_upright {
            let first = rows.rows.iter().map(|row| text(row, names[0]));
            Table::new(std::iter::once(head(&names[0])).chain(first))
        } else {
            Table::new(names.iter().map(head))
        };
        if is_upright {
            for name in &names[1..] {
                let cells = rows.rows.iter().map(|row| text(row, name));
                table.row(std::iter::once(head(name)).chain(cells));
            }
        } else {
            for row in rows.rows.iter().take(MOST_ROWS) {
                table.row(names.iter().map(|name| text(row, name)));
            }
        }
        let is_long =
            |(_, cell): &(String, String)| cell.chars().count() > LONG && cell.contains(' ');
        self.text.push_str(&if rows.rows.iter().flatten().any(is_long) {
            table.render_words(self.colour)
        } else {
            table.render(self.colour)
        });
        if let Some(more) = rows.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
            let more = count(more as u64);
            self.text.push_str(&format!("  and {more} more rows; the JSON output has all\n"));
        }
    }
}

/// Rows of a table, with the union of their columns.
#[derive(Default)]
struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<(String, String)>>,
}

impl Rows {
    /// Adds a row. The fields of inner objects become columns.
    fn add<'a>(&mut self, fields: impl IntoIterator<Item = &'a (String, Fact)>, parent: &str) {
        let mut row = vec![];
        for (name, fact) in fields {
            flatten(name, fact, (name, parent), &mut row);
        }
        for (name, _) in &row {
            if !self.columns.contains(name) {
                self.columns.push(name.clone());
            }
        }
        self.rows.push(row);
    }

    /// Returns whether any row has a value in the column.
    fn has(&self, column: &str) -> bool {
        self.rows.iter().any(|row| cell(row, column).is_some_and(|cell| cell != "-"))
    }
}

/// Adds the cells of a value to a row. The fields of an object become cells of their own. `column`
/// is the name of the value's column. `keys` are the key of the value, and the key of its object.
fn flatten(column: &str, fact: &Fact, keys: (&str, &str), row: &mut Vec<(String, String)>) {
    if let Some(value) = fact.inline(keys.0, keys.1) {
        return row.push((column.to_owned(), value));
    }
    for (key, inner) in fact.fields() {
        flatten(&format!("{column}_{key}"), inner, (key, keys.0), row);
    }
}

/// Returns the cell of a row in a column.
fn cell<'a>(row: &'a [(String, String)], column: &str) -> Option<&'a str> {
    row.iter().find(|(name, _)| name == column).map(|(_, cell)| cell.as_str())
}

impl Fact {
    /// Returns whether there is nothing to print.
    fn is_empty(&self) -> bool {
        match self {
            Self::Unknown | Self::Bool(false) | Self::Whole(0) => true,
            Self::Real(number) => *number == 0.0,
            Self::Text(text) => text.is_empty(),
            Self::List(list) => list.iter().all(Self::is_empty),
            Self::Object(fields) => fields.0.iter().all(|(_, fact)| fact.is_empty()),
            Self::Bool(true) | Self::Whole(_) => false,
        }
    }

    /// Returns the keys and values of an object. Other values have none.
    fn fields(&self) -> &[(String, Fact)] {
        match self {
            Self::Object(Fields(fields)) => fields,
            _ => &[],
        }
    }

    fn keys(&self) -> Vec<&str> {
        self.fields().iter().map(|(key, _)| key.as_str()).collect()
    }

    /// Returns the text of a mean with its 95 % interval. Returns `None` for another object.
    fn interval(&self, key: &str, parent: &str) -> Option<String> {
        let [(mean, value), (ci95, half)] = self.fields() else { return None };
        if mean != "mean" || ci95 != "ci95" {
            return None;
        }
        let text = value.inline(key, parent)?;
        Some(match half {
            Self::Unknown => text,
            half => format!("{text} ± {}", half.inline(key, parent)?),
        })
    }

    /// Returns the value in one line. Returns `None` for an object and for a list of objects.
    fn inline(&self, key: &str, parent: &str) -> Option<String> {
        Some(match self {
            Self::Unknown => "-".into(),
            Self::Bool(is) => if *is { "yes" } else { "no" }.into(),
            Self::Whole(whole) => number(*whole as f64, Some(*whole), key, parent),
            Self::Real(real) => number(*real, None, key, parent),
            Self::Text(text) => text.clone(),
            Self::Object(_) => return self.interval(key, parent),
            Self::List(list) => {
                let whole = |fact: &Fact| match fact {
                    Self::Whole(n) => Some(*n),
                    _ => None,
                };
                if let (true, Some(numbers)) =
                    (list.len() > MOST_VALUES, list.iter().map(whole).collect::<Option<Vec<_>>>())
                {
                    let most = numbers.iter().copied().max().unwrap_or(0);
                    return Some(format!("|{}| at most {}", sparkline(&numbers), count(most)));
                }
                let values: Option<Vec<_>> =
                    list.iter().map(|fact| fact.inline(key, parent)).collect();
                let is_pair = |fact: &Fact| matches!(fact, Self::Text(_) | Self::List(_));
                let joint = if list.len() == 2 && is_pair(&list[0]) && !is_pair(&list[1]) {
                    " "
                } else {
                    ", "
                };
                values?.join(joint)
            }
        })
    }
}

/// Returns whether an object becomes a row of a table: the object has no inner objects, and an
/// object beside it has the same keys.
fn is_row(fields: &Fields, (name, fact): &(String, Fact)) -> bool {
    let is_flat = fact.fields().iter().all(|(name, fact)| fact.inline(name, "").is_some());
    let is_same = |(other, of): &(String, Fact)| other != name && of.keys() == fact.keys();
    matches!(fact, Fact::Object(_)) && is_flat && fields.0.iter().any(is_same)
}

/// Words of a key that name the unit of its value.
const UNITS: [&str; 7] = ["bytes", "us", "s", "seconds", "days", "years", "share"];
/// Keys whose values are shares, although no word says so.
const SHARES: [&str; 4] = ["consumed", "reads_by_retries", "reads_held", "missed_budgets"];

/// Returns the unit of a value: the unit that its key names, or else the key of its object.
fn unit_of(key: &str, parent: &str) -> Option<&'static str> {
    [key, parent].into_iter().find_map(|key| {
        if SHARES.contains(&key) {
            return Some("share");
        }
        let words: Vec<&str> = key.split('_').collect();
        // In `share_of_page_reads` and `host_bytes_written`, the unit is not the last word.
        UNITS.into_iter().find(|unit| {
            words.last() == Some(unit) || ["bytes", "share"].contains(unit) && words.contains(unit)
        })
    })
}

/// Formats a number in the unit that its key names.
fn number(value: f64, whole: Option<u64>, key: &str, parent: &str) -> String {
    match (unit_of(key, parent), whole) {
        (Some("bytes"), _) => bytes(value.round() as u64),
        (Some("us"), _) => microseconds(value),
        (Some("s" | "seconds"), _) => seconds(value),
        (Some("days"), _) => days(value),
        (Some("years"), _) => years(value, None),
        (Some("share"), _) => format!("{} %", digits(100.0 * value)),
        (_, Some(whole)) => count(whole),
        _ => digits(value),
    }
}

/// Returns the name of a key in words. The unit is dropped, because the value has it.
fn label(key: &str) -> String {
    let words: Vec<&str> = key.split('_').collect();
    let has_unit = words.len() > 1 && ["bytes", "s", "days"].contains(&words[words.len() - 1]);
    let word = |word: &str| match word {
        "pec" => "P/E cycles".to_owned(),
        "ecc" | "uber" | "rber" | "gc" | "ram" => word.to_uppercase(),
        "iops" => "requests per second".to_owned(),
        _ => word.to_owned(),
    };
    let words = words[..words.len() - usize::from(has_unit)].iter().filter(|word| **word != "us");
    let text = words.map(|of| word(of)).collect::<Vec<_>>().join(" ");
    text.replace("p99 9", "p99.9")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns one bar for each number. The largest number gets the highest bar, and each number above
/// 0 gets a visible bar.
fn sparkline(numbers: &[u64]) -> String {
    let largest = numbers.iter().copied().max().unwrap_or(0).max(1);
    let height = |n: u64| (u128::from(n) * BARS.len() as u128).div_ceil(u128::from(largest));
    let bar = |n: &u64| if *n == 0 { ' ' } else { BARS[height(*n) as usize - 1] };
    numbers.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bars_by_hand() {
        assert_eq!(sparkline(&[0, 1, 8, 4, 5, 7]), " ▁█▄▅▇");
        assert_eq!(sparkline(&[u64::MAX, u64::MAX / 2, 1]), "█▄▁");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn keys_give_names_and_units() {
        let said = |key: &str, value| (label(key), number(value, None, key, ""));
        assert_eq!(said("sensing_us", 25.0), ("sensing".into(), "25.0 us".into()));
        assert_eq!(said("read_bytes", 2048.0), ("read".into(), "2.00 KiB".into()));
        assert_eq!(said("read_p99_9_us", 1.5), ("read p99.9".into(), "1.50 us".into()));
        assert_eq!(said("pec_mean", 1.5), ("P/E cycles mean".into(), "1.50".into()));
        assert_eq!(number(0.5, None, "mean", "latency_us"), "0.50 us");
    }

    #[test]
    fn objects_and_lists_become_facts_and_tables() {
        let value = json!({
            "drive": "tiny",
            "none": null,
            "latency_us": {"read": {"mean": 1.5, "p99": 2.5}, "write": {"mean": null, "p99": 3.0}},
            "ages": [
                {"pec": 0, "groups": [{"name": "a", "limit": 5}, {"name": "b", "limit": 6}]},
                {"pec": 9, "groups": [{"name": "a", "limit": 4}]}
            ],
            "weight": [["LSB", 1.0], ["MSB", 2.0]]
        });
        let text = text(&value, &["hidden"], false);
        for line in [
            "  drive   tiny\n",
            "  weight  LSB 1.00, MSB 2.00\n",
            "Latency\n",
            "  read    1.50 us   2.50 us\n",
            "  write         -   3.00 us\n",
            "Ages: groups\n",
            "  9               a       4\n",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        assert!(!text.contains("none"));
    }
}
