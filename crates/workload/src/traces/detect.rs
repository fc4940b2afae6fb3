//! Which formats a file may have, from its first bytes alone. Formats say by themselves what they
//! look like; this asks them all. The look is coarse on purpose: a file of a known shape with a
//! wrong number in its first line should be told which number is wrong.

use std::path::Path;

use vpass_core::base::request::SourceError;

use crate::traces::formats::{FORMATS, known};
use crate::traces::rows::format::Format;
use crate::traces::rows::head::Head;
use crate::traces::rows::quote::quote;

/// All formats that recognise a file.
fn candidates(head: &Head) -> Vec<&'static Format> {
    FORMATS
        .iter()
        .filter(|format| (head.is_text || !format.is_text()) && (format.detect)(head))
        .collect()
}

/// The one format that the beginning of a file shows.
///
/// # Errors
/// A sentence with the first line, where there is none or where there are several.
pub(super) fn detected(path: &Path, bytes: &[u8]) -> Result<&'static Format, SourceError> {
    let sentence = |what: String| Err(SourceError(format!("{}: {what}", path.display())));
    let Some(head) = Head::new(bytes) else {
        return sentence("holds no requests".into());
    };
    let first = quote(head.first());
    match candidates(&head)[..] {
        [format] => Ok(format),
        [] if head.is_text => sentence(format!(
            "the format is not recognised; the first line is {first}; known formats: {}; name one with --format",
            known()
        )),
        [] => sentence(format!(
            "is no text and no binary trace that is known; a trace, plain or compressed with gzip or zstd, is expected; it begins with {first}"
        )),
        ref several => {
            let names: Vec<_> =
                several.iter().map(|f| format!("{} ({})", f.name, f.description)).collect();
            sentence(format!(
                "may be {}; the first line is {first}; name one with --format",
                names.join(" or ")
            ))
        }
    }
}
