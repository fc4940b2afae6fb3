//! JSON Schemas (draft 2020-12) of drive and workload files. The schemas are made from the declared
//! keys.
//!
//! Editors use the schemas to complete and check files. A schema accepts every file that vpass
//! accepts. vpass makes more checks than a schema: for rules between keys, and for ranges that the
//! schema describes only in words.

use serde_json::{Map, Value, json};
use vpass_drive::api::card::{Kind, Param};
use vpass_drive::config::DriveConfig;
use vpass_drive::config::keys::{Keys, Range, Type};
use vpass_techniques::Slot;

use super::default_of;
use crate::schema::{DRIVE, MODEL, PARTS, PHASES, Section, WORKLOAD};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Pattern of a size, such as "16KiB", "1.5 GiB" or "4k".
const SIZE: &str = "^ *[0-9]+(\\.[0-9]+)? *([kKmMgGtTpP]?[iI]?[bB]?) *$";
/// Pattern of a span of time, such as "30d", "22.4h" or "0".
const TIME: &str = "^ *([0-9]+(\\.[0-9]+)? *(ns|us|ms|s|min|h|d|y)|0) *$";
/// Pattern of a whole number with a decimal unit or an exponent, such as "1M", "2.5k" or "1e6".
const COUNT: &str = "^ *[0-9][0-9_]*(\\.[0-9_]*)?([kKmMgGtT]|[eE]\\+?[0-9]+) *$";

/// Returns the schema of drive files.
pub fn drive() -> Value {
    let tables = DRIVE.iter().map(|section| (section.name.to_owned(), table(section)));
    let required = DriveConfig::KEYS.iter().filter(|key| key.required).map(|key| key.name);
    file("vpass drive file", tables.collect(), json!({ "required": required.collect::<Vec<_>>() }))
}

/// Returns the schema of workload files. A workload file is one of several kinds: plain workload,
/// phases, parts or model.
pub fn workload() -> Value {
    let mut tables = Map::new();
    for section in WORKLOAD.iter().chain(PHASES).chain(PARTS).chain(MODEL) {
        let one = table(section);
        match tables.get_mut(section.name) {
            None => drop(tables.insert(section.name.into(), one)),
            Some(other) => *other = json!({ "anyOf": [other.take(), one] }),
        }
    }
    tables.insert(
        "hints".into(),
        json!({ "type": "object", "description": "Read latencies that the host accepts" }),
    );
    file("vpass workload file", tables, json!({ "required": ["workload"] }))
}

/// Returns the schema of a whole file, with the description and the tables.
fn file(title: &str, mut tables: Map<String, Value>, rules: Value) -> Value {
    tables.insert("description".into(), json!({ "type": "string" }));
    let schema = json!({
        "$schema": DIALECT,
        "title": title,
        "type": "object",
        "properties": tables,
        "additionalProperties": false,
    });
    with(schema, rules)
}

/// Returns the schema of a table, or of a row in a list of tables.
fn table(section: &Section) -> Value {
    let defaults = section.defaults();
    let mut properties = Map::new();
    for key in section.declared {
        let values = match (key.of, section.inner(key.name)) {
            (Type::List(_), Some(row)) => json!({ "type": "array", "items": table(row) }),
            (_, Some(inner)) => table(inner),
            (of, None) => with_count(key.range, values(of, key.range)),
        };
        let about = [key.meaning, &words(key.unit, key.range, key.note), &source(key.source)];
        let default = defaults.get(key.name).map(|default| json!({ "default": default }));
        let schema = with(values, json!({ "description": sentences(about) }));
        properties.insert(key.name.into(), with(schema, default.unwrap_or_default()));
    }
    if let Some(slot) = section.slot() {
        add_parameters(slot, &mut properties);
    }
    let required: Vec<_> =
        section.declared.iter().filter(|key| key.required).map(|key| key.name).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if required.is_empty() { schema } else { with(schema, json!({ "required": required })) }
}

/// Adds the tables of all techniques of one kind (slot). Also adds the keys that several techniques
/// of this kind share.
fn add_parameters(slot: &Slot, properties: &mut Map<String, Value>) {
    for alias in slot.aliases() {
        let (_, param) =
            slot.sharing(alias).next().expect("each alias belongs to a parameter of a technique");
        properties.insert(alias.into(), with_count(param.values(), parameter(param)));
    }
    for (about, param) in slot.params() {
        let technique = properties.entry(about.name).or_insert_with(
            || json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        );
        technique["properties"][param.key] = parameter(param);
    }
}

fn parameter(param: &Param) -> Value {
    let of = match param.kind {
        Kind::Whole => Type::Whole(u64::MAX),
        Kind::Real => Type::Real,
    };
    let about = [param.meaning, &words(param.unit, Range::OfType, ""), &source(param.source)];
    let about = json!({ "description": sentences(about), "default": default_of(param) });
    with(values(of, param.values()), about)
}

/// Returns the schema for values of a type within a range.
fn values(of: Type, range: Range) -> Value {
    match of {
        Type::Whole(_) => numbers("integer", range),
        Type::Real => numbers("number", range),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Text => json!({ "type": "string" }),
        Type::Word(words) => json!({ "enum": words }),
        Type::Size => json!({ "anyOf": [numbers("integer", range), text(SIZE)] }),
        Type::Time => json!({ "anyOf": [text(TIME), { "const": 0 }] }),
        Type::OneOrList(of) => {
            let one = values(*of, range);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
        Type::List(of) => json!({ "type": "array", "items": values(*of, range) }),
        Type::Table(_) => json!({ "type": "object" }),
    }
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// Returns the schema for numbers of a JSON type within a range.
fn numbers(kind: &str, range: Range) -> Value {
    let bounds = match range {
        Range::Whole(low, u64::MAX) => json!({ "minimum": low }),
        Range::Whole(low, high) | Range::Size(low, high) => {
            json!({ "minimum": low, "maximum": high })
        }
        Range::Real(low, high) | Range::Rate(low, high) => {
            json!({ "minimum": bound(low), "maximum": bound(high) })
        }
        Range::Above(low, high) => {
            json!({ "exclusiveMinimum": bound(low), "maximum": bound(high) })
        }
        Range::ZeroOr(low, high) => {
            return json!({ "anyOf": [{ "const": 0 }, numbers(kind, Range::Real(low, high))] });
        }
        Range::PowerOfTwo(low, high) => {
            let powers = (0..u64::BITS).map(|bit| 1 << bit).filter(|n| (low..=high).contains(n));
            json!({ "enum": powers.collect::<Vec<u64>>() })
        }
        Range::Multiple(step, most) => {
            json!({ "minimum": step, "maximum": most, "multipleOf": step })
        }
        Range::Words(_) | Range::OfType | Range::Time(_) if kind == "integer" => {
            json!({ "minimum": 0 })
        }
        Range::Words(_) | Range::OfType | Range::Time(_) => json!({}),
    };
    with(json!({ "type": kind }), bounds)
}

/// Formats a bound of a range with as few digits as possible. A whole number has no decimal point.
fn bound(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}

/// Extends the schema of a number, so that the schema also accepts a text such as "1M".
fn with_count(range: Range, values: Value) -> Value {
    let Some(kind) = values.get("type").filter(|_| range.takes_suffixes()) else { return values };
    if kind == "array" {
        return values;
    }
    let mut one = values.as_object().cloned().unwrap_or_default();
    let about: Map<_, _> = ["description", "default"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), one.remove(*name)?)))
        .collect();
    with(json!({ "anyOf": [one, text(COUNT)] }), Value::Object(about))
}

/// Describes a key in words, with the unit of the key. If a schema cannot express the whole range,
/// adds the range and a note.
fn words(unit: &str, range: Range, note: &str) -> String {
    let unit = match unit {
        "" | "size" | "time" => String::new(),
        unit => format!("Unit: {unit}"),
    };
    let values = match range {
        Range::Words(words) => format!("Values: {words}{note}"),
        _ if note.is_empty() => String::new(),
        range => format!("Values: {range}{note}"),
    };
    sentences([&unit, &values, ""])
}

fn source(source: &str) -> String {
    if source.is_empty() { String::new() } else { format!("Source of the default: {source}") }
}

/// Joins sentences into one text. Empty sentences are left out.
fn sentences(parts: [&str; 3]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(". ")
}

/// Adds the keywords of another schema to a schema.
fn with(mut schema: Value, more: Value) -> Value {
    if let (Some(schema), Value::Object(more)) = (schema.as_object_mut(), more) {
        schema.extend(more);
    }
    schema
}
