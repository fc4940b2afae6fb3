//! Walls between the modules of `drive`: each module names only what `crates/drive/walls.toml`
//! allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::paths::named;
use super::{ROOT, files};

/// Files that may name everything: the root, and files of tests.
const EXEMPT: [&str; 3] = ["lib", "testing", "time/device/rest"];

/// Table of the walls. Its file explains the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Walls {
    by_file: BTreeSet<String>,
    groups: BTreeMap<String, Vec<String>>,
    may_name: BTreeMap<String, Vec<String>>,
    to_come: BTreeMap<String, Vec<String>>,
    exceptions: BTreeMap<String, usize>,
}

impl Walls {
    /// Returns what a module may name; `None` if it has no row.
    fn row(&self, module: &str) -> Option<&Vec<String>> {
        self.may_name.get(module).or_else(|| self.to_come.get(module))
    }

    /// Returns the longest beginning of a path that has a row.
    fn module<'a>(&self, path: &'a str) -> Option<&'a str> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| &path[..end]).rfind(|module| self.row(module).is_some())
    }

    /// Returns the module of a file; `None` if the file needs a row.
    fn module_of_file<'a>(&self, file: &'a str) -> Option<&'a str> {
        self.module(file).filter(|module| *module == file || !self.by_file.contains(*module))
    }

    fn may_name(&self, from: &str, to: &str) -> bool {
        let matches = |allowed: &String| {
            let inside = allowed.strip_suffix("/*").and_then(|folder| to.strip_prefix(folder));
            allowed == to || inside.is_some_and(|rest| rest.starts_with('/'))
        };
        let of_group =
            |allowed: &String| self.groups.get(allowed).into_iter().flatten().any(matches);
        self.row(from).into_iter().flatten().any(|allowed| matches(allowed) || of_group(allowed))
    }

    /// Returns the faults of the sources by file, which have paths without `.rs`.
    fn faults(&self, sources: &BTreeMap<String, String>) -> Vec<String> {
        let (mut faults, mut excepted) = (vec![], BTreeMap::<_, Vec<String>>::new());
        let is_file = |path: &str| {
            let folder = format!("{path}/");
            sources.contains_key(path) || sources.keys().any(|file| file.starts_with(&folder))
        };
        for (file, source) in sources.iter().filter(|(file, _)| !EXEMPT.contains(&file.as_str())) {
            let Some(from) = self.module_of_file(file) else {
                faults.push(format!("{file}.rs: walls.toml has no row for this file"));
                continue;
            };
            let mut seen = BTreeSet::new();
            for (line, path) in named(source) {
                let path = resolved(file, &path);
                let to = self.module(&path).unwrap_or(from);
                if to != from && !self.may_name(from, to) && seen.insert((line, to.to_owned())) {
                    let said = format!("{file}.rs:{line}: `{from}` may not name `{to}`");
                    excepted.entry(format!("{from} -> {to}")).or_default().push(said);
                }
            }
        }
        for (arrow, said) in &excepted {
            let allowed = self.exceptions.get(arrow).copied().unwrap_or(0);
            if said.len() > allowed {
                faults.extend(said.iter().map(|said| format!("{said} ({allowed} exceptions)")));
            }
        }
        let count = |arrow: &str| excepted.get(arrow).map_or(0, Vec::len);
        let fewer = self.exceptions.iter().filter(|(arrow, allowed)| count(arrow) < **allowed);
        faults.extend(fewer.map(|(arrow, _)| format!("{arrow}: only {} are left", count(arrow))));
        let gone = self.may_name.keys().filter(|module| !is_file(module));
        faults.extend(gone.map(|module| format!("walls.toml: there is no `{module}`")));
        let here = self.to_come.keys().filter(|module| is_file(module));
        faults.extend(here.map(|module| format!("walls.toml: `{module}` has come")));
        faults
    }
}

/// Returns a path as seen from the root of the crate. A path that begins with another name is one
/// of a child, or of another crate.
fn resolved(file: &str, path: &[String]) -> String {
    let mut base: Vec<&str> = file.split('/').collect();
    let mut rest = path.iter().map(String::as_str).peekable();
    if rest.next_if_eq(&"crate").is_some() {
        base.clear();
    }
    rest.next_if_eq(&"self");
    while rest.next_if_eq(&"super").is_some() {
        base.pop();
    }
    base.extend(rest);
    base.join("/")
}

#[test]
fn modules_of_the_drive_name_only_what_the_walls_allow() {
    let crate_of = Path::new(ROOT).join("crates/drive");
    let table = fs::read_to_string(crate_of.join("walls.toml")).unwrap();
    let mut all = vec![];
    files(&crate_of.join("src"), &mut all);
    let sources = all.iter().filter_map(|path| {
        let file =
            path.strip_prefix(crate_of.join("src")).unwrap().to_str()?.strip_suffix(".rs")?;
        let is_test = file.contains("/tests/") || file.ends_with("/tests");
        (!is_test).then(|| (file.to_owned(), fs::read_to_string(path).unwrap()))
    });
    let faults = toml::from_str::<Walls>(&table).unwrap().faults(&sources.collect());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_wrong_arrow_an_unknown_file_and_a_stale_row_are_found() {
    let walls = "by_file = ['c']\ngroups = { model = ['a'] }\nexceptions = { 'a -> b' = 1 }\n\
                 may_name = { a = [], b = ['model'], c = ['c/*'], 'c/x' = ['a'], 'c/y' = ['c/x'] }\n\
                 to_come = { d = [] }";
    let of = |more: &[(&str, &str)]| {
        let right = [("a/in", "use crate::b::X;"), ("b", "use super::a;"), ("c", "use x::Y;")];
        let right = right.iter().chain(&[("c/x", "use std::a;"), ("c/y", "super::x::z()")]);
        let sources =
            right.chain(more).map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        toml::from_str::<Walls>(walls).unwrap().faults(&sources.collect()).join("\n")
    };
    assert_eq!(of(&[]), "");
    assert!(
        of(&[("a/in", "\nuse crate::{b, c::{x}};")]).contains("a/in.rs:2: `a` may not name `c/x`")
    );
    assert!(of(&[("a/more", "use crate::b;")]).contains("(1 exceptions)"));
    assert!(of(&[("a/in", "")]).contains("a -> b: only 0 are left"));
    assert!(of(&[("c/z", "")]).contains("c/z.rs: walls.toml has no row"));
    assert!(of(&[("c/x/in", "use super::super::y;")]).contains("`c/x` may not name `c/y`"));
    assert!(of(&[("d", "")]).contains("`d` has come"));
    assert!(of(&[("e", "")]).contains("e.rs: walls.toml has no row"));
}
