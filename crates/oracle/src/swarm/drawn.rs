//! Digests of drawn cases, before any run. If a change must not affect random cases, no digest may
//! change. Keys at their defaults do not count, so a new key changes no digest.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toml::Value;
use vpass_drive::config::DriveConfig;

/// Keys that a drive file must have. All other keys have defaults.
const LEAST: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 1, wordlines_per_block = 1, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 1, program_us = 1, erase_us = 1, channel_mb_s = 1 }
"#;

static DEFAULTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| keys(&least()));

/// Returns a drive whose keys are at their defaults.
pub(super) fn least() -> DriveConfig {
    toml::from_str(LEAST).expect("these keys are all that a drive needs")
}

/// A digest (FNV-1a, 64 bits) of texts and other digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// Adds the digest of a case.
    #[must_use]
    pub fn and(self, case: u64) -> Self {
        self.bytes(&case.to_le_bytes())
    }

    /// Adds a text with an end mark.
    #[must_use]
    pub(super) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).bytes(&[0])
    }

    /// Adds the keys of a drive that are not at their defaults.
    #[must_use]
    pub(super) fn config(self, config: &DriveConfig) -> Self {
        let keys = keys(config);
        let own = keys.iter().filter(|(key, value)| DEFAULTS.get(*key) != Some(value));
        // The ranges of the host's hints are not part of a drive file.
        own.fold(self, |digest, (key, value)| digest.text(key).text(value))
            .text(&format!("{:?}", config.hints.said))
    }

    /// Returns the value.
    pub fn value(self) -> u64 {
        self.0
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        Self(
            bytes.iter().fold(self.0, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
            }),
        )
    }
}

/// Returns the values of a drive's keys.
fn keys(config: &DriveConfig) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let value = Value::try_from(config).expect("a drive is written as it is read");
    descend(String::new(), &value, &mut keys);
    keys
}

fn descend(path: String, value: &Value, keys: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| descend(format!("{path}.{key}"), value, keys))
        }
        value => _ = keys.insert(path, value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::Case;
    use crate::swarm::drawing::Drawn;
    use crate::swarm::lost_die::LostDieCase;
    use vpass_drive::base::units::Bytes;
    use vpass_techniques::all;

    #[test]
    fn each_changed_key_moves_a_digest_and_defaults_do_not_count() {
        let of = |config: &DriveConfig| Digest::default().config(config);
        let changes: [fn(&mut DriveConfig); 5] = [
            |c| c.geometry.channels = 2,
            |c| c.start.fill = 0.5,
            |c| c.drive.capacity = Some(Bytes(1 << 30)),
            |c| c.hints.said = Some(vec![]),
            |c| c.reclaim.late_reads = Some(7),
        ];
        let mut seen = vec![of(&least())];
        for change in changes {
            let mut config = least();
            change(&mut config);
            assert!(!seen.contains(&of(&config)), "{config:?}");
            seen.push(of(&config));
        }
        // A drive with all defaults adds no key.
        assert_eq!(seen[0], Digest::default().text("None"));
    }

    #[test]
    fn a_case_has_a_digest_of_its_own_which_is_the_same_again() {
        let digests: Vec<_> = (1..=200).map(|case| Case::new(case).digest()).collect();
        let again: Vec<_> = (1..=200).map(|case| Case::new(case).digest()).collect();
        assert_eq!(digests, again);
        let failing = (1..=200).map(|case| Case::new(case).failing().digest());
        let losing = (1..=200).map(|seed| LostDieCase { seed, by_wear: false }.digest());
        let mut all: Vec<_> = digests.into_iter().chain(failing).chain(losing).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 600);
    }

    #[test]
    fn a_named_gc_policy_serves_each_case_and_changes_nothing_else() {
        for gc in all().gc {
            for seed in 1..=200 {
                let drawn = Case::new(seed).cleaned(gc).draw().expect("a drive");
                assert_eq!(drawn.techniques.gc.name, gc.name);
                let mut own = Case::new(seed).draw().expect("a drive");
                own.techniques.gc = gc;
                assert_eq!(own.digest(), drawn.digest(), "{seed} {}", gc.name);
            }
        }
    }

    #[test]
    fn a_draw_that_changes_moves_the_digest_of_its_case() {
        let case = Case::new(5);
        let drawn = case.draw().expect("a drive");
        let of = |change: &dyn Fn(&mut Drawn)| {
            let mut drawn = case.draw().expect("a drive");
            change(&mut drawn);
            drawn.digest()
        };
        assert_eq!(of(&|_| {}), drawn.digest());
        let changes: [&dyn Fn(&mut Drawn); 7] = [
            &|d| d.config.start.pec += 1,
            &|d| d.timed = !d.timed,
            &|d| {
                let other = all().gc.iter().find(|gc| **gc != *d.techniques.gc);
                d.techniques.gc = other.expect("there are several");
            },
            &|d| d.longest += 1,
            &|d| d.lives += 1,
            &|d| d.warms_up = !d.warms_up,
            // Random numbers of the run.
            &|d| _ = d.dice.next(),
        ];
        for (n, change) in changes.into_iter().enumerate() {
            assert_ne!(of(change), drawn.digest(), "change {n}");
        }
    }
}
