//! Results on disk and on standard output. A folder appears whole or not at all: it is written
//! beside its place under another name and moved there at the end.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use vpass_lab::failure::Failure;
use vpass_lab::files::File;

use crate::progress::{self, Unfinished};
use crate::table::wants_colour;
use crate::unfinished::{
    bring_folder_to_disk, bring_to_disk, hidden_beside, make_hidden_folder, parent_of,
    remove_leftovers,
};
use vpass_lab::plain;

/// Prints to standard output. A reader that has seen enough (`vpass list | head`) is no failure.
///
/// # Errors
/// Standard output cannot be written to.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&plain::report(text, wants_colour()))
}

/// Prints the text of a file, which is to be read by a program: as it is, unless a terminal would
/// read it.
///
/// # Errors
/// Standard output cannot be written to.
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

/// Says a sentence to the user, beside the results: one line, whatever is in it.
pub(crate) fn say(sentence: &str) {
    // Nothing can be done where standard error is closed, and nothing needs to.
    let _ = writeln!(io::stderr().lock(), "{}", plain::line(sentence));
}

/// Says a paragraph that this program wrapped: its ends of lines stay.
pub(crate) fn say_wrapped(paragraph: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain::lines(paragraph));
}

/// Says some sentences, a line each.
pub(crate) fn say_all(sentences: &[String]) {
    for sentence in sentences {
        say(&format!("vpass: {sentence}"));
    }
}

/// A results folder that is being written.
pub(crate) struct Folder {
    place: PathBuf,
    unfinished: Unfinished,
    /// Held as long as the folder is being written, so that no other run takes it for a dead run's.
    held: Option<fs::File>,
    finished: bool,
}

/// Where a folder of this name will be: behind a link, because what is moved to its place at the
/// end cannot take that of a link.
pub(crate) fn real_place(place: &Path) -> PathBuf {
    fs::canonicalize(place).ok().filter(|_| place.is_symlink()).unwrap_or_else(|| place.to_owned())
}

impl Folder {
    /// Makes sure that the folder can be written. Removes what dead runs left of it.
    ///
    /// # Errors
    /// Something is there already, or the place cannot be written to.
    pub(crate) fn begin(place: &Path) -> Result<Self, Failure> {
        let place = real_place(place);
        if place.file_name().is_none() {
            return Err(Failure::usage(format!("--out {}: this names no folder", place.display())));
        }
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

    /// Where to write in the meantime.
    pub(crate) fn path(&self) -> &Path {
        &self.unfinished.temporary
    }

    /// Puts the folder in its place, once all of it is on the disk.
    ///
    /// # Errors
    /// Something has appeared there meanwhile; the results stay beside it.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        // From here on the folder is whole, and so it stays.
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
                e.sentence,
                self.set_aside().display()
            ))
        })
    }

    /// Gives whole results a name that no later run takes for a dead run's.
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
        // The lock ends behind what it is for.
        self.held = None;
    }
}

/// Makes a folder for this place, and does with an empty one what will be done with the results: a
/// place that cannot be taken costs no run.
fn probed(place: &Path) -> io::Result<(PathBuf, Option<fs::File>)> {
    let made = make_hidden_folder(place)?;
    if !place.is_dir() {
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
        Err(e) if e.kind() == io::ErrorKind::NotFound && place.is_symlink() => {
            "is a link to nothing"
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && !place.exists() => {
            "lies below a file"
        }
        Err(_) => "exists and is no folder that could be read",
    };
    Err(Failure::usage(format!(
        "--out {} {what}; a new or empty folder is expected",
        place.display()
    )))
}

/// Writes files into a folder that exists.
///
/// # Errors
/// The disk's.
pub(crate) fn write_files(
    folder: &Path,
    files: impl IntoIterator<Item = File>,
) -> Result<(), Failure> {
    files.into_iter().try_for_each(|(name, content)| write_file(folder, &name, &content))
}

/// Makes a folder within one of [`Folder`].
///
/// # Errors
/// The disk's.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir(path).map_err(|e| failure(path, &e))
}

/// Writes one file.
///
/// # Errors
/// The disk's.
pub(crate) fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|e| failure(&path, &e))
}

/// The user knows the place, not what it is called until then.
fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("{} cannot be written: {e}", progress::place_of(path).display()))
}
