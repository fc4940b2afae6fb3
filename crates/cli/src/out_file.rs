//! Output files that get their final names only when they are complete. Until then, each file has a
//! hidden temporary name.

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
        remove_leftovers(place);
        refuse_existing(place, replace)?;
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

    /// Writes the whole content, and renames the file to its final path.
    ///
    /// # Errors
    /// Returns an error as [`Self::finish`] does.
    pub(crate) fn finish_with(mut self, content: &str) -> Result<(), Failure> {
        self.write_all(content.as_bytes()).map_err(|e| failure(&self.place, &e))?;
        self.finish()
    }

    /// Renames the complete file to its final path.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written, or if the final path holds something that
    /// may not be replaced.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.complete()?;
        self.take_place()
    }

    /// Makes sure that the content is on the disk. An interrupt no longer removes the file.
    fn complete(&mut self) -> Result<(), Failure> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .map_err(|e| failure(&self.place, &e))?;
        refuse_existing(&self.place, self.replace)?;
        self.temporary.unfinished.keep();
        Ok(())
    }

    fn take_place(mut self) -> Result<(), Failure> {
        fs::rename(&self.temporary.unfinished.temporary, &self.place)
            .map_err(|e| failure(&self.place, &e))?;
        self.temporary.moved = true;
        bring_folder_to_disk(parent_of(&self.place)).map_err(|e| failure(&self.place, &e))
    }
}

/// Writes files that belong together into a folder, and replaces earlier files with their names.
/// The last file marks the folder as complete: it is absent while the other files are replaced. If
/// the process is killed meanwhile, the temporary file of the last one stays.
///
/// # Errors
/// Returns an error if the disk cannot be written.
pub(crate) fn write_together(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), Failure> {
    // Two commands at the same folder do not mix their files.
    let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    let mut complete = vec![];
    for (name, content) in files {
        let mut file = OutFile::begin(&folder.join(name), true)?;
        file.write_all(content).map_err(|e| failure(&file.place, &e))?;
        file.complete()?;
        complete.push(file);
    }
    if let Some(mark) = complete.last().map(|file| &file.place).filter(|mark| mark.exists()) {
        fs::remove_file(mark)
            .and_then(|()| bring_folder_to_disk(folder))
            .map_err(|e| failure(mark, &e))?;
    }
    complete.into_iter().try_for_each(OutFile::take_place)?;
    drop(held);
    Ok(())
}

fn failure(place: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("{} cannot be written: {e}", place.display()))
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
