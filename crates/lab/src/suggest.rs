//! Error messages about an unknown name. They suggest the most similar known name, and list all
//! known names.

use vpass_workload::nearest::nearest;

/// Returns a text such as "; did you mean `x`?". The text is empty if no known name is similar.
pub fn hint<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wanted, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Formats the error message about an unknown name. An example is "unknown drive `tniy`; did you
/// mean `tiny`? (known: ...)".
pub fn unknown<'a>(
    what: &str,
    wanted: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let known: Vec<_> = names.clone().into_iter().collect();
    format!("unknown {what} `{wanted}`{} (known: {})", hint(wanted, names), known.join(", "))
}

/// Joins names into a list, such as "`a`, `b` or `c`".
pub(crate) fn any_of(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => quoted.join(""),
    }
}
