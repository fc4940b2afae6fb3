//! Tests of the JSON Schemas. The tests check which values the schemas accept, and whether the
//! published schema files are up to date.

use std::fs;
use std::path::Path;

use regex_lite::Regex;
use serde_json::{Value, json};

use super::examples::EXAMPLES;
use super::{base, borders, inner};
use crate::keys::{all, json_schema};
use crate::presets;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks a value against those schema keywords that vpass uses. Returns the first error, or `None`
/// if the value is valid.
fn wrong(schema: &Value, value: &Value) -> Option<String> {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().find_map(|(rule, of)| broken(rule, of, schema, value))
}

fn broken(rule: &str, of: &Value, schema: &Value, value: &Value) -> Option<String> {
    let list = || of.as_array().expect("a list of schemas").iter();
    let number = |ok: fn(f64, f64) -> bool| {
        value.as_f64().is_none_or(|n| ok(n, of.as_f64().expect("a number")))
    };
    let ok = match rule {
        "$schema" | "title" | "description" | "default" => true,
        "type" => match of.as_str().expect("one type") {
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("type {other}"),
        },
        "enum" => list().any(|one| one == value),
        "const" => of.as_f64() == value.as_f64(),
        "minimum" => number(|n, least| n >= least),
        "maximum" => number(|n, most| n <= most),
        "exclusiveMinimum" => number(|n, below| n > below),
        "multipleOf" => number(|n, step| n % step == 0.0),
        "pattern" => value.as_str().is_none_or(|text| {
            Regex::new(of.as_str().expect("a pattern")).expect("a pattern").is_match(text)
        }),
        "anyOf" => list().any(|one| wrong(one, value).is_none()),
        "required" => list().all(|name| value.get(name.as_str().expect("a name")).is_some()),
        "items" => {
            let rows = value.as_array().into_iter().flatten();
            return rows.clone().find_map(|row| wrong(of, row));
        }
        "properties" => {
            let fields = value.as_object().into_iter().flatten();
            return fields.clone().find_map(|(name, value)| {
                wrong(of.get(name)?, value).map(|what| format!("{name}: {what}"))
            });
        }
        "additionalProperties" => {
            assert_eq!(of, &json!(false));
            let known = &schema["properties"];
            value.as_object().into_iter().flatten().all(|(name, _)| known.get(name).is_some())
        }
        other => panic!("the keyword {other} is unknown to this test"),
    };
    (!ok).then(|| format!("{value} breaks {rule}: {of}"))
}

/// Returns the schema of drive files or of workload files.
fn schema(file: &str) -> Value {
    if file == "drive" { json_schema::drive() } else { json_schema::workload() }
}

fn published(file: &str) -> Value {
    let path = Path::new(ROOT).join(format!("docs/schema/{file}.schema.json"));
    let text = fs::read_to_string(path).expect("`make schemas` writes it");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn the_published_schemas_are_those_of_the_declarations() {
    for file in ["drive", "workload"] {
        // Reading JSON can change the last bit of a number. Both sides are therefore read from
        // JSON, so that they change in the same way.
        let declared: Value = serde_json::from_str(&schema(file).to_string()).expect("it is JSON");
        assert!(published(file) == declared, "{file}: `make schemas` writes a new one");
    }
}

#[test]
fn every_preset_names_its_schema_and_is_valid() {
    let mut count = 0;
    for (folder, file) in [("drives", "drive"), ("workloads", "workload")] {
        let folder = Path::new(ROOT).join("presets").join(folder);
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let first = text.lines().next().unwrap();
            let named = first.strip_prefix("#:schema ").expect("the first line names a schema");
            let named = fs::canonicalize(folder.join(named)).unwrap();
            assert!(named.ends_with(format!("docs/schema/{file}.schema.json")), "{path:?}");
            let value = toml::from_str::<Value>(&text).unwrap();
            assert_eq!(wrong(&published(file), &value), None, "{path:?}");
            count += 1;
        }
    }
    assert_eq!(count, presets::DRIVES.len() + vpass_workload::presets::names().count());
}

#[test]
fn the_schema_accepts_what_is_in_range_and_rejects_what_is_not() {
    let mut rejected = 0;
    for key in all() {
        let schema = schema(key.file);
        let with = |value: &toml::Value| {
            let (mut file, path) = base(&key.path);
            let (last, tables) = path.split_last().expect("a key has parts");
            let table = tables.iter().fold(&mut file, |table, name| inner(table, name));
            table.insert((*last).into(), value.clone());
            serde_json::to_value(file).expect("TOML has a form in JSON")
        };
        let (good, bad, _) = borders(&key);
        for value in good {
            assert_eq!(wrong(&schema, &with(&value)), None, "{} = {value}", key.path);
        }
        // Some keys have wrong examples that break rules which a schema can only describe in words.
        // Keys with such examples are skipped.
        if !EXAMPLES.contains_key(&key.path) {
            for value in bad {
                let what = wrong(&schema, &with(&value));
                assert!(what.is_some(), "{} = {value} is accepted", key.path);
                rejected += 1;
            }
        }
    }
    assert!(rejected > 300, "{rejected}");
}

#[test]
fn texts_of_sizes_times_and_counts_have_a_form() {
    let drive = |text: &str| {
        let tiny = presets::drive("tiny").unwrap();
        let mut file = toml::from_str::<toml::Table>(tiny).unwrap();
        let more = toml::from_str::<toml::Table>(text).unwrap();
        for (name, table) in more {
            inner(&mut file, &name).extend(table.as_table().unwrap().clone());
        }
        wrong(&json_schema::drive(), &serde_json::to_value(file).unwrap()).is_none()
    };
    for good in [
        "[drive]\ncapacity = '1.5 GiB'",
        "[drive]\ncapacity = '4k'",
        "[start]\nage = '22.4h'",
        "[start]\nage = '0'",
        "[start]\npec = '1.5k'",
        "[reclaim]\ncheck_interval = '1k'",
    ] {
        assert!(drive(good), "{good}");
    }
    for bad in [
        "[drive]\ncapacity = 'lots'",
        "[drive]\ncapacity = '4x'",
        "[start]\nage = '30'",
        "[start]\nage = 30",
        "[start]\npec = '1KiB'",
        "[start]\npek = 1",
        "[reclaim.block]\nno = 1",
        "[geometry]\ncell = 'plc'",
    ] {
        assert!(!drive(bad), "{bad}");
    }
}
