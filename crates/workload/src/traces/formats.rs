//! Lists all trace formats. Each format has its own source file. To add a format, add a source file
//! with a [`Format`], and add this format to [`FORMATS`].

pub(in crate::traces) mod alibaba;
pub(in crate::traces) mod arc;
pub(in crate::traces) mod blkparse;
pub(in crate::traces) mod compact;
pub(in crate::traces) mod diskmon;
pub(in crate::traces) mod disksim;
pub(in crate::traces) mod fio;
pub(in crate::traces) mod fio2;
pub(in crate::traces) mod mqsim;
pub(in crate::traces) mod msr;
pub(in crate::traces) mod spc;
pub(in crate::traces) mod srt;
pub(in crate::traces) mod srt_header;
pub(in crate::traces) mod systor;
pub(in crate::traces) mod tencent;
pub(in crate::traces) mod vscsi;
pub(in crate::traces) mod wiscsee;

use vpass_drive::base::request::SourceError;

use crate::traces::rows::format::Format;
use crate::traces::rows::quote::quote;

/// All trace formats that vpass reads, in the order in which vpass lists them.
pub static FORMATS: &[Format] = &[
    msr::FORMAT,
    disksim::FORMAT,
    mqsim::FORMAT,
    fio::FORMAT,
    fio2::FORMAT,
    blkparse::FORMAT,
    spc::FORMAT,
    alibaba::FORMAT,
    tencent::FORMAT,
    systor::FORMAT,
    diskmon::FORMAT,
    wiscsee::FORMAT,
    arc::FORMAT,
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
            let nearest = crate::nearest::nearest(&wanted, names);
            let hint = nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"));
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
