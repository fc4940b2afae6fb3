//! Detects the possible formats of a trace file from the first bytes of the file.
//!
//! Each format has a check that recognises its files. These checks are deliberately coarse. As a
//! result, a wrong number in the first line causes an error about the number, and not the error
//! that the format is unknown.

use crate::traces::shown::shown;
use std::path::Path;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::SourceError;
use vpass_drive::phrase;

use crate::traces::formats::{FORMATS, known};
use crate::traces::rows::format::Format;
use crate::traces::rows::head::Head;
use crate::traces::rows::quote::quote;

/// Returns all formats that recognise the file.
fn candidates(head: &Head) -> Vec<&'static Format> {
    FORMATS
        .iter()
        .filter(|format| (head.is_text || !format.is_text()) && (format.detect)(head))
        .collect()
}

/// Returns the only format that recognises the start of a file.
///
/// # Errors
/// Returns an error if no format recognises the file, or if several formats do. The error quotes
/// the first line of the file.
pub(super) fn detected(path: &Path, bytes: &[u8]) -> Result<&'static Format, SourceError> {
    let sentence = |what: Phrase| {
        let path = shown(path);
        Err(SourceError::new(phrase!["{path}: ", what]))
    };
    let Some(head) = Head::new(bytes) else {
        return sentence("holds no requests".into());
    };
    let first = quote(head.first());
    match candidates(&head)[..] {
        [format] => Ok(format),
        [] if head.is_text => sentence(phrase![
            "the format is not recognised; the first line is {first}; known formats: ",
            known(),
            "; name the format with ",
            Opt::Format,
        ]),
        [] => sentence(phrase![
            "is not a recognised trace format; a trace, plain or compressed with gzip or zstd, is \
             expected; the file begins with {first}",
        ]),
        ref several => {
            let names: Vec<_> =
                several.iter().map(|f| format!("{} ({})", f.name, f.description)).collect();
            let names = names.join(" or ");
            sentence(phrase![
                "may be {names}; the first line is {first}; name the format with ",
                Opt::Format,
            ])
        }
    }
}
