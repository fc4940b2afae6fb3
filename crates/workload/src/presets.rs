//! Workload files that come with vpass, by name. Each file states the source of its numbers.

const PRESETS: [(&str, &str); 12] = [
    ("da-raid5-financial", include_str!("../../../presets/workloads/da-raid5-financial.toml")),
    ("da-raid5-rhel", include_str!("../../../presets/workloads/da-raid5-rhel.toml")),
    ("da-raid5-tpcc", include_str!("../../../presets/workloads/da-raid5-tpcc.toml")),
    ("da-raid5-websearch", include_str!("../../../presets/workloads/da-raid5-websearch.toml")),
    ("da-raid5-win7", include_str!("../../../presets/workloads/da-raid5-win7.toml")),
    ("hot-cold", include_str!("../../../presets/workloads/hot-cold.toml")),
    ("llm-dense-70b", include_str!("../../../presets/workloads/llm-dense-70b.toml")),
    ("llm-moe-744b", include_str!("../../../presets/workloads/llm-moe-744b.toml")),
    ("random-70-30", include_str!("../../../presets/workloads/random-70-30.toml")),
    ("sequential-read", include_str!("../../../presets/workloads/sequential-read.toml")),
    ("uniform-read", include_str!("../../../presets/workloads/uniform-read.toml")),
    ("zipf-read", include_str!("../../../presets/workloads/zipf-read.toml")),
];

/// Returns the text of the workload file with the given name, if vpass has it.
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| without_schema(text))
}

/// Returns the text of a preset workload file without its first line. The first line contains the
/// path of a schema, and this path exists only inside the repository.
pub fn without_schema(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("#:schema ") => rest,
        _ => text,
    }
}

/// Returns the names of all preset workloads, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ModelFile, ModelLaw};
    use crate::stripes::StripesSource;
    use crate::synthetic::{SyntheticSource, WorkloadFile};

    #[test]
    fn every_preset_runs_and_says_what_it_is() {
        for name in names() {
            if let Ok(file) = ModelFile::parse(preset(name).unwrap()) {
                assert!(!file.description.is_empty(), "{name}");
                assert!(ModelLaw::new(&file.workload, 1 << 40, 16384, 1).is_ok(), "{name}");
                continue;
            }
            let file = WorkloadFile::parse(preset(name).unwrap()).unwrap();
            assert!(!file.description.is_empty(), "{name}");
            let runs = match file.workload.stripes {
                None => SyntheticSource::new(&file.workload, 1 << 36, 16384, 1).is_ok(),
                Some(_) => StripesSource::new(&file.workload, 1 << 36, 16384, 1).is_ok(),
            };
            assert!(runs, "{name}");
        }
        assert!(names().is_sorted());
        assert_eq!(preset("uniform"), None);
    }
}
