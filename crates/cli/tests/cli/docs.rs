//! Does the map of the code still match the code? `make map` draws it anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use vpass_core::slots::card::Protection;
use vpass_core::slots::reclaim::RECLAIM;
use vpass_workload::traces::{FORMATS, format_named};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CRATES: [&str; 5] = ["core", "oracle", "workload", "lab", "cli"];

/// What a folder holds, each folder behind the file of its name.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort_by_key(|path| (path.with_extension(""), path.is_dir()));
    entries
}

/// The first sentence of a file's head, less its title.
fn first_sentence(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let head = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let words: Vec<_> = head
        .skip_while(|line| line.is_empty() || line.starts_with("# "))
        .take_while(|line| !line.is_empty())
        .collect();
    let words = words.join(" ");
    assert!(!words.is_empty(), "{}: the first line must say what the file is for", path.display());
    let end =
        words.match_indices(". ").map(|(at, _)| at).find(|at| !words[..*at].ends_with("et al"));
    words[..end.unwrap_or(words.len())].trim_end_matches('.').to_owned()
}

/// A line for each file below a folder.
fn map_of(folder: &Path, depth: usize, map: &mut String) {
    for path in sorted(folder) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            assert!(
                path.with_extension("rs").exists(),
                "{}: a folder needs a file that says what it is for",
                path.display()
            );
            map_of(&path, depth + 1, map);
        } else if path.extension().is_some_and(|e| e == "rs") && !["lib", "main"].contains(&name) {
            writeln!(map, "{}- `{name}`: {}", "  ".repeat(depth), first_sentence(&path)).unwrap();
        }
    }
}

/// The page as it is, and as it should be.
fn page() -> (String, String) {
    let is = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let mut should_be = is.clone();
    for name in CRATES {
        let (begin, end) =
            (format!("<!-- {name}: made by `make map` -->\n"), format!("<!-- end of {name} -->"));
        let from = should_be.find(&begin).expect("a map of each crate") + begin.len();
        let to = from + should_be[from..].find(&end).expect("an end of each map");
        let mut map = String::new();
        map_of(&Path::new(ROOT).join("crates").join(name).join("src"), 0, &mut map);
        should_be.replace_range(from..to, &map);
    }
    (is, should_be)
}

#[test]
fn the_architecture_page_has_the_map_of_today() {
    let (is, should_be) = page();
    let stale: Vec<_> = should_be.lines().filter(|line| !is.contains(line)).collect();
    assert!(
        is == should_be,
        "ARCHITECTURE.md: `make map` draws the code map anew; not there, or in another place: {stale:#?}"
    );
}

#[test]
#[ignore = "writes ARCHITECTURE.md and README.md: `make map`"]
fn draw_the_map() {
    fs::write(Path::new(ROOT).join("ARCHITECTURE.md"), page().1).unwrap();
    fs::write(Path::new(ROOT).join("README.md"), readme().1).unwrap();
}

/// The README as it is, and with the table of techniques that their cards make.
fn readme() -> (String, String) {
    let is = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let mut should_be = is.clone();
    let (begin, end) = ("| `--reclaim` | what it does | after |\n  |---|---|---|\n", "- **Gears**");
    let from = should_be.find(begin).expect("a table of techniques") + begin.len();
    let to = from + should_be[from..].find(end).expect("what follows the table");
    let mut table = String::new();
    for card in RECLAIM {
        // What stands in brackets at the end of a summary says what the last column says.
        let summary = card
            .summary
            .strip_suffix(')')
            .and_then(|s| s.rsplit_once(" ("))
            .map_or(card.summary, |(words, _)| words);
        writeln!(table, "  | `{}` | {summary} | {} |", card.name, card.paper).unwrap();
    }
    should_be.replace_range(from..to, &table);
    (is, should_be)
}

#[test]
fn the_readme_has_the_techniques_of_today() {
    let (is, should_be) = readme();
    let stale: Vec<_> = should_be.lines().filter(|line| !is.contains(line)).collect();
    assert!(
        is == should_be,
        "README.md: `make map` writes its table of techniques anew; not there, or in another place: {stale:#?}"
    );
}

/// Names in code marks of a row of a table.
fn marked(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_readme_has_the_trace_formats_of_today() {
    let page = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let rows = page.split("| traces of | `--format` |\n").nth(1).expect("a table of formats");
    let rows: Vec<&str> =
        rows.lines().skip(1).map_while(|row| row.trim().strip_prefix('|')).collect();
    let named: Vec<&str> =
        rows.iter().flat_map(|row| marked(row)).filter(|name| !name.starts_with('.')).collect();
    let absent: Vec<_> =
        FORMATS.iter().map(|format| format.name).filter(|name| !named.contains(name)).collect();
    assert!(absent.is_empty(), "README.md: its table of trace formats does not have {absent:?}");
    let unknown: Vec<_> = named.iter().filter(|name| format_named(name).is_err()).collect();
    assert!(unknown.is_empty(), "README.md: there is no trace format {unknown:?}");
}

#[test]
fn what_protects_has_a_page_about_safety() {
    let folder = Path::new(ROOT).join("docs/safety");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let row = |name: &str| index.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
    let has_page = |name: &str| {
        let link = row(name)?.rsplit("](").next()?;
        let page = link.split([')', '#']).next()?;
        folder.join(page).is_file().then_some(())
    };
    let without: Vec<_> = RECLAIM
        .iter()
        .filter(|card| card.protects != Protection::None && has_page(card.name).is_none())
        .collect();
    let without: Vec<_> = without.iter().map(|card| card.name).collect();
    assert!(without.is_empty(), "docs/safety/README.md: no row with a page for {without:?}");
}

#[test]
fn the_files_that_the_architecture_page_names_exist() {
    let page = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let order = page.split("## Reading order").nth(1).expect("a reading order");
    let paths = order.split('`').skip(1).step_by(2).filter(|span| span.contains("/src/"));
    let absent: Vec<_> =
        paths.filter(|path| !Path::new(ROOT).join("crates").join(path).exists()).collect();
    assert!(absent.is_empty(), "{absent:?}");
    assert!(order.contains("core/src/drive.rs"));
}

/// Fields of a technique's header, in their order.
const FIELDS: [&str; 7] = [
    "Paper",
    "Acts at",
    "Costs",
    "Departs from the paper",
    "Departs from the papers",
    "Does not help",
    "Safety",
];
/// Lines of a technique's header, its worked example not counted.
const MOST_LINES: usize = 19;

/// A header without its worked example, line by line.
fn without_example(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let head = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.trim_start().to_owned());
    let mut lines: Vec<_> = head.take_while(|line| !line.starts_with("```")).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// What is wrong with a technique's header.
fn faults(path: &Path) -> Vec<String> {
    let lines = without_example(path);
    let fields: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("- **")?.split(":**").next()).collect();
    let places: Vec<_> =
        fields.iter().map(|field| FIELDS.iter().position(|of_form| of_form == field)).collect();
    let pages = lines
        .iter()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|span| span.starts_with("docs/"));
    let mut faults: Vec<String> = pages
        .filter(|page| !Path::new(ROOT).join(page).exists())
        .map(|page| format!("no {page}"))
        .collect();
    let mut fault = |is_one: bool, what: &str| faults.extend(is_one.then(|| what.to_owned()));
    fault(lines.len() > MOST_LINES, "more lines than a header has");
    fault(
        !places.is_sorted_by(|a, b| a < b) || places.contains(&None),
        "fields of another name, or in another order",
    );
    fault(
        !(fields.contains(&"Costs") && fields.contains(&"Does not help")),
        "no costs, or nothing that it does not help",
    );
    faults
}

#[test]
fn a_technique_s_header_has_the_fixed_form() {
    let slots = Path::new(ROOT).join("crates/core/src/slots");
    let files = ["gc", "reclaim"]
        .into_iter()
        .flat_map(|slot| sorted(&slots.join(slot)))
        .filter(|path| path.is_file());
    let techniques: Vec<_> =
        files.filter(|path| without_example(path)[0].starts_with("# ")).collect();
    assert!(techniques.len() >= 19, "{techniques:?}");
    let faulty: Vec<_> = techniques
        .iter()
        .map(|path| (path.file_stem().unwrap(), faults(path)))
        .filter(|(_, f)| !f.is_empty())
        .collect();
    assert!(faulty.is_empty(), "{faulty:#?}");
}

/// All sources below a folder, as one text.
fn sources(folder: &Path, text: &mut String) {
    for path in sorted(folder) {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// Every page about safety is in the index, and every file and test that one names is there.
#[test]
fn what_the_pages_about_safety_name_exists() {
    let folder = Path::new(ROOT).join("docs/safety");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut code = String::new();
    for name in CRATES {
        let parts =
            ["src", "tests"].map(|part| Path::new(ROOT).join("crates").join(name).join(part));
        parts.iter().filter(|part| part.is_dir()).for_each(|part| sources(part, &mut code));
    }
    let is_there = |span: &str| match span.rsplit_once("tests::") {
        Some((_, test)) => code.contains(&format!("fn {test}()")),
        None if span.starts_with("crates/") => Path::new(ROOT).join(span).exists(),
        None => {
            span.matches('_').count() < 3
                || !span.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c))
                || code.contains(&format!("fn {span}()"))
        }
    };
    let (mut named, mut absent) = (0, vec![]);
    for path in sorted(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "README.md" || index.contains(&format!("({name}")),
            "{name} is not in the index"
        );
        let page = fs::read_to_string(&path).unwrap();
        for span in page.split('`').skip(1).step_by(2) {
            named += usize::from(span.contains("tests"));
            absent.extend((!is_there(span)).then(|| format!("{name}: {span}")));
        }
    }
    assert!(absent.is_empty() && named > 40, "{named} tests named, not there: {absent:#?}");
}
