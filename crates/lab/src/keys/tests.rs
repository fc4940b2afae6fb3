//! Tests that vpass accepts and refuses exactly the values that the declared keys allow.

use toml::{Table, Value};
use vpass_drive::config::DriveConfig;
use vpass_workload::model::{ModelFile, ModelSource};
use vpass_workload::parts::{PartsFile, PartsSource};
use vpass_workload::phases::{PhasesFile, PhasesSource};
use vpass_workload::stripes::StripesSource;
use vpass_workload::synthetic::{SyntheticSource, WorkloadFile};

use super::*;
use examples::EXAMPLES;

mod examples;
mod schema;

const GIB: u64 = 1 << 30;

#[test]
fn every_key_has_a_meaning_and_a_range() {
    let keys = all();
    let silent: Vec<_> =
        keys.iter().filter(|k| k.meaning.is_empty()).map(|k| k.path.as_str()).collect();
    assert!(silent.is_empty(), "without a meaning: {silent:?}");
    let open: Vec<_> =
        keys.iter().filter(|k| k.range.is_empty()).map(|k| k.path.as_str()).collect();
    assert!(open.is_empty(), "without a range: {open:?}");
    let gone = EXAMPLES.keys().filter(|key| !keys.iter().any(|k| k.path == **key));
    let gone: Vec<_> = gone.collect();
    assert!(gone.is_empty(), "in keys/tests/examples.toml, but no key: {gone:?}");
    assert!(keys.len() > 100, "{}", keys.len());
}

#[test]
fn exactly_the_required_keys_are_missed() {
    for key in all() {
        let (mut file, path) = base(&key.path);
        let (last, tables) = path.split_last().expect("a key has parts");
        let table = tables.iter().fold(&mut file, |table, name| inner(table, name));
        table.remove(*last);
        let missed = read(&key, file)
            .err()
            .is_some_and(|e| e.contains("missing field") && e.contains(&format!("`{last}`")));
        assert_eq!(missed, key.required, "{}", key.path);
    }
}

#[test]
fn defaults_are_those_of_the_code() {
    let of = |key: &str| all().into_iter().find(|k| k.path == key).unwrap().default;
    assert_eq!(of("gc.background"), Some(Value::Float(0.25)));
    assert_eq!(of("timing.suspend_limit"), Some(Value::Integer(8)));
    assert_eq!(of("drive.write_buffer"), Some(Value::String("4MiB".into())));
    assert_eq!(of("workload.requests"), Some(Value::Integer(10_000_000)));
    assert_eq!([of("drive.capacity"), of("geometry.channels")], [None, None]);
    // A file that sets a key to its declared default equals a file that does not set the key.
    for key in all() {
        let Some(default) = key.default.clone() else { continue };
        let (mut without, path) = base(&key.path);
        let mut with = without.clone();
        let (last, tables) = path.split_last().expect("a key has parts");
        tables.iter().fold(&mut without, |table, name| inner(table, name)).remove(*last);
        tables
            .iter()
            .fold(&mut with, |table, name| inner(table, name))
            .insert((*last).into(), default);
        assert_eq!(read(&key, with), read(&key, without), "{}", key.path);
    }
}

#[test]
fn ranges_are_what_the_checks_refuse() {
    for key in all() {
        let is_word = range(&key.path) == Some(Range::OfType);
        let (key, (good, bad, exact)) = (key.path.as_str(), borders(&key));
        for value in good {
            let about = |e: &String| exact || is_about(key, is_word, e);
            let refused = check(key, value.clone()).err().filter(about);
            assert_eq!(refused, None, "{key} = {value}");
        }
        for value in bad {
            let refused =
                check(key, value.clone()).expect_err(&format!("{key} = {value} is refused"));
            let last = key.rsplit('.').next().unwrap();
            let is_named = refused.contains(last.trim_end_matches('s'));
            assert!(is_named || refused.contains("expected"), "{key} = {value}: {refused}");
        }
    }
}

/// Returns values just inside and values just outside the range of a key. The last item tells
/// whether vpass must accept the inner values even without other keys.
fn borders(key: &Key) -> (Vec<Value>, Vec<Value>, bool) {
    let typed = |texts: &[String]| texts.iter().map(|text| value_of(text)).collect::<Vec<_>>();
    if let Some(examples) = EXAMPLES.get(&key.path) {
        return (typed(&examples.good), typed(&examples.wrong), true);
    }
    let range = range(&key.path).expect("every key has a range");
    let whole = |n: u64| i64::try_from(n).map(Value::Integer).ok();
    let reals = |numbers: &[f64]| numbers.iter().map(|n| Value::Float(*n)).collect::<Vec<_>>();
    let sizes = |sizes: &[u64]| sizes.iter().copied().filter_map(whole).collect::<Vec<_>>();
    let word = || Value::String("nonsense".into());
    let (good, bad) = match range {
        Range::Whole(low, high) => {
            let last = whole(high).unwrap_or(Value::Integer(i64::MAX));
            (
                vec![Value::Integer(low.cast_signed()), last],
                [Some(Value::Integer(low.cast_signed() - 1)), whole(high.saturating_add(1))]
                    .into_iter()
                    .flatten()
                    .chain([word()])
                    .collect(),
            )
        }
        Range::Real(low, high) | Range::Rate(low, high) => {
            (reals(&[low, high]), reals(&[low - 0.1 * low.max(1e-9), high * 1.001]))
        }
        Range::Above(low, high) => (reals(&[low + 0.01, high]), reals(&[low, high * 1.001])),
        Range::ZeroOr(low, high) => {
            (reals(&[0.0, low, high]), reals(&[-1.0, low * 0.999, high * 1.001]))
        }
        Range::Size(low, high) => {
            let below = Value::Integer(low.cast_signed() - 1);
            (sizes(&[low, high]), [below, word()].into_iter().chain(sizes(&[high + 1])).collect())
        }
        Range::PowerOfTwo(low, high) => (sizes(&[low, high]), sizes(&[low / 2, high * 2, 3 * low])),
        Range::Multiple(step, most) => (sizes(&[step, most]), sizes(&[0, step + 1, most + step])),
        Range::OfType if key.range == "true, false" => {
            (vec![Value::Boolean(true), Value::Boolean(false)], vec![Value::Integer(1)])
        }
        Range::OfType => {
            let words = key.range.split(", ").map(|word| Value::String(word.into()));
            (words.collect(), vec![word()])
        }
        Range::Time(_) | Range::Words(_) => {
            panic!("{} = {}: no example in keys/tests/examples.toml", key.path, key.range)
        }
    };
    (good, bad, false)
}

/// Returns whether a refusal is about the value of this key. A refusal could also be about another
/// key that this key requires.
fn is_about(key: &str, is_word: bool, refusal: &str) -> bool {
    if is_word {
        return refusal.contains("expected");
    }
    refusal.contains(&format!("{key} = "))
        || refusal.contains("expected")
        || refusal.contains("is outside")
}

fn value_of(text: &str) -> Value {
    let table = toml::from_str::<Table>(&format!("value = {text}")).ok();
    table.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.into()))
}

/// Returns a file without contradictions that has every table in the path of a key. Also returns
/// the parts of the path.
fn base(key: &str) -> (Table, Vec<&str>) {
    let path: Vec<_> = key.split('.').collect();
    let text = match path[..] {
        ["workload", "phase", ..] => "[workload]\n[[workload.phase]]\nrequests = 1\npages = [0]",
        ["workload", "part", "hot_sets"] => {
            "[workload]\n[[workload.part]]\nrate = 1\ndistribution = 'hot-cold:0.1/0.9'\n\
             write_distribution = 'hot-cold:0.1/0.9'"
        }
        ["workload", "part", ..] => "[workload]\n[[workload.part]]\nrate = 1",
        ["workload", "block_sizes", _] => "[workload]\nblock_sizes = [{size = '4KiB', share = 1}]",
        ["workload", "model", ..] => {
            "[workload.model]\nsize = '2GiB'\nexpert = '1MiB'\nactive = 8\ntokens_per_second = 1"
        }
        ["workload", "stripes", ..] => "[workload]\n[workload.stripes]",
        ["workload", "arrivals" | "hours_per_day"] => "[workload]\nrate = 1",
        ["workload", "hot_sets"] => {
            "[workload]\ndistribution = 'hot-cold:0.1/0.9'\nwrite_distribution = 'hot-cold:0.1/0.9'"
        }
        ["workload", ..] => "[workload]",
        ["bch", ..] => crate::presets::drive("da-raid5-mlc").unwrap(),
        _ => crate::presets::drive("tiny").unwrap(),
    };
    let mut file = toml::from_str::<Table>(text).unwrap();
    file.remove("description");
    if let ["error", "table", _] = path[..] {
        let rows = "ages = ['1h']\n\
                    table = [{pec = 0, base = [0, 0, 0, 0], retention = [[0], [0], [0], [0]]}]";
        file.insert("error".into(), Value::Table(toml::from_str(rows).unwrap()));
    }
    if let ["timing", "erase_by_pec", _] = path[..] {
        let rows: Table = toml::from_str("erase_by_pec = [{pec = 0, us = 1}]").unwrap();
        inner(&mut file, "timing").extend(rows);
    }
    // The value of `parity.hc.n_update` must not exceed the number of pages in a stripe.
    if key == "parity.hc.n_update" {
        inner(&mut file, "parity").insert("stripe".into(), Value::Integer(64));
    }
    // A given capacity would contradict the number of blocks.
    if key == "geometry.blocks_per_plane" {
        inner(&mut file, "drive").remove("capacity");
    }
    (file, path)
}

/// Returns an inner table. For a list of inner tables, returns the first table of the list.
fn inner<'a>(table: &'a mut Table, name: &str) -> &'a mut Table {
    match table.entry(name).or_insert_with(|| Value::Table(Table::new())) {
        Value::Table(table) => table,
        Value::Array(rows) => rows[0].as_table_mut().unwrap(),
        other => panic!("{name} = {other} holds no table"),
    }
}

/// Reads and checks a file in which the key has this value.
fn check(key: &str, value: Value) -> Result<(), String> {
    let (mut file, path) = base(key);
    let (last, tables) = path.split_last().expect("a key has parts");
    tables.iter().fold(&mut file, |table, name| inner(table, name)).insert((*last).into(), value);
    let words = |e: toml::de::Error| e.to_string();
    if path[..2] == ["workload", "phase"] {
        let file = file.try_into::<PhasesFile>().map_err(words)?;
        PhasesSource::new(&file.workload, GIB, 16_384, 1).map(drop).map_err(|e| e.to_string())
    } else if path[..2] == ["workload", "part"] {
        let file = file.try_into::<PartsFile>().map_err(words)?;
        PartsSource::new(&file.workload, GIB, 16_384, 1).map(drop).map_err(|e| e.to_string())
    } else if path[..2] == ["workload", "model"] {
        let file = file.try_into::<ModelFile>().map_err(words)?;
        ModelSource::new(&file.workload, 16 * GIB, 16_384, 1).map(drop).map_err(|e| e.to_string())
    } else if path[..2] == ["workload", "stripes"] {
        let file = file.try_into::<WorkloadFile>().map_err(words)?;
        StripesSource::new(&file.workload, 16 * GIB, 16_384, 1).map(drop).map_err(|e| e.to_string())
    } else if path[0] == "workload" {
        let file = file.try_into::<WorkloadFile>().map_err(words)?;
        SyntheticSource::new(&file.workload, GIB, 16_384, 1).map(drop).map_err(|e| e.to_string())
    } else {
        let config = file.try_into::<DriveConfig>().map_err(words)?;
        vpass_techniques::resolve(config).map(drop).map_err(|e| e.to_string())
    }
}

/// Reads a file, and returns its content in a form in which every difference is visible.
fn read(key: &Key, file: Table) -> Result<String, String> {
    let words = |e: toml::de::Error| e.to_string();
    if key.file == "drive" {
        let config = file.try_into::<DriveConfig>().map_err(words)?;
        let resolved = vpass_techniques::resolve(config).map_err(|e| e.to_string())?;
        Ok(format!("{resolved:?}"))
    } else if key.path.starts_with("workload.phase") {
        file.try_into::<PhasesFile>().map(|c| format!("{c:?}")).map_err(words)
    } else if key.path.starts_with("workload.part") {
        file.try_into::<PartsFile>().map(|c| format!("{c:?}")).map_err(words)
    } else if key.path.starts_with("workload.model") {
        file.try_into::<ModelFile>().map(|c| format!("{c:?}")).map_err(words)
    } else {
        file.try_into::<WorkloadFile>().map(|c| format!("{c:?}")).map_err(words)
    }
}
