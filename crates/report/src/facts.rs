//! Results as text, for any value that can be serialised. Each number stands beside the name of its
//! JSON key, so that a reader finds the same number in the text and in the JSON output.
//!
//! An object becomes a section of facts. A list of objects becomes a table. Objects with the same
//! keys that lie side by side become the rows of one table. The name of a key determines the unit:
//! `sensing_us` holds microseconds, and `read_bytes` holds bytes.

mod units;
mod words;

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use vpass_lab::numbers::{count, digits};

use crate::table::{Look, Table, wrapped_lines};
use units::{number, unit_of};
use words::{label, note};

/// Largest number of rows of a table. The JSON output has all rows.
const MOST_ROWS: usize = 32;
/// Largest number of address ranges that are blamed for copies.
const MOST_BLAMED: usize = 8;
/// Number of columns above which a table with few rows is turned, so that its columns become rows.
const MOST_COLUMNS: usize = 10;
/// Largest number of values of a list that are printed one by one. A longer list of numbers becomes
/// a sparkline.
const MOST_VALUES: usize = 8;
/// Length in characters above which the text of a cell is wrapped.
const LONG: usize = 30;
/// Length in characters above which a text stands below its table.
const VERY_LONG: usize = 80;

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
        let mut rows: Vec<_> =
            shown.iter().copied().filter(|field| is_row(fields, field)).collect();
        if has_facts || !rows.is_empty() {
            self.head(title, key);
        }
        if has_facts {
            self.text.push_str(&facts.render_words(self.colour));
        }
        while let Some((_, first)) = rows.first().copied() {
            let mut table = Rows::default();
            rows.retain(|(name, fact)| {
                let is_alike = fact.is_alike(first);
                if is_alike {
                    let name = (String::new(), Fact::Text(label(name)));
                    let fields = fact.fields().iter();
                    let shown = fields.filter(|(key, _)| !self.left_out.contains(&key.as_str()));
                    table.add(std::iter::once(&name).chain(shown), key);
                }
                !is_alike
            });
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
        let most = if key == "blame" { MOST_BLAMED } else { list.len() };
        let list = &list[..most.min(list.len())];
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
                        Fact::Object(Fields(
                            first.into_iter().chain(row.fields()).cloned().collect(),
                        ))
                    });
                    match inner.iter_mut().find(|(of, _)| of == name) {
                        Some((_, all)) => all.extend(rows),
                        None => inner.push((name, rows.collect())),
                    }
                }
            }
        }
        if table.columns.len() > 1 || inner.is_empty() {
            self.head(title, key);
            self.table(&table);
        }
        for (name, rows) in inner {
            self.list(&format!("{title}: {}", label(name)), name, &rows);
        }
    }

    /// Adds the title of a section, and its note.
    fn head(&mut self, title: &str, key: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if !title.is_empty() {
            self.text.push_str(&heading(title, self.colour));
        }
        if let Some(note) = note(key) {
            self.text.extend(["  ", note, "\n"]);
        }
    }

    /// Adds a table. If it has many columns and few rows, its columns become rows.
    fn table(&mut self, rows: &Rows) {
        // The first column names the rows, even if its only value is 0.
        let is_shown =
            |(at, name): &(usize, &String)| *at == 0 || rows.has(name) && !rows.is_very_long(name);
        let names: Vec<&String> =
            rows.columns.iter().enumerate().filter(is_shown).map(|(_, name)| name).collect();
        let text = |row: &[(String, String)], name: &str| cell(row, name).unwrap_or("-").to_owned();
        let head = |name: &&String| label(name);
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
        for name in rows.columns.iter().filter(|name| rows.is_very_long(name)) {
            for row in &rows.rows {
                let (of_row, long) = (text(row, names[0]), text(row, name));
                self.text.extend(["  ", &label(names[0]), " ", &of_row, ": ", &long, "\n"]);
            }
        }
        if let Some(more) = rows.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
            let more = count(more as u64);
            self.text.extend(["  and ", &more, " more rows; the JSON output has all\n"]);
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
        let (mut limit, mut alpha, mut goes_on) = (None, None, false);
        for (name, fact) in fields {
            flatten(name, fact, (name, parent), &mut row);
            match (name.as_str(), fact) {
                ("limit", Fact::Real(real)) => limit = Some(*real),
                ("alpha", Fact::Real(real)) => alpha = Some(*real),
                ("worn_out", Fact::Bool(false)) => goes_on = true,
                _ => {}
            }
        }
        // The years of a drive that did not wear out are a lower bound of its life.
        if let Some((_, years)) = row.iter_mut().find(|(name, _)| goes_on && name == "years") {
            years.insert_str(0, "> ");
        }
        if parent == "flash" {
            let all = row.iter().filter_map(|(_, cell)| cell.replace(',', "").parse::<u64>().ok());
            row.push(("all".to_owned(), count(all.sum())));
        }
        if let (Some(limit), Some(alpha)) = (limit, alpha) {
            row.push(("limit_/_alpha".to_owned(), digits(limit / alpha)));
        }
        for (name, _) in &row {
            if !self.columns.contains(name) {
                self.columns.push(name.clone());
            }
        }
        self.rows.push(row);
    }

    /// Returns whether a text of the column is too long for a table.
    fn is_very_long(&self, column: &str) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| cell(row, column));
        cells.any(|cell| cell.chars().count() > VERY_LONG)
    }

    /// Returns whether any row has a value other than 0 in the column.
    fn has(&self, column: &str) -> bool {
        let is_nothing = |cell: &str| {
            cell == "-"
                || cell.starts_with('0') && !cell.contains(|c: char| ('1'..='9').contains(&c))
        };
        self.rows.iter().any(|row| cell(row, column).is_some_and(|cell| !is_nothing(cell)))
    }
}

/// Adds the cells of a value to a row. The fields of an object become cells of their own. `column`
/// is the name of the value's column. `keys` are the key of the value, and the key of its object.
fn flatten(column: &str, fact: &Fact, keys: (&str, &str), row: &mut Vec<(String, String)>) {
    if let Some(value) = fact.inline(keys.0, keys.1) {
        return row.push((column.to_owned(), value));
    }
    let parent = if unit_of(keys.0, "").is_some() { keys.0 } else { keys.1 };
    for (key, inner) in fact.fields() {
        flatten(&format!("{column}_{key}"), inner, (key, parent), row);
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
            Self::Unknown | Self::Whole(0) => true,
            Self::Real(number) => *number == 0.0,
            Self::Text(text) => text.is_empty(),
            Self::List(list) => list.iter().all(Self::is_empty),
            Self::Object(fields) => fields.0.iter().all(|(_, fact)| fact.is_empty()),
            Self::Bool(_) | Self::Whole(_) => false,
        }
    }

    /// Returns the keys and values of an object. Other values have none.
    fn fields(&self) -> &[(String, Fact)] {
        match self {
            Self::Object(Fields(fields)) => fields,
            _ => &[],
        }
    }

    /// Returns whether one of two objects has all keys of the other.
    fn is_alike(&self, other: &Self) -> bool {
        let (few, many) = (self.fields(), other.fields());
        let (few, many) = if few.len() <= many.len() { (few, many) } else { (many, few) };
        !few.is_empty() && few.iter().all(|(key, _)| many.iter().any(|(of, _)| of == key))
    }

    fn real(&self) -> Option<f64> {
        if let Self::Real(real) = self { Some(*real) } else { None }
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
                if list.len() > MOST_VALUES
                    && let Some(numbers) = list.iter().map(Self::real).collect::<Option<Vec<_>>>()
                {
                    let of = |least: fn(f64, f64) -> f64| {
                        number(numbers.iter().copied().fold(f64::NAN, least), None, key, parent)
                    };
                    return Some(format!("{} to {}", of(f64::min), of(f64::max)));
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
    let is_same = |(other, of): &(String, Fact)| other != name && of.is_alike(fact);
    fact.inline(name, "").is_none() && is_flat && fields.0.iter().any(is_same)
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
        assert_eq!(said("read_mib_s", 1.5), ("read MiB/s".into(), "1.50".into()));
        assert_eq!(said("requests_per_s", 15.0), ("requests per s".into(), "15.0".into()));
        assert_eq!(said("weeks_to_even", 1.0).1, "7.00 days");
        assert_eq!(said("reads_saved_percent", 5.0), ("reads saved".into(), "5.00 %".into()));
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
            "  9                4      a\n",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        assert!(!text.contains("none"));
    }
}
