//! Name of a trace file in messages and results. The copy of standard input has no name that a user
//! knows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Name of the copy of standard input in messages and results.
pub const STANDARD_INPUT: &str = "standard input";

/// File that holds a copy of standard input, if there is one.
static COPY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Declares that a file is a copy of standard input. Messages and results then show
/// [`STANDARD_INPUT`] in place of the file's path, which differs in each run.
pub fn show_as_standard_input(copy: &Path) {
    *lock() = Some(copy.to_owned());
}

/// Returns the name of a trace file for messages and results.
pub fn shown(path: &Path) -> Cow<'_, str> {
    if lock().as_deref() == Some(path) { STANDARD_INPUT.into() } else { path.to_string_lossy() }
}

/// Locks the path of the copy. A panic of another thread leaves the path whole.
fn lock() -> MutexGuard<'static, Option<PathBuf>> {
    COPY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_copy_of_standard_input_hides_its_path() {
        let (copy, other) = (Path::new("/tmp/vpass-1/stdin"), Path::new("/tmp/vpass-2/stdin"));
        assert_eq!(shown(copy), "/tmp/vpass-1/stdin");
        show_as_standard_input(copy);
        assert_eq!((&*shown(copy), &*shown(other)), ("standard input", "/tmp/vpass-2/stdin"));
    }
}
