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
fn complaints_about_a_file_name_its_key_and_table() {
    let said = |text: &str| {
        let error = toml::from_str::<DriveConfig>(text).unwrap_err();
        complaint_of(schema::DRIVE, "d.toml", text, &error).to_string()
    };
    assert_eq!(said("[drive]\n[start]\npec = 1\npec = 2\n"), "d.toml line 4: duplicate key `pec`");
    let tiny = presets::drive("tiny").unwrap();
    let without = tiny.replace("\nchannels = ", "\n# channels = ");
    assert_ne!(without, tiny);
    assert!(
        said(&without)
            .ends_with(": geometry.channels is missing; it must be a whole number, 1 to 256"),
        "{}",
        said(&without)
    );
    let row = format!("{tiny}\n[[disturb.row]]\n");
    assert_eq!(table_at(&row, row.len() - 3), Some("[[disturb.row]]"));
    assert_eq!(table_at("a = 1", 2), None);
}

#[test]
fn a_key_of_files_only_is_said_to_be_one() {
    let said = |text: &str| overrides(&[text.into()]).unwrap_err().to_string();
    let only = |table: &str, file: &str| {
        format!(
            "keys of `{table}` belong in {file} files only; `vpass show {file} NAME` prints a file \
             to start from"
        )
    };
    assert_eq!(
        said("workload.stripes.recent_share=0.5"),
        format!(
            "`set` does not take `workload.stripes.recent_share`: {}",
            only("workload.stripes", "workload")
        )
    );
    assert_eq!(
        said("disturb.table.limit=[1]"),
        format!("`set` does not take `disturb.table.limit`: {}", only("disturb.table", "drive"))
    );
    assert_eq!(
        said("workload.stripes.recent_shar=0.5"),
        format!(
            "unknown key `workload.stripes.recent_shar` in `set`; did you mean \
             `workload.stripes.recent_share`: {}",
            only("workload.stripes", "workload")
        )
    );
    assert!(
        said("workload.phase.pages=[1]")
            .contains("keys of `workload.phase` belong in workload files only")
    );
    assert_eq!(
        said("workload.stripe.recent_share=0.5"),
        "unknown key `workload.stripe.recent_share` in `set`: did you mean \
         `workload.stripes.recent_share`?"
    );
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

#[test]
fn a_wrong_override_is_named() {
    let sentence = |text: &str| {
        let sets = overrides(&[text.into()]);
        sets.and_then(|sets| drive("tiny", &sets)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(sentence("geometry.chanels=4").contains("did you mean `geometry.channels`?"));
    assert!(sentence("capacity=4GiB").contains("did you mean `drive.capacity`?"));
    assert!(
        sentence("model=count")
            .ends_with("did you mean `disturb.model`, `error.model` or `workload.model`?")
    );
    assert!(sentence("geometry.channels=four").starts_with("`geometry.channels=four`: "));
    for (set, wrong) in [
        ("geometry.channels=-1", "-1; it must be a whole number, 1 to 256"),
        ("start.pec=1.5", "1.5; it must be a whole number, 0 to 1000000 (P/E cycles)"),
        ("start.pec=5000000000", "5000000000; it must be a whole number, 0 to 1000000 (P/E"),
        ("geometry.cell=3", "3; it must be one of slc, mlc, tlc, tlc-2-3-2, qlc"),
        ("geometry.cell=tlx", "\"tlx\"; it must be one of slc, mlc, tlc, tlc-2-3-2, qlc; did"),
        ("gc.background=much", "\"much\"; it must be a number, 0 to 1"),
        ("timing.suspend=1", "1; it must be true or false"),
        ("timing.sense_us=[1, true, 3]", "true; it must be a number, 0.001 to 100000; a list"),
        ("error.ages=1", "1; it must be a list, above 0 to 10y, ascending"),
        ("drive.capacity=lots", "\"lots\"; it must be a size such as \"16KiB\" or a number of"),
        ("start.age=30", "30; it must be a time with a unit such as \"22.4h\", \"30d\""),
        ("disturb.table=1", "1; it must be a list of tables"),
        ("disturb.table=[{pec = 0, limit = [true]}]", "true; it must be a number, 1 to 2e7"),
    ] {
        let said = sentence(set);
        let key = set.split_once('=').unwrap().0;
        let of_row = if set.contains("limit") { ".limit" } else { "" };
        let expected = format!("`{set}`: {key}{of_row} is {wrong}");
        assert!(said.starts_with(&expected), "{said}");
    }
    assert!(sentence("geometry.channels=0").contains("geometry.channels = 0 is outside 1 to 256"));
}
