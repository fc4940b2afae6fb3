//! Parameters of the plug-in: the command line of `vpass serve`, and where its exit code goes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use vpass_cli::serve::Serving;
use vpass_live::Actor;

use crate::host::Host;

static GIVEN: Mutex<Settings> = Mutex::new(Settings { words: vec![], out: None, status: None });
/// Bits that new files lacked before the plug-in was loaded.
static FILE_MODES: AtomicU32 = AtomicU32::new(0);

/// Number of the file that was the standard output; -1 without one.
static STANDARD_OUTPUT: AtomicI32 = AtomicI32::new(-1);

/// Parameters of the plug-in.
pub(crate) struct Settings {
    words: Vec<OsString>,
    /// Results folder, which replaces that of the command line.
    out: Option<PathBuf>,
    /// File for the exit code.
    status: Option<PathBuf>,
}

/// Takes a parameter.
pub(crate) fn set(key: &str, value: &str) -> Result<(), String> {
    let mut given = GIVEN.lock().expect("no thread panics with it");
    match key {
        "words" => {
            let words: Vec<String> = serde_json::from_str(value)
                .map_err(|e| format!("words: {e}; a JSON list of texts is expected"))?;
            given.words = words.into_iter().map(OsString::from).collect();
        }
        "out" => given.out = Some(value.into()),
        "status" => given.status = Some(value.into()),
        _ => return Err(format!("unknown parameter `{key}`; words, out or status is expected")),
    }
    Ok(())
}

impl Settings {
    /// Returns all parameters, once.
    pub(crate) fn take() -> Self {
        let none = Self { words: vec![], out: None, status: None };
        std::mem::replace(&mut *GIVEN.lock().expect("no thread panics with it"), none)
    }

    /// Makes the drive.
    pub(crate) fn begin(self) -> Result<Host, String> {
        let (serving, drive, device) = match Serving::begin(self.words, self.out) {
            Ok(begun) => begun,
            Err(why) => {
                self.status.map(|file| std::fs::write(file, "2"));
                return Err(why);
            }
        };
        let actor = Actor::new(drive, device, serving.memory());
        Ok(Host::new(serving, actor, self.status))
    }
}

/// Lets only the user open the socket that nbdkit makes next.
pub(crate) fn close_socket_to_others() {
    // SAFETY: umask only changes the modes of new files, and nbdkit has one thread yet.
    let before = unsafe { libc::umask(0o177) };
    FILE_MODES.store(before, Ordering::Relaxed);
}

/// Keeps the standard output, which nbdkit closes before it serves.
pub(crate) fn keep_standard_output() {
    // SAFETY: dup only makes a further number for an open file.
    let kept = unsafe { libc::dup(libc::STDOUT_FILENO) };
    STANDARD_OUTPUT.store(kept, Ordering::Relaxed);
}

/// Opens the standard output again, for the results.
pub(crate) fn restore_standard_output() {
    let kept = STANDARD_OUTPUT.load(Ordering::Relaxed);
    if kept >= 0 {
        // SAFETY: dup2 replaces the number of the standard output, which nobody uses any more.
        unsafe { libc::dup2(kept, libc::STDOUT_FILENO) };
    }
}

/// Ends the effect of [`close_socket_to_others`], so that results get usual modes.
pub(crate) fn restore_file_modes() {
    // SAFETY: umask only changes the modes of new files.
    unsafe { libc::umask(FILE_MODES.load(Ordering::Relaxed)) };
}
