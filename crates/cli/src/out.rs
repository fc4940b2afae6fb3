//! Output of results to disk and to standard output. A results folder appears complete or not at
//! all. vpass writes the folder under a hidden temporary name, and renames it at the end.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use vpass_drive::base::phrase::Phrase;
use vpass_lab::failure::Failure;
use vpass_lab::files::File;
use vpass_lab::kept::Store;

use crate::dialect;
use crate::progress::{self, Unfinished};
use crate::table::wants_colour;
use crate::unfinished::{
    bring_folder_to_disk, bring_to_disk, hidden_beside, make_hidden_folder, parent_of,
    remove_leftovers,
};
use vpass_lab::plain;

/// Prints a text to standard output. If a reading program such as `head` closes the pipe early, no
/// error is returned.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&plain::report(text, wants_colour()))
}

/// Prints the text of a file. The text stays unchanged for other programs that read standard
/// output. Only on a terminal, control characters are escaped.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub(crate) fn print_file(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { print(text) } else { print_as_it_is(text) }
}

fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints a sentence to standard error. The sentence becomes one line, even if it contains line
/// breaks.
pub(crate) fn say(sentence: &str) {
    // If standard error is closed, the sentence is lost without an error.
    let _ = writeln!(io::stderr().lock(), "{}", plain::line(sentence));
}

/// Prints a wrapped paragraph to standard error. The line breaks of the paragraph are kept.
pub(crate) fn say_wrapped(paragraph: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain::lines(paragraph));
}

/// Prints sentences to standard error, one line each.
pub(crate) fn say_all(sentences: &[impl Clone + Into<Phrase>]) {
    for sentence in sentences {
        say(&format!("vpass: {}", dialect::words(&sentence.clone().into())));
    }
}

/// Results folder that is being written.
pub(crate) struct Folder {
    place: PathBuf,
    unfinished: Unfinished,
    /// Lock on the folder until all results are written. Without the lock, another run could take
    /// the folder for a leftover and remove it.
    held: Option<fs::File>,
    finished: bool,
}

/// Returns the target of a symbolic link, because a folder cannot be moved onto a link. Other paths
/// are returned unchanged.
pub(crate) fn real_place(place: &Path) -> PathBuf {
    fs::canonicalize(place).ok().filter(|_| place.is_symlink()).unwrap_or_else(|| place.to_owned())
}

impl Folder {
    /// Begins a results folder. Checks that the final path can be written, and removes leftovers of
    /// killed runs.
    ///
    /// # Errors
    /// Returns an error for a folder that is not empty, or for a path that cannot be written.
    pub(crate) fn begin(place: &Path) -> Result<Self, Failure> {
        let place = real_place(place);
        if place.file_name().is_none() {
            return Err(Failure::usage(format!(
                "--out {}: a folder name is expected",
                place.display()
            )));
        }
        // Removes what a killed command left, also if the command has completed the results.
        Store::beside(&place);
        refuse_existing(&place)?;
        let parent = parent_of(&place);
        let made: Vec<_> = parent
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
            .map(Path::to_owned)
            .collect();
        let begun = fs::create_dir_all(parent).and_then(|()| {
            remove_leftovers(&place);
            probed(&place)
        });
        let (temporary, held) = begun.map_err(|e| {
            for folder in &made {
                drop(fs::remove_dir(folder));
            }
            Failure::usage(format!("--out {} cannot be written: {e}", place.display()))
        })?;
        let unfinished = Unfinished { temporary, place: place.clone(), made };
        unfinished.register();
        Ok(Self { place, unfinished, held, finished: false })
    }

    /// Returns the temporary folder, into which results are written first.
    pub(crate) fn path(&self) -> &Path {
        &self.unfinished.temporary
    }

    /// Writes all files to the disk, and then renames the folder to its final path.
    ///
    /// # Errors
    /// Returns an error if another file or folder has appeared at the final path. The results then
    /// stay in the same parent folder, under a hidden name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        // The results are complete now, so an interrupt must not remove the folder.
        self.finished = true;
        self.unfinished.keep();
        let moved = refuse_existing(&self.place).and_then(|()| {
            let moved =
                bring_to_disk(self.path()).and_then(|()| take_place(self.path(), &self.place));
            moved
                .and_then(|()| bring_folder_to_disk(parent_of(&self.place)))
                .map_err(|e| failure(&self.place, &e))
        });
        moved.map_err(|e| {
            Failure::failed(format!(
                "{}; the results are in {}",
                dialect::sentence(&e),
                self.set_aside().display()
            ))
        })
    }

    /// Gives the folder of complete results a hidden name that no later run takes for a leftover.
    fn set_aside(&self) -> PathBuf {
        let aside = hidden_beside(&self.place, ".whole-");
        if fs::rename(self.path(), &aside).is_ok() { aside } else { self.path().to_owned() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.finished {
            self.unfinished.remove();
        }
        // The lock may be released only after the folder is removed.
        self.held = None;
    }
}

/// Writes a results folder at a path where nothing exists, for callers without a command line.
///
/// # Errors
/// Returns an error if the disk cannot be written.
pub fn save(place: &Path, files: &[File]) -> io::Result<()> {
    remove_leftovers(place);
    let (temporary, held) = make_hidden_folder(place)?;
    let written = files
        .iter()
        .try_for_each(|(name, content)| fs::write(temporary.join(name), content))
        .and_then(|()| bring_to_disk(&temporary))
        .and_then(|()| fs::rename(&temporary, place))
        .and_then(|()| bring_folder_to_disk(parent_of(place)));
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    drop(held);
    written
}

/// Makes the hidden temporary folder for this path. If an empty folder exists at the path, vpass
/// tests whether this folder can be replaced. The user thus learns before the run that a path is
/// unusable.
fn probed(place: &Path) -> io::Result<(PathBuf, Option<fs::File>)> {
    // Another program may make a folder at this path later. `take_place` replaces such a folder if
    // the folder is empty, and fails otherwise.
    let is_there = place.is_dir();
    let made = make_hidden_folder(place)?;
    if !is_there {
        return Ok(made);
    }
    if let Err(e) = take_place(&made.0, place) {
        let _ = fs::remove_dir(&made.0);
        return Err(e);
    }
    make_hidden_folder(place)
}

fn take_place(folder: &Path, place: &Path) -> io::Result<()> {
    if place.is_dir() {
        fs::remove_dir(place)?;
    }
    fs::rename(folder, place)
}

fn refuse_existing(place: &Path) -> Result<(), Failure> {
    let what = match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Ok(false) => "is not empty",
        Err(e) if e.kind() == io::ErrorKind::NotFound && place.is_symlink() => "is a broken link",
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && !place.exists() => {
            "lies below a file"
        }
        Err(_) => "exists and is not a readable folder",
    };
    Err(Failure::usage(format!(
        "--out {} {what}; a new or empty folder is expected",
        place.display()
    )))
}

/// Writes files into an existing folder.
///
/// # Errors
/// Returns an error if the disk cannot be written.
pub(crate) fn write_files(
    folder: &Path,
    files: impl IntoIterator<Item = File>,
) -> Result<(), Failure> {
    files.into_iter().try_for_each(|(name, content)| write_file(folder, &name, content.as_bytes()))
}

/// Makes a subfolder in a [`Folder`].
///
/// # Errors
/// Returns an error if the disk cannot be written.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir(path).map_err(|e| failure(path, &e))
}

/// Writes one file into a folder.
///
/// # Errors
/// Returns an error if the disk cannot be written.
pub(crate) fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|e| failure(&path, &e))
}

/// Returns an error that names the final path. The user does not know the temporary path.
fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("{} cannot be written: {e}", progress::place_of(path).display()))
}
