//! Lists all trace formats. A text format whose lines are independent of each other is an entry of
//! [`table`]. Every other format has a source file with a [`Format`]. [`FORMATS`] lists all of
//! them.

pub(in crate::traces) mod blkparse;
pub(in crate::traces) mod compact;
pub(in crate::traces) mod fio;
pub(in crate::traces) mod srt;
pub(in crate::traces) mod table;
pub(in crate::traces) mod vscsi;

use vpass_drive::base::request::SourceError;

use crate::traces::rows::format::Format;
use crate::traces::rows::quote::quote;

/// All trace formats that vpass reads, in the order in which vpass lists them.
pub static FORMATS: &[Format] = &[
    table::MSR,
    table::DISKSIM,
    table::MQSIM,
    fio::VERSION_3,
    fio::VERSION_2,
    blkparse::FORMAT,
    table::SPC,
    table::ALIBABA,
    table::TENCENT,
    table::SYSTOR,
    table::DISKMON,
    table::WISCSEE,
    table::ARC,
    vscsi::FORMAT,
    srt::FORMAT,
    compact::FORMAT,
];

/// Returns the format with the given name or alias.
///
/// # Errors
/// Returns an error if no format has the name. The error has the most similar name and all names.
pub fn format_named(name: &str) -> Result<&'static Format, SourceError> {
    let wanted = name.to_ascii_lowercase();
    FORMATS.iter().find(|f| f.name == wanted || f.aliases.contains(&wanted.as_str())).ok_or_else(
        || {
            let names = FORMATS
                .iter()
                .flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()));
            let hint = crate::nearest::hint(&wanted, names);
            SourceError::new(format!(
                "there is no trace format {}{hint}; known formats: {}",
                quote(name.as_bytes()),
                known()
            ))
        },
    )
}

/// Returns a list of all formats, for messages.
pub(in crate::traces) fn known() -> String {
    let one = |f: &Format| match f.aliases {
        [] => format!("{} ({})", f.name, f.description),
        others => format!("{} or {} ({})", f.name, others.join(" or "), f.description),
    };
    FORMATS.iter().map(one).collect::<Vec<_>>().join(", ")
}
