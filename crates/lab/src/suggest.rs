//! The name that a misspelt one probably meant.

/// Likeness (Jaro-Winkler) from which a name is worth suggesting: "chanels" finds channels, "csv" finds nothing.
const NEAR: f64 = 0.75;

/// The nearest of `names`, where one is near enough.
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

/// "; did you mean `x`?", or nothing.
pub fn hint<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wanted, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// "unknown drive `tniy`; did you mean `tiny`? (known: ...)".
pub fn unknown<'a>(what: &str, wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let known: Vec<_> = names.clone().into_iter().collect();
    format!("unknown {what} `{wanted}`{} (known: {})", hint(wanted, names), known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(nearest("chanels", ["channels", "dies_per_channel"]), Some("channels"));
        assert_eq!(nearest("TNIY", ["tiny", "modern-tlc"]), Some("tiny"));
        assert_eq!(nearest("qqq", ["channels", "tiny"]), None);
    }
}
