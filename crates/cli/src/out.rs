//! Results on disk and on standard output. A folder appears whole or not at all: it is written beside its place under
//! another name and moved there at the end.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use vpass_lab::failure::Failure;
use vpass_lab::files::File;

use crate::progress::{self, Unfinished};

/// Prints to standard output. A reader that has seen enough (`vpass list | head`) is no failure.
///
/// # Errors
/// Standard output cannot be written to.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Says something to the user, beside the results.
pub(crate) fn say(text: &str) {
    // Nothing can be done where standard error is closed, and nothing needs to.
    let _ = writeln!(io::stderr().lock(), "{text}");
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
    finished: bool,
}

impl Folder {
    /// Makes sure that the folder can be written.
    ///
    /// # Errors
    /// Something is there already, or the place cannot be written to.
    pub(crate) fn begin(place: &Path) -> Result<Self, Failure> {
        // Behind a link: what is moved to its place at the end cannot take that of a link.
        let behind = fs::canonicalize(place).ok().filter(|_| place.is_symlink());
        let place = behind.as_deref().unwrap_or(place);
        let name = place.file_name().ok_or_else(|| Failure::usage(format!("--out {}: this names no folder", place.display())))?;
        refuse_existing(place)?;
        let parent = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made: Vec<_> = parent.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists()).map(Path::to_owned).collect();
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".unfinished-{}", std::process::id()));
        let unfinished = Unfinished { temporary: parent.join(hidden), place: place.to_owned(), made };
        unfinished.register();
        let folder = Self { place: place.to_owned(), unfinished, finished: false };
        let io_failure = |e: io::Error| Failure::usage(format!("--out {} cannot be written: {e}", place.display()));
        fs::create_dir_all(parent).map_err(io_failure)?;
        fs::create_dir(&folder.unfinished.temporary).map_err(io_failure)?;
        folder.probe().map_err(io_failure)?;
        Ok(folder)
    }

    /// Where to write in the meantime.
    pub(crate) fn path(&self) -> &Path {
        &self.unfinished.temporary
    }

    /// Does with an empty folder what will be done with the results: a place that cannot be taken costs no run.
    fn probe(&self) -> io::Result<()> {
        if self.place.is_dir() {
            self.take_place()?;
            fs::create_dir(self.path())?;
        }
        Ok(())
    }

    fn take_place(&self) -> io::Result<()> {
        if self.place.is_dir() {
            fs::remove_dir(&self.place)?;
        }
        fs::rename(self.path(), &self.place)
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// Something has appeared there meanwhile; the results stay where they were written.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        // From here on the folder is whole, and so it stays.
        self.finished = true;
        self.unfinished.keep();
        let moved = refuse_existing(&self.place).and_then(|()| self.take_place().map_err(|e| failure(&self.place, &e)));
        moved.map_err(|e| Failure::failed(format!("{}; the results are in {}", e.sentence, self.path().display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.finished {
            self.unfinished.remove();
        }
    }
}

fn refuse_existing(place: &Path) -> Result<(), Failure> {
    let what = match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Ok(false) => "is not empty",
        Err(e) if e.kind() == io::ErrorKind::NotFound && place.is_symlink() => "is a link to nothing",
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory && !place.exists() => "lies below a file",
        Err(_) => "exists and is no folder that could be read",
    };
    Err(Failure::usage(format!("--out {} {what}; a new or empty folder is expected", place.display())))
}

/// Writes files into a folder that exists.
///
/// # Errors
/// The disk's.
pub(crate) fn write_files(folder: &Path, files: impl IntoIterator<Item = File>) -> Result<(), Failure> {
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
