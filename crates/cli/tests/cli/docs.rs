//! Checks of the documents against the code. `make map` writes the tables of techniques.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use vpass_drive::api::card::{About, Protection};
use vpass_techniques::all;
use vpass_workload::traces::{FORMATS, format_named};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const CRATES: [&str; 7] = ["model", "drive", "techniques", "oracle", "workload", "lab", "cli"];

/// Returns the paths in a folder in sorted order. A subfolder follows the file with the same name.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort_by_key(|path| (path.with_extension(""), path.is_dir()));
    entries
}

/// Returns the first sentence of a file's header, without its title.
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

/// Asserts that every file below a folder states its purpose, and that every subfolder has a file
/// with its name.
fn assert_purposes(folder: &Path) {
    for path in sorted(folder) {
        if path.is_dir() {
            assert!(
                path.with_extension("rs").exists(),
                "{}: a folder needs a file that says what it is for",
                path.display()
            );
            assert_purposes(&path);
        } else if path.extension().is_some_and(|e| e == "rs") {
            first_sentence(&path);
        }
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for name in CRATES {
        assert_purposes(&Path::new(ROOT).join("crates").join(name).join("src"));
    }
}

const TECHNIQUES: &str = "docs/techniques/README.md";

/// Returns the table rows of a slot. Each row links to the page of its technique.
fn rows<'a>(slot: &str, cards: impl Iterator<Item = &'a About>) -> String {
    let mut rows = format!("| `--{slot}` | what it does | after |\n|---|---|---|\n");
    for About { name, summary, paper, .. } in cards {
        // The text in brackets at the end of a summary repeats the last column.
        let words = summary.strip_suffix(')').and_then(|s| s.rsplit_once(" ("));
        let summary = words.map_or(*summary, |(words, _)| words);
        writeln!(rows, "| [`{name}`](../{slot}/{name}.md) | {summary} | {paper} |").unwrap();
    }
    rows
}

/// Returns two texts: the page of techniques as it is, and this page with tables from the cards.
fn techniques() -> (String, String) {
    let is = fs::read_to_string(Path::new(ROOT).join(TECHNIQUES)).unwrap();
    let tables = [
        rows("reclaim", all().reclaim.iter().map(|card| &card.about)),
        rows("refresh", all().refresh.iter().map(|card| &card.about)),
        rows("parity", all().parity.iter().map(|card| &card.about)),
        rows("gc", all().gc.iter().map(|card| &card.about)),
    ];
    let mut should_be = is.clone();
    for table in tables {
        let head = table.lines().next().unwrap();
        let from = should_be.find(head).expect("a table of each slot");
        let to = from + should_be[from..].find("\n\n").expect("an end of each table") + 1;
        should_be.replace_range(from..to, &table);
    }
    (is, should_be)
}

#[test]
fn the_page_of_techniques_has_those_of_today() {
    let (is, should_be) = techniques();
    let stale: Vec<_> = should_be.lines().filter(|line| !is.contains(line)).collect();
    assert!(is == should_be, "{TECHNIQUES}: `make map` writes its tables; not there: {stale:#?}");
}

#[test]
#[ignore = "writes docs/techniques/README.md: `make map`"]
fn write_the_tables() {
    fs::write(Path::new(ROOT).join(TECHNIQUES), techniques().1).unwrap();
}

/// Returns the names in code marks in a cell of a table.
fn marked(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

const TRACE_FORMATS: &str = "docs/reference/trace-formats.md";

#[test]
fn the_page_of_trace_formats_has_those_of_today() {
    let page = fs::read_to_string(Path::new(ROOT).join(TRACE_FORMATS)).unwrap();
    let rows = page.split("| traces of | `--format` |\n").nth(1).expect("a table of formats");
    let rows: Vec<&str> =
        rows.lines().skip(1).map_while(|row| row.trim().strip_prefix('|')).collect();
    let named: Vec<&str> =
        rows.iter().flat_map(|row| marked(row)).filter(|name| !name.starts_with('.')).collect();
    let absent: Vec<_> =
        FORMATS.iter().map(|format| format.name).filter(|name| !named.contains(name)).collect();
    assert!(absent.is_empty(), "{TRACE_FORMATS}: its first table does not have {absent:?}");
    let unknown: Vec<_> = named.iter().filter(|name| format_named(name).is_err()).collect();
    assert!(unknown.is_empty(), "{TRACE_FORMATS}: there is no trace format {unknown:?}");
}

#[test]
fn what_protects_has_a_page_about_safety() {
    let folder = Path::new(ROOT).join("docs/reclaim");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let row = |name: &str| index.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
    let has_page = |name: &str| {
        let link = row(name)?.rsplit("](").next()?;
        let page = link.split([')', '#']).next()?;
        folder.join(page).is_file().then_some(())
    };
    let without: Vec<_> = all()
        .reclaim
        .iter()
        .filter(|card| card.protects != Protection::None && has_page(card.name).is_none())
        .collect();
    let without: Vec<_> = without.iter().map(|card| card.name).collect();
    assert!(without.is_empty(), "docs/reclaim/README.md: no row with a page for {without:?}");
}

#[test]
fn the_files_that_the_architecture_page_names_exist() {
    let page = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let page = page.split("```").step_by(2).collect::<String>();
    let spans = page.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = spans.filter(|s| s.contains("/src/") || s.contains("/tests")).collect();
    let absent: Vec<_> =
        paths.iter().filter(|path| !Path::new(ROOT).join("crates").join(path).exists()).collect();
    assert!(absent.is_empty(), "{absent:?}");
    assert!(paths.len() > 60 && paths.contains(&"drive/src/drive.rs"), "{paths:?}");
}

/// Fields of the header of a technique, in order.
const FIELDS: [&str; 7] = [
    "Paper",
    "Acts at",
    "Costs",
    "Departs from the paper",
    "Departs from the papers",
    "Does not help",
    "Safety",
];
/// Largest number of lines in the header of a technique, without its worked example.
const MOST_LINES: usize = 19;

/// Returns the lines of a header, without its worked example.
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

/// Returns the faults in the header of a technique.
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
    let slots = Path::new(ROOT).join("crates/techniques/src");
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

/// Appends the text of all sources below a folder.
fn sources(folder: &Path, text: &mut String) {
    for path in sorted(folder) {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// Every safety page is in the index. Every file and every test that a safety page names exists.
#[test]
fn what_the_pages_about_safety_name_exists() {
    let folder = Path::new(ROOT).join("docs/reclaim");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut code = String::new();
    for name in CRATES {
        let parts =
            ["src", "tests"].map(|part| Path::new(ROOT).join("crates").join(name).join(part));
        parts.iter().filter(|part| part.is_dir()).for_each(|part| sources(part, &mut code));
    }
    sources(&Path::new(ROOT).join("crates/conform/overlay"), &mut code);
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
