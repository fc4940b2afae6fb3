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

/// First bytes of recordings that vpass does not read, with the name of the tool and the command
/// that prints them as text. The first two are blktrace's, in either order of bytes.
const UNREAD: [(&[u8], &str, &str); 4] = [
    (b"\x07tae", "blktrace", "blkparse -i FILE"),
    (b"eat\x07", "blktrace", "blkparse -i FILE"),
    (b"PERFILE2", "perf", "perf script -i FILE"),
    (b"\x17\x08Dtracing", "trace-cmd", "trace-cmd report FILE"),
];

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
    if let Some((_, tool, command)) = UNREAD.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        let what =
            format!("is a binary recording of {tool}; text is expected, as `{command}` prints");
        return sentence(what.into());
    }
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
