//! Tests of reading files, applying overrides, and reporting failures.

use vpass_drive::base::phrase::Neutral;

use super::*;

#[test]
fn every_preset_reads_and_resolves() {
    for (name, _) in presets::DRIVES {
        let loaded = drive(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!loaded.config.description.is_empty(), "{name}");
    }
}

#[test]
fn overrides_go_where_they_belong() {
    let sets = overrides(&["start.pec=7".into(), "workload.requests=3".into()]).unwrap();
    assert_eq!(drive("tiny", &sets).unwrap().config.start.pec, 7);
    let Generated::Workload(file) = workload("zipf-read", &sets, None).unwrap().config else {
        panic!("a preset of that kind")
    };
    assert_eq!(file.workload.requests, 3);
}

#[test]
fn a_wrong_value_in_a_file_carries_key_value_place_and_remedy() {
    let tiny = presets::drive("tiny").unwrap().replace("\nchannels = 2", "\nchannels = 'two'");
    let line = 1 + tiny.lines().position(|line| line.starts_with("channels = 'two'")).unwrap();
    let failure = parse("d.toml", &tiny, schema::DRIVE).unwrap_err();
    let entry = failure.entry().unwrap();
    assert_eq!((&*entry.key, entry.value.as_deref()), ("geometry.channels", Some("\"two\"")));
    assert_eq!(failure.place_in(&Neutral), Some(format!("d.toml line {line}")));
    let remedy = failure.remedy_in(&Neutral).unwrap();
    assert_eq!(remedy, "it must be a whole number, 1 to 256");
    assert_eq!(
        failure.to_string(),
        format!("d.toml line {line}: geometry.channels is \"two\"; {remedy}")
    );
}

#[test]
fn a_value_that_its_key_can_never_take_is_found() {
    let said = |key: &str, value: &str| {
        require_possible(key, value, "s.toml").map_or_else(|e| e.to_string(), |()| String::new())
    };
    for (key, value, wrong) in [
        ("start.pec", "abc", "start.pec is \"abc\"; it must be a number such as"),
        ("workload.requests", "many", "workload.requests is \"many\"; it must be a number such as"),
        ("start.pec", "1.5", "start.pec is 1.5; it must be a whole number, 0 to 1000000"),
        ("workload.model.cache", "[1]", "workload.model.cache is a list; it must be "),
        ("reclaim.tiered.layer_sets", "two", "reclaim.tiered.layer_sets is \"two\"; it must be a"),
        ("reclaim.counters", "1.5", "reclaim.counters is 1.5; it must be a whole number, "),
    ] {
        let found = said(key, value);
        assert!(found.starts_with(&format!("s.toml: {wrong}")), "{found}");
    }
    assert!(said("start.pecc", "1").starts_with("unknown key `start.pecc` in s.toml: "));
    // These values may be wrong together with other keys, but not by their type.
    for (key, value) in [
        ("drive.spare", "0.0001"),
        ("drive.capacity", "16GiB"),
        ("workload.requests", "1M"),
        ("timing.sense_us", "[40, 60, 90]"),
        ("reclaim.counters", "16"),
        ("workload.queue_depth", ""),
    ] {
        assert_eq!(said(key, value), "", "{key}");
    }
}
