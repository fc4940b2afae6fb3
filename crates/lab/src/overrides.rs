//! Overrides (`--set KEY=VALUE`): values that replace the values of a file. Some overrides also
//! change the size of the drive.
//!
//! Capacity, geometry and spare depend on each other. This table shows which of these values vpass
//! computes again after an override:
//!
//! ```text
//! the user sets                     keeps its value                   is computed
//! blocks_per_plane, not capacity    share of spare                    capacity
//! capacity and blocks_per_plane     -                                 spare
//! other keys of geometry            capacity and share of spare       blocks_per_plane, rounded up
//! capacity or spare                 the other of the two              blocks_per_plane, rounded up
//! ```
//!
//! `--set KEY=` clears a key. Some keys of a workload cannot be used together. If an override sets
//! such a key, vpass ignores the conflicting keys in the workload file.

use toml::{Table, Value};
use vpass_drive::base::phrase::{Opt, Part, set};
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;
use vpass_techniques::{SLOTS, Slot};

use crate::counts;
use crate::failure::Failure;

/// Override from one `--set` option.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    pub(crate) table: String,
    /// Technique whose table contains the key. `None` if the key is not in the table of a
    /// technique.
    pub(crate) technique: Option<String>,
    pub(crate) key: String,
    /// Value of the key; `None` clears the key.
    pub(crate) value: Option<Value>,
    /// Option that gave the value, for error messages. It is either `--set` with its argument, or
    /// another option, such as `--queue-depth`.
    pub said: Part,
}

impl Override {
    /// Reads a setting such as `geometry.channels=4` or `gc.stable-greedy.slack=0.1`. If the key
    /// has no dot, the name of the table is empty. The caller then refuses the key.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        Self::parse_at(text, &Part::Setting(text.into()))
    }

    /// Reads a setting. Error messages name the given place.
    pub(crate) fn parse_at(text: &str, place: &Part) -> Result<Self, Failure> {
        let place = || place.clone();
        let example = || set("drive.capacity", "16GiB");
        let (path, value) = text.split_once('=').ok_or_else(|| {
            Failure::usage(phrase!["KEY=VALUE is expected, for instance ", example()]).at(place())
        })?;
        let path = path.trim();
        let (table, rest) = path.split_once('.').unwrap_or(("", path));
        let (technique, key) = rest
            .split_once('.')
            .map_or((None, rest), |(technique, key)| (Some(technique.trim().to_owned()), key));
        if key.is_empty() {
            let what = phrase!["a key is expected before the `=`, for instance ", example()];
            return Err(Failure::usage(what).at(place()));
        }
        let (table, key, value) = (table.trim(), key.trim(), value.trim());
        let read = || match read_value(value) {
            Value::String(word) => {
                counts::read(path, &word, 0).map(|n| n.map_or(Value::String(word), Value::Integer))
            }
            other => Ok(other),
        };
        let value = if value.is_empty() {
            None
        } else {
            Some(read().map_err(|wrong| wrong.at_place(place()))?)
        };
        Ok(Self { table: table.into(), technique, key: key.into(), value, said: place() })
    }

    /// Returns an override with the same effect as the option `--queue-depth`.
    pub(crate) fn queue_depth(depth: u32) -> Self {
        Self {
            table: "workload".into(),
            technique: None,
            key: "queue_depth".into(),
            value: Some(Value::Integer(depth.into())),
            said: Opt::QueueDepth.to(depth),
        }
    }

    /// Returns true for a key of a workload file, and false for a key of a drive file.
    pub fn is_of_workload(&self) -> bool {
        self.table == "workload"
    }

    /// Applies this override to the tables of a file.
    pub(crate) fn apply(&self, file: &mut Table) {
        let table = match &self.technique {
            None => Some(&mut *file),
            Some(_) => section(file, &self.table),
        };
        let name = self.technique.as_ref().unwrap_or(&self.table);
        match (table, &self.value) {
            (Some(table), Some(value)) => put(table, name, &self.key, value.clone()),
            (Some(table), None) => remove(table, name, &self.key),
            (None, _) => {}
        }
    }
}

/// Keys of a workload. Each key comes with the keys that cannot be used together with it.
const RIVALS: [(&str, &[&str]); 4] = [
    ("rate", &["queue_depth"]),
    ("queue_depth", &["rate", "arrivals"]),
    ("block_size", &["block_sizes"]),
    ("block_sizes", &["block_size"]),
];

/// Removes keys from the tables of a workload: all keys that cannot be used together with an
/// override in `sets`.
///
/// # Errors
/// Returns an error if two overrides set keys that exclude each other.
pub(crate) fn oust_rivals(file: &mut Table, sets: &[Override]) -> Result<(), Failure> {
    let given = |key: &str| {
        sets.iter().find(|s| s.table == "workload" && s.key == key && s.value.is_some())
    };
    for (key, rivals) in RIVALS {
        let Some(set) = given(key) else { continue };
        for rival in rivals {
            match given(rival) {
                Some(other) if *rival == "arrivals" => {
                    return Err(Failure::usage(phrase![
                        other.said.clone(),
                        " needs a rate, but ",
                        set.said.clone(),
                        " makes a closed loop: a request arrives when another completes",
                    ]));
                }
                Some(other) => {
                    return Err(Failure::usage(phrase![
                        set.said.clone(),
                        " and ",
                        other.said.clone(),
                        " exclude each other",
                    ])
                    .with_remedy("give only one of the two"));
                }
                None => remove(file, "workload", rival),
            }
        }
    }
    Ok(())
}

/// Removes aliases from the tables of a drive, if an override sets the parameter of the alias. An
/// alias is a key that sets a parameter of several techniques. An override may set the parameter
/// for only one technique. The other techniques then keep the value of the alias under their own
/// keys.
pub(crate) fn oust_other_names(file: &mut Table, sets: &[Override]) {
    let is_set = |slot: &Slot, technique: Option<&str>, key: &str| {
        sets.iter().any(|s| {
            s.table == slot.table
                && s.technique.as_deref() == technique
                && s.key == key
                && s.value.is_some()
        })
    };
    for slot in SLOTS {
        let Some(table) = file.get_mut(slot.table).and_then(Value::as_table_mut) else { continue };
        for alias in slot.aliases() {
            let is_given = is_set(slot, None, alias);
            let apart =
                slot.sharing(alias).any(|(about, param)| is_set(slot, Some(about.name), param.key));
            let common = if apart && !is_given { table.remove(alias) } else { None };
            for (about, param) in slot.sharing(alias) {
                if let Some(common) = &common {
                    put(table, about.name, param.key, common.clone());
                } else if is_given && has(table, about.name, param.key) {
                    remove(table, about.name, param.key);
                }
            }
        }
    }
}

/// Reads a TOML value. A text that is not TOML becomes a string.
fn read_value(text: &str) -> Value {
    let parsed =
        toml::from_str::<Table>(&format!("value = {text}")).ok().filter(|table| table.len() == 1);
    match parsed.and_then(|mut table| table.remove("value")) {
        // In TOML, 1e6 is a floating-point number. vpass reads 1e6 as the whole number 1,000,000.
        Some(Value::Float(f))
            if f.fract() == 0.0 && f.abs() < 9e15 && text.contains(['e', 'E']) =>
        {
            Value::Integer(f as i64)
        }
        Some(value) => value,
        None => Value::String(text.into()),
    }
}

/// Removes values from the tables of a drive: all values that depend on the keys in `sets` and must
/// be computed again. `resolved` is the drive before the overrides; `None` if that drive is
/// invalid.
pub(crate) fn make_room(file: &mut Table, resolved: Option<&DriveConfig>, sets: &[Override]) {
    let given = |table: &str, key: &str| {
        sets.iter().any(|s| s.table == table && s.key == key && s.value.is_some())
    };
    let (capacity, spare) = (given("drive", "capacity"), given("drive", "spare"));
    let blocks = given("geometry", "blocks_per_plane");
    let Some(resolved) = resolved else {
        // A drive that is invalid without the overrides may become valid with another capacity.
        if capacity && !blocks {
            remove(file, "geometry", "blocks_per_plane");
        }
        return;
    };
    // A slightly smaller share of spare, so that rounding changes neither the capacity nor the
    // number of blocks.
    let same_spare = Value::Float(resolved.drive.spare.map_or(0.0, |spare| spare - 1e-12));
    if capacity && blocks {
        remove(file, "drive", "spare");
    } else if blocks {
        remove(file, "drive", "capacity");
        put(file, "drive", "spare", same_spare);
    } else if capacity || spare || sets.iter().any(|s| s.table == "geometry") {
        if has(file, "geometry", "blocks_per_plane") || !has(file, "drive", "spare") {
            put(file, "drive", "spare", same_spare);
        }
        if let Some(bytes) = resolved.drive.capacity {
            put(file, "drive", "capacity", Value::String(bytes.to_string()));
        }
        remove(file, "geometry", "blocks_per_plane");
    }
}

fn section<'a>(file: &'a mut Table, table: &str) -> Option<&'a mut Table> {
    file.entry(table).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
}

fn put(file: &mut Table, table: &str, key: &str, value: Value) {
    if let Some(section) = section(file, table) {
        section.insert(key.into(), value);
    }
}

fn remove(file: &mut Table, table: &str, key: &str) {
    if let Some(section) = section(file, table) {
        section.remove(key);
    }
}

fn has(file: &Table, table: &str, key: &str) -> bool {
    file.get(table).and_then(Value::as_table).is_some_and(|t| t.contains_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::base::units::Bytes;
    use vpass_techniques::resolve;

    /// Returns the capacity, the spare and the blocks per plane of a preset drive after some
    /// overrides.
    fn sized(preset: &str, sets: &[&str]) -> (u64, f64, u32) {
        let text = crate::presets::drive(preset).unwrap();
        let resolved = resolve(toml::from_str::<DriveConfig>(text).unwrap()).unwrap();
        let mut file: Table = toml::from_str(text).unwrap();
        let sets: Vec<_> = sets.iter().map(|s| Override::parse(s).unwrap()).collect();
        make_room(&mut file, Some(&resolved), &sets);
        for set in &sets {
            set.apply(&mut file);
        }
        let drive = resolve(file.try_into::<DriveConfig>().unwrap()).unwrap();
        (
            drive.drive.capacity.unwrap().0,
            drive.drive.spare.unwrap(),
            drive.geometry.blocks_per_plane.unwrap(),
        )
    }

    #[test]
    fn values_are_toml_or_strings() {
        let value = |text: &str| Override::parse(text).unwrap().value.unwrap();
        assert_eq!(value("drive.capacity=16GiB"), Value::String("16GiB".into()));
        assert_eq!(value("geometry.channels = 4"), Value::Integer(4));
        assert_eq!(value("start.fill=0.5"), Value::Float(0.5));
        assert_eq!(value("workload.requests=1e6"), Value::Integer(1_000_000));
        assert_eq!(value("workload.requests=1.5M"), Value::Integer(1_500_000));
        assert_eq!(value("workload.rate=200k"), Value::Integer(200_000));
        assert_eq!(
            value("workload.block_size=16k"),
            Value::String("16k".into()),
            "a size has binary units"
        );
        assert_eq!(Override::parse("workload.queue_depth=").unwrap().value, None);
        assert_eq!(value("timing.suspend=true"), Value::Boolean(true));
        assert_eq!(value("timing.sense_us=[40,60,90]").as_array().unwrap().len(), 3);
        assert_eq!(value("gc.x=1\nother = 2"), Value::String("1\nother = 2".into()));
        assert!(Override::parse("drive.capacity").is_err());
        assert!(Override::parse("=3").is_err());
    }

    /// A geometry of a quarter, or of other blocks, keeps the capacity. A geometry with the same
    /// number of pages keeps the blocks, too.
    #[test]
    fn geometry_keeps_the_capacity() {
        for preset in crate::presets::DRIVES.map(|(name, _)| name) {
            let (capacity, spare, blocks) = sized(preset, &[]);
            let same = sized(preset, &["geometry.neighbour_stride=1"]);
            assert_eq!((same.0, same.2), (capacity, blocks), "{preset}: nothing changed");
            for set in ["page_size=4KiB", "wordlines_per_block=100", "channels=1"] {
                let (kept, of_it, _) = sized(preset, &[&format!("geometry.{set}")]);
                assert_eq!(kept, capacity, "{preset}: {set}");
                assert!((of_it - spare).abs() < 0.02, "{preset}: {set}: {of_it} for {spare}");
            }
        }
        // 1 GiB / 0.85 / 0.75 MiB / 8 planes = 200.8 blocks per plane.
        assert_eq!(sized("tiny", &["geometry.page_size=4KiB"]).2, 201);
    }

    #[test]
    fn capacity_follows_from_blocks() {
        let (capacity, spare, _) = sized("tiny", &[]);
        let (twice, same_spare, _) = sized("tiny", &["geometry.blocks_per_plane=102"]);
        assert_eq!(twice, 2 * capacity);
        assert!((same_spare - spare).abs() < 1e-6);
        let (capacity, spare, blocks) =
            sized("tiny", &["geometry.blocks_per_plane=100", "drive.spare=0.5"]);
        assert_eq!((capacity, blocks), (800 * 192 * 16384 / 2, 100));
        assert!((spare - 0.5).abs() < 1e-6);
    }

    #[test]
    fn blocks_follow_from_capacity_and_spare() {
        // The preset's spare of 0.15 stays the same. 2 GiB / 0.85 / 3 MiB / 8 planes = 100.4 blocks
        // per plane.
        assert_eq!(sized("tiny", &["drive.capacity=2GiB"]).2, 101);
        let (capacity, spare, blocks) = sized("tiny", &["drive.spare=0.5"]);
        assert_eq!((capacity, blocks), (1 << 30, 86));
        assert!((0.5..0.51).contains(&spare));
        // If a preset gives a capacity and a geometry, an override of the capacity keeps the spare
        // that follows from both.
        let (_, of_preset, _) = sized("straw-2t-tlc", &[]);
        let (capacity, spare, blocks) = sized("straw-2t-tlc", &["drive.capacity=1TiB"]);
        assert_eq!((capacity, blocks), (1 << 40, 71));
        assert!((of_preset..of_preset + 0.01).contains(&spare), "{of_preset} {spare}");
        let (capacity, _, _) =
            sized("straw-2t-tlc", &["geometry.channels=2", "drive.capacity=16GiB"]);
        assert_eq!(capacity, 16 << 30);
    }

    #[test]
    fn spare_follows_from_both() {
        let (capacity, spare, blocks) =
            sized("tiny", &["drive.capacity=1GiB", "geometry.blocks_per_plane=86"]);
        assert_eq!((Bytes(capacity).to_string().as_str(), blocks), ("1GiB", 86));
        assert!((0.5..0.51).contains(&spare));
    }
}
