//! Plants the faults of `faults/*.toml` into a copy of the sources, all at once. A test of the copy
//! chooses one fault at run time, so one build serves all of them. The product has no fault.
//!
//! ```text
//! faults/drive.toml:   file = "crates/drive/src/drive/write.rs"
//!                      find = "s.mask |= mask;"                                the product's lines
//!                      put  = "s.mask = if .. { mask } else { .. }"             the lines of the copy
//! overlay/:            files that only the copy has: the switch, and tests of the faults
//! ```
//!
//! `find` must be in its file exactly once. So a change of the product that would silently disarm a
//! fault is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

/// Folders that are not part of the sources.
const NO_SOURCES: [&str; 4] = ["target", ".git", "__pycache__", ".mypy_cache"];

/// Folder of this crate.
pub(crate) const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// File of the copy with the names of all faults.
const LIST: &str = "crates/model/src/bugs/list.rs";

/// Contents of a file of faults.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Faults {
    #[serde(default)]
    pub(crate) fault: Vec<Fault>,
    #[serde(default)]
    site: Vec<Site>,
}

/// Fault, with a sentence that says what is wrong with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) name: String,
    says: String,
    /// Tests that find the fault.
    pub(crate) found: Vec<Found>,
    /// Words, of which a finding must contain one to count. Any finding counts if there are none.
    #[serde(default)]
    words: Vec<String>,
    /// Whether the drive's own assertions always find the fault first.
    #[serde(default)]
    stops: bool,
    /// Whether the fault is already in the drive's configuration.
    #[serde(default)]
    configured: bool,
}

/// Test that finds a fault. `overlay/crates/model/src/bugs.rs` explains each.
#[derive(Debug, Deserialize)]
#[serde(tag = "by", rename_all = "lowercase", deny_unknown_fields)]
#[expect(dead_code, reason = "the copy's list has them as `Debug` writes them")]
pub(crate) enum Found {
    Check {
        case: u64,
        cards: String,
    },
    Battery {
        of: String,
        case: u64,
        cards: String,
    },
    Parity {
        of: String,
        refresh: Option<String>,
        case: u64,
        cards: String,
    },
    Failures {
        #[serde(default)]
        by_wear: bool,
        case: u64,
    },
    Acceleration {
        case: u64,
    },
    Fluid {
        data: String,
        writes: bool,
        case: u64,
    },
    Unit {
        #[serde(default = "drive")]
        of: String,
        test: String,
    },
    Story {
        test: String,
    },
}

/// Crate of most unit tests that find a fault.
fn drive() -> String {
    "drive".into()
}

impl Found {
    /// Returns the kind of the test.
    pub(crate) fn kind(&self) -> String {
        format!("{self:?}").split(' ').next().unwrap_or_default().to_lowercase()
    }
}

/// Lines of the product, and the lines that replace them in the copy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Site {
    file: PathBuf,
    /// Faults of the lines; empty if they only pass the switch on.
    #[serde(default)]
    faults: Vec<String>,
    find: String,
    put: String,
}

/// Makes a copy of the sources, with all faults. Returns a sentence about it.
pub(crate) fn plant(to: &Path) -> Result<String, String> {
    let root = &Path::new(HERE).join("../..");
    let all = read_faults()?;
    check_names(&all)?;
    let mut files = BTreeMap::new();
    read_sources(root, Path::new(""), &mut files).map_err(|e| e.to_string())?;
    for (file, sites) in by_file(&all.site) {
        let text = files.get(file).ok_or(format!("there is no {}", file.display()))?;
        let text = String::from_utf8_lossy(text).into_owned();
        files.insert(file.clone(), replace(file, text, &sites)?.into_bytes());
    }
    read_sources(&Path::new(HERE).join("overlay"), Path::new(""), &mut files)
        .map_err(|e| format!("overlay: {e}"))?;
    files.insert(LIST.into(), list(&all.fault).into_bytes());
    write_changed(to, &files).map_err(|e| format!("{}: {e}", to.display()))?;
    Ok(format!("{} faults at {} places: {}", all.fault.len(), all.site.len(), to.display()))
}

/// Reads the files of faults, in the order of their names.
pub(crate) fn read_faults() -> Result<Faults, String> {
    let folder = Path::new(HERE).join("faults");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .and_then(|files| files.map(|file| Ok(file?.path())).collect())
        .map_err(|e: io::Error| format!("{}: {e}", folder.display()))?;
    paths.sort();
    let mut all = Faults::default();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let Faults { fault, site } =
            toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        all.fault.extend(fault);
        all.site.extend(site);
    }
    Ok(all)
}

/// Refuses a fault without a place or without a finder, and a name without a fault.
fn check_names(all: &Faults) -> Result<(), String> {
    let named: BTreeSet<&str> = all.fault.iter().map(|fault| fault.name.as_str()).collect();
    let placed: BTreeSet<&str> =
        all.site.iter().flat_map(|site| &site.faults).map(String::as_str).collect();
    let odd: Vec<_> = named.symmetric_difference(&placed).collect();
    if named.len() < all.fault.len() {
        return Err("two faults have one name".into());
    }
    if !odd.is_empty() {
        return Err(format!("faults without a place, or places of unknown faults: {odd:?}"));
    }
    if let Some(fault) = all.fault.iter().find(|fault| fault.found.is_empty()) {
        return Err(format!("{}: `found` names no test", fault.name));
    }
    Ok(())
}

/// Reads the files below a folder, without those that are not part of the sources.
pub(crate) fn read_sources(
    root: &Path,
    below: &Path,
    files: &mut BTreeMap<PathBuf, Vec<u8>>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if NO_SOURCES.iter().any(|no| entry.file_name() == *no) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            read_sources(root, &path, files)?;
        } else {
            files.insert(path.clone(), fs::read(root.join(path))?);
        }
    }
    Ok(())
}

fn by_file(sites: &[Site]) -> BTreeMap<&PathBuf, Vec<&Site>> {
    let mut of = BTreeMap::<_, Vec<&Site>>::new();
    for site in sites {
        of.entry(&site.file).or_default().push(site);
    }
    of
}

/// Replaces the lines of all sites of a file. Sites are found in the product's text, so none sees
/// the lines of another.
fn replace(file: &Path, mut text: String, sites: &[&Site]) -> Result<String, String> {
    let mut places = vec![];
    for site in sites {
        let found: Vec<usize> = text.match_indices(&site.find).map(|(at, _)| at).collect();
        let [at] = found[..] else {
            return Err(format!(
                "{} has these lines {} times, but once is expected; correct `find` and `put` of \
                 {:?}:\n{}",
                file.display(),
                found.len(),
                site.faults,
                site.find
            ));
        };
        places.push((at, *site));
    }
    places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    for (at, site) in places {
        text.replace_range(at..at + site.find.len(), &site.put);
    }
    Ok(text)
}

/// Returns the list of all faults, as the macro that the switch expects.
fn list(faults: &[Fault]) -> String {
    let mut text = "//! List of all seeded bugs. The crate `conform` writes this file.\n\n\
                    macro_rules! list {\n    ($all:ident) => {\n        $all! {\n"
        .to_owned();
    for Fault { name, says, found, words, stops, configured, .. } in faults {
        let found: Vec<_> = found.iter().map(|found| format!("Found::{found:?}")).collect();
        let record = format!(
            "found: &[{}], words: &{words:?}, stops: {stops}, configured: {configured}",
            found.join(", ")
        );
        let _ =
            writeln!(text, "            /// {says}\n            {name} = Record {{ {record} }},");
    }
    text + "        }\n    };\n}\n"
}

/// Writes the files that differ, so that only these are compiled again.
fn write_changed(to: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for (path, bytes) in files {
        let path = to.join(path);
        if fs::read(&path).is_ok_and(|before| before == *bytes) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(find: &str, put: &str) -> Site {
        Site { file: "a.rs".into(), faults: vec![], find: find.into(), put: put.into() }
    }

    #[test]
    fn each_place_is_found_in_the_product() {
        let (first, second) = (site("b\n", "c\nb\n"), site("c\n", "d\n"));
        let text = replace(Path::new("a.rs"), "a\nb\nc\n".into(), &[&first, &second]);
        assert_eq!(text.unwrap(), "a\nc\nb\nd\n");
    }

    #[test]
    fn lines_that_are_missing_or_there_twice_are_refused() {
        for (text, times) in [("a\n", 0), ("b\nb\n", 2)] {
            let said = replace(Path::new("a.rs"), text.into(), &[&site("b\n", "")]).unwrap_err();
            assert!(said.contains(&format!("{times} times")), "{said}");
        }
    }

    #[test]
    fn each_fault_has_a_place() {
        let a = "[[fault]]\nname = 'A'\nsays = ''\nfound = [{ by = 'story', test = 'a' }]\n";
        let mut all: Faults = toml::from_str(a).unwrap();
        all.site.push(site("", ""));
        assert!(check_names(&all).is_err(), "A has no place");
        all.site[0].faults = vec!["A".into()];
        assert!(check_names(&all).is_ok());
        all.site[0].faults.push("B".into());
        assert!(check_names(&all).is_err(), "B is unknown");
        all.site[0].faults.pop();
        all.fault[0].found.clear();
        assert!(check_names(&all).is_err(), "nothing finds A");
    }
}
