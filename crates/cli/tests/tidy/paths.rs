//! Paths that a source names: those of `use` trees, and those that begin with `crate`, `super` or
//! `self`.

/// Returns the code of a source before its tests, which come last.
pub(super) fn without_tests(source: &str) -> &str {
    let end = source.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(|at| {
        let next = source[*at..].lines().nth(1).unwrap_or_default();
        next.contains("mod ") && next.ends_with('{')
    });
    end.map_or(source, |at| &source[..at])
}

fn is_in_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Returns the paths that a source names outside its tests and comments, each with its line.
pub(super) fn named(source: &str) -> Vec<(usize, Vec<String>)> {
    let code: Vec<&str> =
        without_tests(source).lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let code = code.join("\n");
    let mut all = vec![];
    for begin in ["use ", "crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(begin) {
            // `$crate::`, `vpass_crate::` and the second half of `super::super::` are other paths.
            if code[..at].ends_with(|c| c == '$' || c == ':' || is_in_word(c)) {
                continue;
            }
            let rest = code[at..].strip_prefix("use ").unwrap_or(&code[at..]);
            if begin != "use " || !["crate", "super", "self"].iter().any(|w| rest.starts_with(w)) {
                add_tree(rest, &[], &mut all);
            }
        }
    }
    let line = |left: usize| 1 + code[..code.len() - left].matches('\n').count();
    let owned = |path: Vec<&str>| path.into_iter().map(str::to_owned).collect();
    all.into_iter().map(|(left, path)| (line(left), owned(path))).collect()
}

/// Adds the paths of a `use` tree, each with the number of bytes from its last name on. Returns the
/// text behind the tree.
fn add_tree<'a>(text: &'a str, path: &[&'a str], all: &mut Vec<(usize, Vec<&'a str>)>) -> &'a str {
    let end = text.find(|c| !is_in_word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let path = [path, &[name]].concat();
    let Some(below) = rest.strip_prefix("::") else {
        all.push((text.len(), path));
        return rest;
    };
    let Some(mut list) = below.strip_prefix('{') else { return add_tree(below, &path, all) };
    loop {
        list = list.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if list.is_empty() || list.starts_with('}') {
            return list.strip_prefix('}').unwrap_or_default();
        }
        let behind = add_tree(list, &path, all);
        list = &behind[behind.find([',', '}']).unwrap_or(behind.len())..];
    }
}

#[test]
fn paths_of_trees_and_of_expressions_are_found() {
    let source = "use crate::{\n    a::{B, c::D as E},\n    f,\n}; // crate::no\nuse g::H;\n\
                  /// See [`crate::no`].\nx: super::super::i, y: $crate::no, z: vpass_crate::no\n\
                  #[cfg(test)]\nuse self::j;\n#[cfg(test)]\nmod tests {\nuse crate::no;\n}\n";
    let found = named(source).into_iter().map(|(line, path)| format!("{line} {}", path.join("::")));
    let mut found: Vec<_> = found.collect();
    found.sort();
    let expected =
        ["2 crate::a::B", "2 crate::a::c::D", "3 crate::f", "5 g::H", "7 super::super::i"];
    assert_eq!(found, [&expected[..], &["9 self::j"]].concat());
    assert_eq!(without_tests("#[cfg(test)]\nmod tests;\nx"), "#[cfg(test)]\nmod tests;\nx");
}
