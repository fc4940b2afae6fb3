//! A file that appears whole or not at all: written beside its place under another name and moved there at the end.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use vpass_lab::failure::Failure;

use crate::progress::Unfinished;

const BUFFER_BYTES: usize = 256 << 10;

/// A file that is being written.
pub(crate) struct OutFile {
    place: PathBuf,
    replace: bool,
    file: BufWriter<File>,
    temporary: Temporary,
}

/// The file under its other name; goes away unless it was moved.
struct Temporary {
    unfinished: Unfinished,
    moved: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.moved {
            self.unfinished.remove();
        }
    }
}

impl OutFile {
    /// Makes sure that the file can be written; an existing one is replaced at the end where `replace` says so.
    ///
    /// # Errors
    /// Something is there already, or the place cannot be written to.
    pub(crate) fn begin(place: &Path, replace: bool) -> Result<Self, Failure> {
        let name = place.file_name().ok_or_else(|| Failure::usage(format!("{}: this names no file", place.display())))?;
        refuse_existing(place, replace)?;
        let parent = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".unfinished-{}", std::process::id()));
        let unfinished = Unfinished { temporary: parent.join(hidden), place: place.to_owned(), made: vec![] };
        unfinished.register();
        let file = File::create(&unfinished.temporary);
        let temporary = Temporary { unfinished, moved: false };
        let file = file.map_err(|e| Failure::usage(format!("{} cannot be written: {e}", place.display())))?;
        Ok(Self { place: place.to_owned(), replace, file: BufWriter::with_capacity(BUFFER_BYTES, file), temporary })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// The disk's, or something has appeared there meanwhile.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let failed = |e: io::Error| Failure::failed(format!("{} cannot be written: {e}", self.place.display()));
        self.file.flush().map_err(failed)?;
        refuse_existing(&self.place, self.replace)?;
        self.temporary.unfinished.keep();
        fs::rename(&self.temporary.unfinished.temporary, &self.place).map_err(failed)?;
        self.temporary.moved = true;
        Ok(())
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Only a file may be replaced, and only where that was asked for.
fn refuse_existing(place: &Path, replace: bool) -> Result<(), Failure> {
    let Ok(there) = fs::symlink_metadata(place) else { return Ok(()) };
    if !there.is_file() {
        return Err(Failure::usage(format!("{} exists and is no regular file; another name is expected", place.display())));
    }
    if replace { Ok(()) } else { Err(Failure::usage(format!("{} exists; --force replaces it", place.display()))) }
}
