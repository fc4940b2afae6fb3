//! Checks the given parameters against the cards, and refuses unknown keys and wrong numbers. After
//! the check, each parameter has a number under its own key. If all techniques that share an alias
//! have the same number, the alias has this number too.
//!
//! ```text
//! given                                          settled
//! [reclaim] counters = 16                        the same, and counters = 16 for straw-ss, straw-ss-published and straw-ss-sound
//! [reclaim.straw-ss] counters = 16               16 for straw-ss, the default for the other two, no number under the alias
//! both, with different numbers                   refused
//! ```

use vpass_drive::api::card::{About, Kind, Param};
use vpass_drive::config::{ConfigError, DriveConfig, Given, Number, Params};

use crate::slots::{SLOTS, Slot};

/// Checks every table of a drive file, and fills in missing values that follow from other keys.
/// Such values are the capacity, `blocks_per_plane`, the spare share, and parameters of techniques.
///
/// # Errors
/// Returns the first error, which names the wrong key.
pub fn resolve(config: DriveConfig) -> Result<DriveConfig, ConfigError> {
    let mut config = config.resolve()?;
    for slot in SLOTS {
        let params = (slot.given)(&mut config);
        for settles in (slot.cards)().iter().filter_map(|about| about.settles) {
            settles(params)?;
        }
        slot.settle(params)?;
    }
    Ok(config)
}

impl Slot {
    fn settle(&self, params: &mut Params) -> Result<(), ConfigError> {
        let cards = (self.cards)();
        for given in params.iter() {
            let (path, param) = (self.path(given), self.named(&cards, given));
            let param = param.ok_or_else(|| {
                ConfigError::new(format!("unknown key `{path}`{}", self.known(&cards, given)))
            })?;
            check(param, &path, given.number)?;
        }
        let mut settled = Params::default();
        for alias in self.aliases() {
            if let Some(number) = self.common(params, alias)? {
                settled.set(None, alias, number);
            }
        }
        for (about, param) in self.params() {
            settled.set(Some(about.name), param.key, param.number(param.value(params, about.name)));
        }
        *params = settled;
        Ok(())
    }

    /// Returns the parameter with this key or alias.
    fn named(&self, cards: &[&'static About], given: Given) -> Option<&'static Param> {
        match given.technique {
            Some(name) => cards
                .iter()
                .find(|about| about.name == name)?
                .params
                .iter()
                .find(|param| param.key == given.key),
            None => self.sharing(given.key).next().map(|(_, param)| param),
        }
    }

    /// Returns the number of an alias; `None` if the techniques that share the alias have different
    /// numbers.
    fn common(&self, params: &Params, alias: &str) -> Result<Option<Number>, ConfigError> {
        if let Some(number) = params.get(None, alias) {
            let other = |(about, param): (&About, &Param)| {
                let own =
                    params.get(Some(about.name), param.key).filter(|own| !own.is_same(number));
                own.map(|own| format!("{}.{}.{} = {own}", self.table, about.name, param.key))
            };
            if let Some(own) = self.sharing(alias).find_map(other) {
                return Err(ConfigError::new(format!(
                    "{}.{alias} = {number} and {own} contradict each other; give only one of these \
                     two keys, or the same number for both",
                    self.table
                )));
            }
        }
        let mut numbers =
            self.sharing(alias).map(|(about, param)| param.number(param.value(params, about.name)));
        let first = numbers.next();
        Ok(first.filter(|first| numbers.all(|number| number == *first)))
    }

    /// Returns a key in the form that `--set` accepts, such as `reclaim.counters`.
    fn path(&self, given: Given) -> String {
        match given.technique {
            Some(technique) => format!("{}.{technique}.{}", self.table, given.key),
            None => format!("{}.{}", self.table, given.key),
        }
    }

    /// Returns the keys that would be valid in place of an unknown key.
    fn known(&self, cards: &[&About], given: Given) -> String {
        let technique =
            given.technique.and_then(|name| cards.iter().find(|about| about.name == name));
        let keys: Vec<&str> = match (technique, given.technique) {
            (Some(about), _) => about.params.iter().map(|param| param.key).collect(),
            (None, Some(_)) => cards.iter().map(|about| about.name).collect(),
            (None, None) => self.aliases(),
        };
        if keys.is_empty() {
            "; there are no keys here".into()
        } else {
            format!("; known are {}", keys.join(", "))
        }
    }
}

fn check(param: &Param, path: &str, number: Number) -> Result<(), ConfigError> {
    let ((low, high), value) = (param.range, number.value());
    if param.kind == Kind::Whole && matches!(number, Number::Real(_)) {
        return Err(ConfigError::new(format!(
            "{path} = {number}: it must be a whole number between {low} and {high}"
        )));
    }
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(format!("{path} = {number} is outside {low} to {high}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card;
    use vpass_drive::api::reclaim::{COUNTERS, Policy, Technique};

    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 3, cell = "slc", page_size = 512 }
        timing = { sense_us = 1, program_us = 1, erase_us = 1, channel_mb_s = 1 }
        drive = { spare = 0.5 }
    "#;

    fn read(tables: &str) -> DriveConfig {
        toml::from_str(&format!("{DRIVE}\n{tables}")).unwrap()
    }

    /// Returns the counters of the techniques that have any, and the number under their alias.
    fn counters(tables: &str) -> (Vec<u32>, Option<Number>) {
        let config = resolve(read(tables)).unwrap();
        let of = |name| card::<dyn Policy>(name).args(&config).whole(&COUNTERS);
        (
            ["straw-ss", "straw-ss-published", "straw-ss-sound"].map(of).to_vec(),
            config.reclaim.params.get(None, "counters"),
        )
    }

    fn refusal(tables: &str) -> String {
        resolve(read(tables)).unwrap_err().to_string()
    }

    #[test]
    fn an_alias_stands_for_all_that_share_it() {
        assert_eq!(counters(""), (vec![32, 32, 32], Some(Number::Whole(32))));
        assert_eq!(
            counters("reclaim = { counters = 16 }"),
            (vec![16, 16, 16], Some(Number::Whole(16)))
        );
        assert_eq!(counters("[reclaim.straw-ss]\ncounters = 16"), (vec![16, 32, 32], None));
        assert_eq!(
            counters("[reclaim]\ncounters = 16\n[reclaim.straw-ss]\ncounters = 16"),
            (vec![16, 16, 16], Some(Number::Whole(16)))
        );
        assert_eq!(
            refusal("[reclaim]\ncounters = 16\n[reclaim.straw-ss]\ncounters = 8"),
            "reclaim.counters = 16 and reclaim.straw-ss.counters = 8 contradict each other; give \
             only one of these two keys, or the same number for both"
        );
    }

    /// A resolved configuration does not change if it is written to a file, read and resolved
    /// again.
    #[test]
    fn a_settled_drive_reads_as_it_is_written() {
        for tables in [
            "",
            "[reclaim.straw-ss]\ncounters = 16",
            "reclaim = { layer_sets = 1 }\ngc = { stable_slack = 1 }",
        ] {
            let config = resolve(read(tables)).unwrap();
            let again: DriveConfig = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
            assert_eq!((&again, &resolve(again.clone()).unwrap()), (&config, &config), "{tables}");
        }
    }

    #[test]
    fn one_technique_is_set_apart() {
        let mut config = resolve(read("")).unwrap();
        let (one, other): (&Technique, &Technique) = (card("straw-ss"), card("straw-ss-sound"));
        assert_eq!(one.path(&config, &COUNTERS), "reclaim.counters");
        one.set(&mut config, &COUNTERS, 8.0);
        assert_eq!(
            (one.args(&config).whole(&COUNTERS), other.args(&config).whole(&COUNTERS)),
            (8, 32)
        );
        assert_eq!(one.path(&config, &COUNTERS), "reclaim.straw-ss.counters");
    }
}
