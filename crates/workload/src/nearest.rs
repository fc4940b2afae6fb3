//! The name that a misspelt one probably meant, for error messages.

/// Likeness (Jaro-Winkler) from which a name is worth suggesting: "dsksim" finds disksim, "csv"
/// finds nothing; below it suggestions are noise (tried on all names here).
const NEAR: f64 = 0.7;

/// The nearest of `names`, where one is near enough. Case does not matter.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= NEAR)
        // The first of equals, so that the order of the list decides and not chance.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
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
    }
}
