//! Rule that parts of a crate use only the parts that ARCHITECTURE.md allows. Its tables list the
//! parts in layers, and a part may use the parts of earlier layers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::paths::named;
use super::{ROOT, files};

/// Crates whose parts have a table.
const CRATES: [&str; 3] = ["drive", "techniques", "lab"];
/// Mark of a layer whose parts may use each other.
const TOGETHER: &str = "use each other";

/// Layer of each part, and the layers whose parts may use each other.
#[derive(Debug, Default)]
struct Layers {
    of: BTreeMap<String, usize>,
    together: Vec<usize>,
}

impl Layers {
    /// Reads the table of a crate, which follows the line "Layers of `NAME`".
    fn read(page: &str, name: &str) -> Self {
        let head = format!("Layers of `{name}`");
        let (_, rest) = page.split_once(&head).unwrap_or_else(|| panic!("no table: {head}"));
        let rows = rest.lines().skip_while(|line| !line.starts_with('|')).skip(2);
        let mut layers = Self::default();
        for (layer, row) in rows.take_while(|line| line.starts_with('|')).enumerate() {
            let cell = row.split('|').nth(1).expect("a row has cells");
            for part in cell.split('`').skip(1).step_by(2) {
                let before = layers.of.insert(part.to_owned(), layer);
                assert_eq!(before, None, "{part} is twice in the table of `{name}`");
            }
            if row.contains(TOGETHER) {
                layers.together.push(layer);
            }
        }
        layers
    }

    /// Returns the fault of an arrow; `None` if it is allowed.
    fn fault(&self, from: &str, to: &str) -> Option<String> {
        let layer = |part: &str| self.of.get(part).copied();
        let (Some(own), Some(other)) = (layer(from), layer(to)) else {
            let missing = if layer(from).is_none() { from } else { to };
            return Some(format!("`{missing}` is not in the table"));
        };
        let allowed = other < own || (other == own && self.together.contains(&own));
        (!allowed).then(|| format!("`{from}` may not use `{to}`, which is not on a lower layer"))
    }
}

/// Returns the name of the part that a file belongs to.
fn part_of(file: &Path, sources: &Path) -> String {
    let inside = file.strip_prefix(sources).expect("a file of the crate");
    let first = inside.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn parts_use_only_what_the_tables_of_the_architecture_allow() {
    let page = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let mut faults = vec![];
    for name in CRATES {
        let layers = Layers::read(&page, name);
        let sources = Path::new(ROOT).join("crates").join(name).join("src");
        let mut seen = BTreeSet::new();
        let mut sources_of_crate = vec![];
        files(&sources, &mut sources_of_crate);
        let is_source = |file: &&std::path::PathBuf| file.extension().is_some_and(|e| e == "rs");
        for file in sources_of_crate.iter().filter(is_source) {
            let path = file.to_string_lossy();
            if path.contains("/tests/")
                || path.ends_with("tests.rs")
                || path.ends_with("testing.rs")
            {
                continue;
            }
            let from = part_of(file, &sources);
            if from == "lib" {
                continue;
            }
            seen.insert(from.clone());
            let text = fs::read_to_string(file).unwrap();
            for (line, named) in named(&text) {
                let [first, to, ..] = &named[..] else { continue };
                let is_part =
                    sources.join(to).is_dir() || sources.join(format!("{to}.rs")).is_file();
                if first == "crate" && *to != from && is_part {
                    let fault = layers.fault(&from, to);
                    faults.extend(fault.map(|why| format!("{path}:{line}: {why}")));
                }
            }
        }
        let gone = layers.of.keys().filter(|part| !seen.contains(*part));
        faults.extend(gone.map(|part| format!("ARCHITECTURE.md: `{name}` has no part `{part}`")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_rule_finds_an_arrow_that_points_up() {
    let page = "Layers of `lab`, from the bottom:\n\n| parts | hold |\n|---|---|\n\
                | `a`, `b` | x |\n| `c`, `d` | these use each other |\n| `e` | y |\n";
    let layers = Layers::read(page, "lab");
    for (from, to) in [("c", "a"), ("c", "d"), ("e", "c")] {
        assert_eq!(layers.fault(from, to), None, "{from} {to}");
    }
    for (from, to) in [("a", "b"), ("a", "c"), ("d", "e"), ("e", "f"), ("f", "a")] {
        assert!(layers.fault(from, to).is_some(), "{from} {to}");
    }
}
