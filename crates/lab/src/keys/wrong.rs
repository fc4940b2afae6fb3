//! Detection of wrong values of keys. Each value is compared with the declaration of the key before
//! the value is converted to a Rust type.

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};
use vpass_drive::api::card::{Kind, Param};
use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::span::Span;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::keys::{Key, Range, Type};

use crate::failure::Failure;
use crate::schema::Section;
use crate::suggest;

/// Wrong value of a key. The file and the line of the value are not known yet.
#[derive(Debug)]
pub(crate) struct Wrong {
    key: String,
    value: String,
    remedy: String,
    /// Offset of the value in the text of the file.
    pub(crate) at: usize,
}

impl Wrong {
    pub(crate) fn new(key: &str, value: String, remedy: String, at: usize) -> Self {
        Self { key: key.into(), value, remedy, at }
    }

    /// Makes a failure for the wrong value. The place is a line of a file, or a setting.
    pub(crate) fn at_place(self, place: impl Into<Phrase>) -> Failure {
        let Self { key, value, remedy, .. } = self;
        Failure::usage(format!("{key} is {value}"))
            .at(place)
            .with_remedy(format!("it must be {remedy}"))
            .with_entry(key, value)
    }
}

/// Returns the failure for a file that lacks a required key or table. `table` is the header of the
/// table, such as `workload.phase`, or empty if the table is unknown. Returns `None` if no table
/// has such a key.
pub(crate) fn missing(schema: &[Section], table: &str, name: &str) -> Option<Failure> {
    if table.is_empty() && schema.iter().any(|section| section.name == name) {
        let failure = Failure::usage(format!("the table [{name}] is missing"));
        return Some(failure.with_entry(name, ""));
    }
    let (path, key) = if table.is_empty() {
        schema.iter().find_map(|section| in_or_below(section.name, section, name))
    } else {
        let mut parts = table.split('.');
        let first = parts.next()?;
        let mut section = schema.iter().find(|section| section.name == first)?;
        for part in parts {
            section = section.inner(part)?;
        }
        in_or_below(table, section, name)
    }?;
    let remedy = remedy(key, key.of, &DeValue::Boolean(false));
    let failure = Failure::usage(format!("{path} is missing"));
    Some(failure.with_remedy(format!("it must be {remedy}")).with_entry(path, ""))
}

/// Finds a key by name in a table and in its inner tables. Returns the path and the declaration of
/// the key.
fn in_or_below(path: &str, section: &Section, name: &str) -> Option<(String, &'static Key)> {
    if let Some(key) = section.declared.iter().find(|key| key.name == name) {
        return Some((format!("{path}.{name}"), key));
    }
    section.declared.iter().find_map(|key| {
        let inner = section.inner(key.name)?;
        in_or_below(&format!("{path}.{}", key.name), inner, name)
    })
}

/// Returns the first wrong value in a document. Returns `None` if no value is wrong.
pub(crate) fn in_document(schema: &[Section], document: &DeTable) -> Option<Wrong> {
    document.iter().find_map(|(name, value)| {
        let section = schema.iter().find(|section| section.name == name.get_ref())?;
        in_table(section.name, section, value)
    })
}

/// Checks the value that a setting gives to a key in a table. `path` is the path of the key.
/// Returns the wrong value, or `None` if the value is right.
pub(crate) fn in_setting(
    path: &str,
    section: &Section,
    name: &str,
    value: &Value,
) -> Option<Wrong> {
    let key = section.declared.iter().find(|key| key.name == name)?;
    let text = format!("value = {value}");
    let document = DeTable::parse(&text).ok()?;
    let (_, value) = document.get_ref().iter().next()?;
    in_key(path, section, key, value)
}

/// Checks the type of the value that a setting gives to a parameter of a technique. Returns the
/// wrong value, or `None` if the type is right.
pub(crate) fn in_param(path: &str, param: &Param, value: &Value) -> Option<Wrong> {
    let (kind, fits) = match param.kind {
        Kind::Whole => ("a whole number", value.is_integer()),
        Kind::Real => ("a number", value.is_integer() || value.is_float()),
    };
    let remedy = || format!("{kind}, {}", param.values());
    (!fits).then(|| Wrong::new(path, value.to_string(), remedy(), 0))
}

fn in_table(path: &str, section: &Section, value: &Spanned<DeValue>) -> Option<Wrong> {
    let Some(table) = value.get_ref().as_table() else {
        return Some(wrong(path, value, "a table".into()));
    };
    table.iter().find_map(|(name, value)| {
        let key = section.declared.iter().find(|key| key.name == name.get_ref())?;
        in_key(&format!("{path}.{}", key.name), section, key, value)
    })
}

fn in_key(path: &str, section: &Section, key: &Key, value: &Spanned<DeValue>) -> Option<Wrong> {
    match (section.inner(key.name), key.of, value.get_ref()) {
        (Some(row), Type::List(_), DeValue::Array(rows)) => {
            rows.iter().find_map(|value| in_table(path, row, value))
        }
        (Some(_), Type::List(_), _) => Some(wrong(path, value, "a list of tables".into())),
        (Some(inner), ..) => in_table(path, inner, value),
        (None, of, _) => in_value(path, key, of, value),
    }
}

/// Checks a value. If the value is a list, checks each value in the list.
fn in_value(path: &str, key: &Key, of: Type, value: &Spanned<DeValue>) -> Option<Wrong> {
    let fits = match (of, value.get_ref()) {
        (Type::OneOrList(of) | Type::List(of), DeValue::Array(list)) => {
            return list.iter().find_map(|value| in_value(path, key, *of, value));
        }
        (Type::OneOrList(of), _) => return in_value(path, key, *of, value),
        (Type::Whole(most), DeValue::Integer(n)) => {
            whole(n.as_str(), n.radix()).is_some_and(|n| n <= most)
        }
        (Type::Real, DeValue::Integer(_) | DeValue::Float(_))
        | (Type::Bool, DeValue::Boolean(_))
        | (Type::Text, DeValue::String(_))
        | (Type::Table(_), _) => true,
        (Type::Word(words), DeValue::String(word)) => words.contains(&&**word),
        (Type::Size, DeValue::String(text)) => Bytes::parse(text).is_ok(),
        (Type::Size, DeValue::Integer(n)) => whole(n.as_str(), n.radix()).is_some(),
        (Type::Time, DeValue::String(text)) => Span::parse(text).is_ok(),
        (Type::Time, DeValue::Integer(n)) => n.as_str() == "0",
        _ => false,
    };
    if fits { None } else { Some(wrong(path, value, remedy(key, of, value.get_ref()))) }
}

/// Reads a whole number without a sign; `None` for other text.
fn whole(digits: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
}

/// Describes the right values of a key.
fn remedy(key: &Key, of: Type, value: &DeValue) -> String {
    let kind = match of {
        Type::Whole(_) => "a whole number",
        Type::Real => "a number",
        Type::Bool => return "true or false".into(),
        Type::Text => "text",
        Type::Word(words) => return one_of(words, value.as_str()),
        Type::Size => "a size such as \"16KiB\" or a number of bytes",
        Type::Time => {
            "a time with a unit such as \"22.4h\", \"30d\" or \"1y\" (ns, us, ms, s, min, h, d, y)"
        }
        Type::OneOrList(_) | Type::List(_) => "a list",
        Type::Table(_) => "a table",
    };
    if matches!(key.range, Range::OfType | Range::Words("text")) {
        return kind.into();
    }
    let unit = match key.unit {
        "" | "size" | "time" | "share" => String::new(),
        unit => format!(" ({unit})"),
    };
    format!("{kind}, {}{unit}", key.values())
}

/// Describes the accepted words. If the given word resembles an accepted word, suggests the
/// accepted word.
fn one_of(words: &[&'static str], given: Option<&str>) -> String {
    let hint = given.map_or_else(String::new, |word| suggest::hint(word, words.iter().copied()));
    format!("one of {}{hint}", words.join(", "))
}

fn wrong(path: &str, value: &Spanned<DeValue>, remedy: String) -> Wrong {
    Wrong::new(path, shown(value.get_ref()), remedy, value.span().start)
}

/// Formats a value as messages show it.
fn shown(value: &DeValue) -> String {
    match value {
        DeValue::Table(_) => "a table".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::String(text) => format!("{:?}", &**text),
        DeValue::Integer(n) => n.as_str().to_owned(),
        DeValue::Float(n) => n.as_str().to_owned(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    }
}
