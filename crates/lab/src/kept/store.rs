//! Folder with files of finished parts. A file has a temporary name while vpass writes the part,
//! and gets its final name when the part is complete.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::key::Key;
use super::part::{decoded, encoded};

/// Endings of file names: for finished parts, for parts that are still being written, and for parts
/// whose results are about to get their final path.
const PART: &str = "part";
const BEING_WRITTEN: &str = "new";
const ENDING: &str = "ending";

/// Store of finished parts. Commands with the same results folder share a store.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Files with the parts of this command. Some of the files may come from an earlier run of the
    /// command.
    own: Mutex<BTreeSet<PathBuf>>,
}

impl Store {
    /// Opens the store of the results folder `place`, in a hidden folder beside it. Removes what
    /// killed commands left: incomplete parts, and parts of results that are complete. The hidden
    /// folder is created when the first part is kept. Returns `None` if the path has no name.
    pub fn beside(place: &Path) -> Option<Self> {
        let folder = place.with_file_name(format!(".{}.rows", place.file_name()?.display()));
        let has_results = fs::read_dir(place).is_ok_and(|mut all| all.next().is_some());
        for path in files_in(&folder, ENDING) {
            let _ = if has_results {
                fs::remove_file(&path)
            } else {
                fs::rename(&path, path.with_extension(PART))
            };
        }
        let store = Self::open(folder);
        let _ = fs::remove_dir(&store.folder);
        Some(store)
    }

    /// Opens the store in the given folder. Removes incomplete parts of commands that no longer
    /// run.
    fn open(folder: PathBuf) -> Self {
        let begun = files_in(&folder, BEING_WRITTEN);
        begun
            .into_iter()
            .filter(|path| is_abandoned(path))
            .for_each(|path| drop(fs::remove_file(path)));
        Self { folder, own: Mutex::default() }
    }

    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the part with this key; `None` if the part is missing or incomplete.
    pub fn find<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let path = self.path(key);
        let part = decoded(&fs::read(&path).ok()?)?;
        self.note(path);
        Some(part)
    }

    /// Keeps a part on disk and returns true. If decoding would not restore exactly the same part,
    /// keeps nothing and returns false.
    ///
    /// # Errors
    /// Returns an error if a disk operation fails.
    pub fn keep<T: Serialize + DeserializeOwned>(&self, key: &Key, part: &T) -> io::Result<bool> {
        let Some(bytes) = encoded(part) else { return Ok(false) };
        fs::create_dir_all(&self.folder)?;
        let path = self.path(key);
        let begun = self.folder.join(format!(
            "{}-{:016x}.{BEING_WRITTEN}",
            key.0,
            RandomState::new().hash_one(())
        ));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&begun)?;
        // A command locks each file that it writes. An incomplete file without a lock therefore
        // belongs to a command that no longer runs.
        let _ = file.try_lock();
        let written = file
            .write_all(&bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&begun, &path));
        if written.is_err() {
            let _ = fs::remove_file(&begun);
        }
        written?;
        if let Ok(folder) = File::open(&self.folder) {
            let _ = folder.sync_all();
        }
        self.note(path);
        Ok(true)
    }

    /// Returns the number of parts that this command has on disk.
    pub fn count(&self) -> usize {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the number of all other parts on disk. These parts belong to other commands, or to
    /// this command with other settings.
    pub fn others(&self) -> usize {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        files_in(&self.folder, PART).iter().filter(|path| !own.contains(*path)).count()
    }

    /// Removes the parts of all commands. Returns the number of removed parts.
    ///
    /// # Errors
    /// Returns an error if a disk operation fails.
    pub fn clear(&self) -> io::Result<usize> {
        let parts = files_in(&self.folder, PART);
        parts.iter().try_for_each(fs::remove_file)?;
        let _ = fs::remove_dir(&self.folder);
        Ok(parts.len())
    }

    /// Marks the parts of this command, whose results are about to get their final path. If the
    /// command is killed afterwards, [`Self::beside`] removes the parts.
    pub fn ending(&self) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        *own = std::mem::take(&mut *own)
            .into_iter()
            .map(|path| {
                let marked = path.with_extension(ENDING);
                if fs::rename(&path, &marked).is_ok() { marked } else { path }
            })
            .collect();
    }

    /// Removes the parts of this command when all results of the command have been written
    /// elsewhere. If the folder is then empty, removes the folder too.
    pub fn done(&self) {
        let own = std::mem::take(&mut *self.own.lock().unwrap_or_else(PoisonError::into_inner));
        for path in &own {
            drop(fs::remove_file(path));
        }
        let _ = fs::remove_dir(&self.folder);
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.{PART}", key.0))
    }

    fn note(&self, path: PathBuf) {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }
}

/// Returns all files with the given name ending in a folder. If the folder cannot be read, the list
/// is empty.
fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|of| of == ending)).collect()
}

fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_key_until_the_command_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("rows");
        let key = |n: u8| Key(format!("{n:064x}"));
        let store = || Store::open(place.clone());
        let first = store();
        assert_eq!(first.find::<u64>(&key(1)), None);
        assert!(!place.exists(), "without parts, no folder is made");
        assert!(first.keep(&key(1), &7u64).unwrap() && first.keep(&key(2), &8u64).unwrap());
        drop(first);
        let second = store();
        assert_eq!(
            (
                second.find::<u64>(&key(1)),
                second.find::<u64>(&key(3)),
                second.count(),
                second.others()
            ),
            (Some(7), None, 1, 1)
        );
        fs::write(place.join("mine.txt"), "").unwrap();
        second.done();
        let third = store();
        assert_eq!(
            (third.find::<u64>(&key(1)), third.find::<u64>(&key(2))),
            (None, Some(8)),
            "only the command's own parts"
        );
        assert_eq!(third.clear().unwrap(), 1);
        assert!(place.join("mine.txt").exists(), "only parts are removed");
        fs::remove_file(place.join("mine.txt")).unwrap();
        third.done();
        assert!(!place.exists());
    }

    #[test]
    fn marked_parts_go_if_there_are_results_and_come_back_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let open = || Store::beside(&place).unwrap();
        let key = Key(format!("{:064x}", 1));
        let killed = || {
            let store = open();
            assert!(store.keep(&key, &7u64).unwrap());
            store.ending();
            assert!(!store.path(&key).exists());
        };
        killed();
        fs::create_dir(&place).unwrap();
        assert_eq!(open().find::<u64>(&key), Some(7), "an empty folder has no results");
        killed();
        fs::write(place.join("life.json"), "").unwrap();
        open();
        assert!(!folder.path().join(".out.rows").exists());
    }

    #[test]
    fn incomplete_parts_of_dead_commands_go_and_those_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [dead, living] =
            ["a", "b"].map(|name| folder.path().join(format!("{name}.{BEING_WRITTEN}")));
        fs::write(&dead, "half").unwrap();
        let file = File::create(&living).unwrap();
        file.try_lock().unwrap();
        Store::open(folder.path().to_owned());
        assert!(!dead.exists() && living.exists());
    }
}
