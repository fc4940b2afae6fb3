//! Key of a finished part. The key is a digest of the configuration, the seed, the build of the
//! program, and the contents of traces and job files.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use vpass_workload::traces::shown;

use sha2::{Digest, Sha256};
use vpass_workload::traces::sha256_hex;

use crate::failure::Failure;
use crate::plan::{RunPlan, Workload};

/// Key of a part, written in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub(super) String);

/// Maker of keys. The maker reads two kinds of files, each file only once: the executable file of
/// the program, and files with requests.
#[derive(Debug)]
pub struct Keys {
    build: String,
    files: BTreeMap<PathBuf, Content>,
}

/// Digest of a file, and the size and date of the file when vpass read the content.
#[derive(Debug)]
struct Content {
    sha256: String,
    stamp: Option<(u64, SystemTime)>,
}

impl Keys {
    /// Prepares to make keys. Reads the executable file of the program, because keys depend on the
    /// build.
    ///
    /// # Errors
    /// Returns an error if the executable file of the program cannot be read. The build of the
    /// program is then unknown.
    pub fn of_this_program() -> Result<Self, Failure> {
        // On Linux, this link leads to the running program even if its file was replaced.
        let build = sha256_hex(Path::new("/proc/self/exe")).or_else(|e| {
            std::env::current_exe().map_err(|_| e).and_then(|path| sha256_hex(&path))
        })?;
        Ok(Self { build, files: BTreeMap::new() })
    }

    /// Returns the key of a finished part: the results of one plan in a command. `asked` has the
    /// options of the command that the plan lacks.
    ///
    /// # Errors
    /// Returns an error if a trace file or a job file can no longer be read.
    pub fn of(
        &mut self,
        command: &str,
        plan: &RunPlan,
        asked: &impl Debug,
    ) -> Result<Key, Failure> {
        let mut text = String::new();
        let told = "a text takes everything";
        write!(text, "{}\n{command}\n{asked:?}\n", self.build).expect(told);
        for path in files_of(&plan.workload) {
            writeln!(text, "{} {}", shown(&path), self.sha256(&path)?).expect(told);
        }
        // The requests of a trace depend only on the contents of the trace files and on the options
        // for reading. The plan also has results of scanning the files. These results are not part
        // of the key, because their order may vary.
        match &plan.workload {
            Workload::Trace { options, .. } => writeln!(text, "{options:?}"),
            Workload::Generated(loaded) => writeln!(text, "{} {:?}", loaded.name, loaded.config),
            other => writeln!(text, "{other:?}"),
        }
        .expect(told);
        // The text of the drive file is not part of the key, because comments in the text have no
        // effect.
        let mut rest = RunPlan {
            workload: Workload::Adversary { requests: 0, depth: 0, rate: None },
            ..plan.clone()
        };
        rest.drive.text.clear();
        write!(text, "{rest:?}").expect(told);
        let mut hex = String::with_capacity(64);
        for byte in Sha256::digest(text) {
            write!(hex, "{byte:02x}").expect(told);
        }
        Ok(Key(hex))
    }

    /// Returns whether the sizes and dates of the plan's files are unchanged since the key was
    /// made.
    pub fn still_hold(&self, plan: &RunPlan) -> bool {
        files_of(&plan.workload)
            .iter()
            .all(|path| self.files.get(path).is_some_and(|content| content.stamp == stamp(path)))
    }

    fn sha256(&mut self, path: &Path) -> Result<String, Failure> {
        if let Some(known) = self.files.get(path) {
            return Ok(known.sha256.clone());
        }
        // The size and date are taken before the content is read. If the file changes during the
        // reading, vpass therefore notices the change.
        let stamp = stamp(path);
        let sha256 = sha256_hex(path)?;
        self.files.insert(path.to_owned(), Content { sha256: sha256.clone(), stamp });
        Ok(sha256)
    }
}

/// Returns the files that contain the requests of a workload.
fn files_of(workload: &Workload) -> Vec<PathBuf> {
    match workload {
        Workload::Trace { survey, .. } => {
            survey.files().iter().map(|file| file.path.clone()).collect()
        }
        Workload::Fio { path, .. } => vec![path.clone()],
        Workload::Beside(all) => all.iter().flat_map(files_of).collect(),
        Workload::Generated(_) | Workload::Given(_) | Workload::Adversary { .. } => vec![],
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let about = fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Named, Replay, Setup};
    use vpass_workload::traces::Fit;

    fn plan(set: &[&str], seed: u64, reclaim: &str) -> RunPlan {
        let base =
            Base { seed, set: set.iter().map(|set| (*set).into()).collect(), ..Base::new("tiny") };
        RunPlan::new(
            &Setup::new(base, Named::Workload("uniform-read".into())),
            Chosen { reclaim, ..Chosen::default() },
            &unwatched,
        )
        .unwrap()
    }

    fn key(plan: &RunPlan) -> Key {
        Keys::of_this_program().unwrap().of("compare", plan, &()).unwrap()
    }

    #[test]
    fn equal_plans_share_a_key_and_different_plans_do_not() {
        let first = plan(&[], 1, "block");
        let mut commented = first.clone();
        commented.drive.text.push_str("# a comment");
        assert_eq!((key(&first), key(&first)), (key(&commented), key(&plan(&[], 1, "block"))));
        let mut others = vec![
            plan(&["drive.spare=0.3"], 1, "block"),
            plan(&["workload.requests=7"], 1, "block"),
            plan(&[], 2, "block"),
            plan(&[], 1, "none"),
            RunPlan { warm_up: 1, ..first.clone() },
            RunPlan { stages: true, ..first.clone() },
        ];
        others.push(first.clone());
        let mut keys: Vec<Key> = others.iter().map(key).collect();
        keys.push(
            Keys { build: "another".into(), files: BTreeMap::new() }
                .of("compare", &first, &())
                .unwrap(),
        );
        keys.push(Keys::of_this_program().unwrap().of("life", &first, &()).unwrap());
        keys.push(Keys::of_this_program().unwrap().of("compare", &first, &Some(5.0)).unwrap());
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!((keys.len(), count), (10, 10));
    }

    #[test]
    fn a_changed_trace_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let row = |offset: u64| format!("128166372000000000,host,0,Read,{offset},4096,0\n");
        let key = |offset: u64, path: &Path, fit: Fit| {
            fs::write(path, row(offset)).unwrap();
            let replay = Replay { fit, ..Replay::default() };
            let setup =
                Setup::new(Base::new("tiny"), Named::Trace { files: vec![path.into()], replay });
            key(&RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap())
        };
        let first = key(0, &path, Fit::Error);
        assert_eq!(first, key(0, &path, Fit::Error));
        assert_ne!(first, key(4096, &path, Fit::Error));
        assert_ne!(
            first,
            key(0, &folder.path().join("b.csv"), Fit::Error),
            "results contain the name"
        );
        assert_ne!(first, key(0, &path, Fit::Wrap));
    }

    /// Changes the trace file during a run. The result must not be kept under the key of the old
    /// content.
    #[test]
    fn a_key_holds_until_its_trace_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let row = "128166372000000000,host,0,Read,0,4096,0\n";
        fs::write(&path, row).unwrap();
        let setup = Setup::new(
            Base::new("tiny"),
            Named::Trace { files: vec![path.clone()], replay: Replay::default() },
        );
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        let mut keys = Keys::of_this_program().unwrap();
        assert!(!keys.still_hold(&plan), "the trace was not read yet");
        keys.of("run", &plan, &()).unwrap();
        assert!(keys.still_hold(&plan));
        fs::write(&path, row.repeat(2)).unwrap();
        assert!(!keys.still_hold(&plan));
        fs::remove_file(&path).unwrap();
        assert!(!keys.still_hold(&plan));
    }
}
