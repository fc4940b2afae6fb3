//! `vpass new policy`: writes a read-reclaim policy and its test, in Rust or in Python.
//!
//! The files are copies of `examples/new_policy`, with the name of the new policy. The tests of
//! vpass include this example, so the copies work.

use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::plain;
use vpass_techniques::all;

use super::args::NewPolicyArgs;
use crate::out::{self, Folder};

/// Names that the example policy has in texts, in code and as a type. The files of a new policy
/// have the new policy's names instead.
const IN_TEXT: &str = "my-policy";
const IN_CODE: &str = "my_policy";
const OF_TYPE: &str = "MyPolicy";

const RUST: &str = include_str!("../../../../examples/new_policy/src/lib.rs");
const PYTHON: &str = include_str!("../../../../examples/new_policy/python/my_policy.py");
const TEST: &str = include_str!("../../../../examples/new_policy/python/test_my_policy.py");

/// Output of `vpass new policy --json`.
#[derive(Serialize)]
struct Made<'a> {
    policy: &'a str,
    /// Folder that holds the files.
    folder: String,
    /// Names of the files in the folder.
    files: Vec<String>,
    /// Command that runs the policy's test.
    test: String,
}

/// Writes the files of a policy, and prints the command that tests the policy.
pub(super) fn policy(args: &NewPolicyArgs) -> Result<(), Failure> {
    check_name(&args.name)?;
    let place = args.out.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let files = if args.python { in_python(&args.name) } else { in_rust(&args.name, args)? };
    let folder = Folder::begin(&place)?;
    if !args.python {
        out::make_folder(&folder.path().join("src"))?;
    }
    let names = files.iter().map(|(name, _)| name.clone()).collect();
    out::write_files(folder.path(), files)?;
    folder.finish()?;
    let test = if args.python { "python -m pytest" } else { "cargo test" };
    let test = format!("cd {} && {test}", plain::path(&place));
    let made = Made { policy: &args.name, folder: place.display().to_string(), files: names, test };
    out::print(&if args.json { as_json::text(&made)? } else { in_words(&made) })
}

fn in_words(made: &Made) -> String {
    let files = made.files.join(", ");
    format!(
        "Policy {name} is written into {folder}: {files}.\nTest it: {command}\n",
        name = made.policy,
        folder = made.folder,
        command = made.test
    )
}

/// Refuses a name that cannot name a technique, a crate and a module.
fn check_name(name: &str) -> Result<(), Failure> {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !begins || !is_plain || name.ends_with('-') || name.contains("--") {
        return Err(Failure::usage(format!(
            "new policy {name}: a name of lower-case letters, digits and single hyphens is \
             expected, such as early-block"
        )));
    }
    if all().reclaim.iter().any(|card| card.name == name) {
        return Err(Failure::usage(format!(
            "new policy {name}: vpass already has a technique of this name; another name is \
             expected"
        )));
    }
    Ok(())
}

/// Returns a text of the example, but with `name` as the name of the policy.
fn renamed(text: &str, name: &str) -> String {
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    let of_type: String = name.split('-').map(capitalised).collect();
    text.replace(IN_TEXT, name).replace(IN_CODE, &name.replace('-', "_")).replace(OF_TYPE, &of_type)
}

fn in_python(name: &str) -> Vec<(String, String)> {
    let module = name.replace('-', "_");
    vec![
        (format!("{module}.py"), renamed(PYTHON, name)),
        (format!("test_{module}.py"), renamed(TEST, name)),
    ]
}

fn in_rust(name: &str, args: &NewPolicyArgs) -> Result<Vec<(String, String)>, Failure> {
    let sources = sources(args.vpass.as_deref())?;
    let crate_of = |part: &str| {
        let path = sources.join("crates").join(part);
        format!("vpass-{part} = {{ path = {:?} }}", path.display().to_string())
    };
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{}\n{}\n\n[dev-dependencies]\n{}\n\n\
         # Without compiler optimisation, the simulation is slow.\n[profile.dev]\nopt-level = \
         2\n\n[workspace]\n",
        crate_of("drive"),
        crate_of("techniques"),
        crate_of("lab")
    );
    Ok(vec![("Cargo.toml".into(), manifest), ("src/lib.rs".into(), renamed(RUST, name))])
}

/// Returns the folder with the sources of vpass. If the user gives no folder, the current folder
/// and the folders above it are searched.
fn sources(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let is_vpass = |folder: &Path| folder.join("crates/drive/src/api/given.rs").is_file();
    let here = env::current_dir().unwrap_or_default();
    let found = match given {
        Some(given) => is_vpass(given).then_some(given),
        None => here.ancestors().find(|folder| is_vpass(folder)),
    };
    let found = found.and_then(|folder| folder.canonicalize().ok());
    found.ok_or_else(|| match given {
        Some(given) => Failure::usage(format!(
            "--vpass {}: the folder with the sources of vpass is expected",
            given.display()
        )),
        None => Failure::usage(
            "new policy: a crate needs the sources of vpass; run this command in the folder of the \
             sources, or name the folder with --vpass DIR; a policy in Python (--python) needs no \
             sources",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_techniques_crates_and_modules() {
        for name in ["early-block", "p2", "x"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "Early", "early_block", "-x", "x-", "a--b", "2p", "a/b", "é"] {
            let why = check_name(name).unwrap_err().to_string();
            assert!(why.contains("such as early-block"), "{why}");
        }
        assert!(check_name("block").unwrap_err().to_string().contains("technique of this name"));
    }

    #[test]
    fn no_name_of_the_example_stays() {
        for text in [RUST, PYTHON, TEST] {
            let text = renamed(text, "early-block");
            assert!(text.contains("early-block") || text.contains("early_block"));
            assert!(text.contains("EarlyBlock"), "{text}");
            for old in [IN_TEXT, IN_CODE, OF_TYPE] {
                assert!(!text.contains(old), "{old} stays");
            }
        }
    }
}
