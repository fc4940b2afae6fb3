//! Calculates the SHA-256 of a trace file as it lies on the disk, for the manifest of a run.

use crate::traces::shown::shown;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use vpass_drive::base::request::SourceError;

/// Returns the SHA-256 of a file's bytes on the disk, in hexadecimal. A compressed file is not
/// decompressed first.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn sha256_hex(path: &Path) -> Result<String, SourceError> {
    let sentence =
        |e: std::io::Error| SourceError::new(format!("{}: cannot be read: {e}", shown(path)));
    let mut file = File::open(path).map_err(sentence)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer).map_err(sentence)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").expect("a String takes everything");
    }
    Ok(hex)
}
