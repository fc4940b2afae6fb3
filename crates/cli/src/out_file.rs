//! Output file that gets its final name only when it is complete. Until then, the file has a hidden
//! temporary name.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use vpass_lab::failure::Failure;

use crate::progress::Unfinished;
use crate::unfinished::{bring_folder_to_disk, make_hidden_file, parent_of, remove_leftovers};

const BUFFER_BYTES: usize = 256 << 10;

/// Output file that is being written.
pub(crate) struct OutFile {
    place: PathBuf,
    replace: bool,
    file: BufWriter<File>,
    temporary: Temporary,
}

/// File under its temporary name. If the file is not renamed to its final path, it is removed.
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
    /// Begins an output file, and checks that its final path can be written. With `replace`, the
    /// complete output file will replace an existing file.
    ///
    /// # Errors
    /// Returns an error for an existing file, or for a path that cannot be written.
    pub(crate) fn begin(place: &Path, replace: bool) -> Result<Self, Failure> {
        if place.file_name().is_none() {
            return Err(Failure::usage(format!("{}: a file name is expected", place.display())));
        }
        refuse_existing(place, replace)?;
        remove_leftovers(place);
        let (temporary, file) = make_hidden_file(place)
            .map_err(|e| Failure::usage(format!("{} cannot be written: {e}", place.display())))?;
        let unfinished = Unfinished { temporary, place: place.to_owned(), made: vec![] };
        unfinished.register();
        let temporary = Temporary { unfinished, moved: false };
        Ok(Self {
            place: place.to_owned(),
            replace,
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            temporary,
        })
    }

    /// Renames the complete file to its final path.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written, or if the final path holds something that
    /// may not be replaced.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let failed = |e: io::Error| {
            Failure::failed(format!("{} cannot be written: {e}", self.place.display()))
        };
        self.file.flush().and_then(|()| self.file.get_ref().sync_all()).map_err(failed)?;
        refuse_existing(&self.place, self.replace)?;
        self.temporary.unfinished.keep();
        fs::rename(&self.temporary.unfinished.temporary, &self.place).map_err(failed)?;
        self.temporary.moved = true;
        bring_folder_to_disk(parent_of(&self.place)).map_err(failed)
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

/// Returns an error if something exists at this path. With `replace`, a regular file may exist
/// there.
fn refuse_existing(place: &Path, replace: bool) -> Result<(), Failure> {
    let Ok(there) = fs::symlink_metadata(place) else { return Ok(()) };
    if !there.is_file() {
        return Err(Failure::usage(format!(
            "{} exists and is not a regular file; another name is expected",
            place.display()
        )));
    }
    if replace {
        Ok(())
    } else {
        Err(Failure::usage(format!("{} exists; --force replaces it", place.display())))
    }
}
