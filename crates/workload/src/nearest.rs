//! The name that a misspelt one probably meant, for error messages.

/// The nearest of `names`, where one is near enough to be worth suggesting.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // 0.7: "dsksim" finds disksim, "csv" finds nothing; below it suggestions are noise (tried on all names here).
    const NEAR: f64 = 0.7;
    names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
