//! Suggests the known name that is closest to a misspelt name, for error messages.

/// Smallest Jaro-Winkler similarity of a suggestion. For example, "disksim" is suggested for
/// "dsksim", and nothing is suggested for "csv". In a trial with all names of vpass, suggestions
/// with a lower similarity were useless.
const NEAR: f64 = 0.7;

/// Returns whether two names may be similar. A name of one or two letters has a high Jaro-Winkler
/// similarity to many long names. So a short name must be a part of a long name.
fn may_be_near(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    2 * short.len() >= long.len() || short.len() > 1 && long.contains(short)
}

/// Returns the name in `names` that is most similar to `wanted`, or `None` if no name is similar
/// enough. Letter case is ignored.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    names
        .into_iter()
        .map(|name| (name.to_lowercase(), name))
        .filter(|(lower, _)| may_be_near(&wanted, lower))
        .map(|(lower, name)| (strsim::jaro_winkler(&wanted, &lower), name))
        .filter(|(likeness, _)| *likeness >= NEAR)
        // If several names are equally similar, the first of these names is suggested.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

/// Returns the question whether the most similar name was meant, such as " (did you mean
/// disksim?)". The text is empty if no name is similar enough.
pub(crate) fn hint<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wanted, names).map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(nearest("chanels", ["channels", "dies_per_channel"]), Some("channels"));
        assert_eq!(nearest("TNIY", ["tiny", "modern-tlc"]), Some("tiny"));
        assert_eq!(nearest("dsksim", ["msr", "disksim"]), Some("disksim"));
        assert_eq!(nearest("qqq", ["channels", "tiny"]), None);
        assert_eq!(nearest("a", ["parity"]), None);
        assert_eq!(nearest("geo", ["parity", "geometry"]), Some("geometry"));
    }
}
