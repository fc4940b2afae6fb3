//! Folders and files that vpass is writing. An incomplete folder or file has a hidden temporary
//! name in its final parent folder. vpass removes folders and files that are never completed.
//!
//! The hidden name contains a random number, so two runs never share a name. A run locks its folder
//! or file as long as the run lives. A hidden folder without a lock is a leftover of a killed run.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::out::say;

/// Text that stands in every hidden name, between the final name and the process number.
const MARK: &str = ".unfinished-";
/// Number of hexadecimal digits in the random number of a hidden name.
const DIGITS: usize = 12;
/// Largest number of hidden names that are tried for one folder or file.
const TRIES: u32 = 16;

/// Returns the parent folder of a path.
pub(crate) fn parent_of(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a new hidden name for this path, in the same folder. A random number makes the name
/// unique.
pub(crate) fn hidden_beside(place: &Path, mark: &str) -> PathBuf {
    let mut name = begins_with(place.file_name().unwrap_or_default(), mark);
    let random = RandomState::new().hash_one(()) >> (64 - 4 * DIGITS);
    name.push(format!("{}-{random:0DIGITS$x}", std::process::id()));
    parent_of(place).join(name)
}

fn begins_with(name: &OsStr, mark: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(mark);
    hidden
}

/// Makes a hidden temporary folder for this path and locks the folder. If the system cannot lock
/// folders, no lock is returned.
pub(crate) fn make_hidden_folder(place: &Path) -> io::Result<(PathBuf, Option<File>)> {
    make(place, |path| {
        fs::create_dir(path)?;
        Ok(File::open(path).ok())
    })
}

/// Makes a hidden temporary file for this path and locks the file.
pub(crate) fn make_hidden_file(place: &Path) -> io::Result<(PathBuf, File)> {
    let (path, file) =
        make(place, |path| OpenOptions::new().write(true).create_new(true).open(path).map(Some))?;
    Ok((path, file.ok_or(io::ErrorKind::NotFound)?))
}

/// Makes a folder or file with a new hidden name, and locks it.
fn make(
    place: &Path,
    create: impl Fn(&Path) -> io::Result<Option<File>>,
) -> io::Result<(PathBuf, Option<File>)> {
    for _ in 0..TRIES {
        let path = hidden_beside(place, MARK);
        let held = match create(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        };
        // Before the lock was taken, another run may have removed the folder or file as a leftover.
        if held.as_ref().is_none_or(|file| file.lock().is_err() || path.exists()) {
            return Ok((path, held));
        }
    }
    Err(io::Error::other("no free name for a temporary file was found"))
}

/// Removes the hidden folders and files that killed runs left for this final path, and prints the
/// name of each such folder or file. A folder or file stays if a living run has locked it, or if
/// its name has no random number.
pub(crate) fn remove_leftovers(place: &Path) {
    for path in leftovers(place) {
        let (removed, shown) =
            (File::open(&path).and_then(|held| removed(&path, &held)), path.display());
        match removed {
            Ok(true) => say(&format!(
                "vpass: {shown} was left by a run that was killed, and is now removed"
            )),
            Ok(false) => {}
            Err(e) => say(&format!(
                "vpass: {shown} was left by a run that was killed, and cannot be removed: {e}"
            )),
        }
    }
}

/// Removes a folder or file, unless a living run has locked it. Returns whether it was removed.
fn removed(path: &Path, held: &File) -> io::Result<bool> {
    if held.try_lock().is_err() {
        return Ok(false);
    }
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.map(|()| true)
}

/// Returns the hidden folders and files that were made for this final path.
pub(crate) fn leftovers(place: &Path) -> Vec<PathBuf> {
    let Some(name) = place.file_name() else { return vec![] };
    let begins = begins_with(name, MARK);
    let is_made_for_it = |path: &PathBuf| {
        let own = path
            .file_name()
            .and_then(|name| name.as_encoded_bytes().strip_prefix(begins.as_encoded_bytes()));
        own.and_then(|rest| str::from_utf8(rest).ok())
            .and_then(|rest| rest.split_once('-'))
            .is_some_and(|(process, random)| {
                process.parse::<u32>().is_ok()
                    && random.len() == DIGITS
                    && random.bytes().all(|digit| digit.is_ascii_hexdigit())
            })
    };
    let entries = fs::read_dir(parent_of(place))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(is_made_for_it).collect()
}

/// Makes sure that a folder or a file is stored on the disk with all its content.
pub(crate) fn bring_to_disk(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return OpenOptions::new().write(true).open(path)?.sync_all();
    }
    for entry in fs::read_dir(path)? {
        bring_to_disk(&entry?.path())?;
    }
    bring_folder_to_disk(path)
}

/// Makes sure that the list of names in a folder is stored on the disk, if the system can do this.
pub(crate) fn bring_folder_to_disk(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_living_run_holds_stays_and_what_a_dead_one_left_goes() {
        let room = tempfile::tempdir().unwrap();
        let place = room.path().join("out");
        let (living, held) = make_hidden_folder(&place).unwrap();
        let (dead, lock) = make_hidden_folder(&place).unwrap();
        fs::write(dead.join("half"), "").unwrap();
        drop(lock);
        let (dead_file, file) = make_hidden_file(&place).unwrap();
        drop(file);
        let others = [
            ".out.unfinished-17",
            ".out.unfinished-17-0123",
            ".other.unfinished-17-0123456789ab",
            "out.unfinished-17-0123456789ab",
        ];
        for name in others {
            fs::create_dir(room.path().join(name)).unwrap();
        }
        remove_leftovers(&place);
        assert!(living.exists() && !dead.exists() && !dead_file.exists());
        assert!(
            others.iter().all(|name| room.path().join(name).exists()),
            "their owner is unknown"
        );
        drop(held);
    }

    #[test]
    fn two_runs_never_have_one_name() {
        let room = tempfile::tempdir().unwrap();
        let place = room.path().join("out");
        let names: std::collections::BTreeSet<PathBuf> =
            (0..100).map(|_| make_hidden_folder(&place).unwrap().0).collect();
        assert_eq!(names.len(), 100);
    }
}
