//! The drives that come with vpass, by name; each number in them names its source.

/// Name and text of each, in the order of lists: the smallest first.
pub const DRIVES: [(&str, &str); 13] = [
    ("tiny", include_str!("../../../presets/drives/tiny.toml")),
    ("straw-2t-tlc", include_str!("../../../presets/drives/straw-2t-tlc.toml")),
    ("ipr-128g-tlc", include_str!("../../../presets/drives/ipr-128g-tlc.toml")),
    ("ida-512g-tlc", include_str!("../../../presets/drives/ida-512g-tlc.toml")),
    ("da-raid5-mlc", include_str!("../../../presets/drives/da-raid5-mlc.toml")),
    ("modern-tlc", include_str!("../../../presets/drives/modern-tlc.toml")),
    ("modern-qlc", include_str!("../../../presets/drives/modern-qlc.toml")),
    ("aged-tlc", include_str!("../../../presets/drives/aged-tlc.toml")),
    ("aged-tlc-days", include_str!("../../../presets/drives/aged-tlc-days.toml")),
    ("aged-qlc", include_str!("../../../presets/drives/aged-qlc.toml")),
    ("rlr-rewriter-tlc", include_str!("../../../presets/drives/rlr-rewriter-tlc.toml")),
    ("rlr-rewriter-qlc", include_str!("../../../presets/drives/rlr-rewriter-qlc.toml")),
    ("rlr-retrier-tlc", include_str!("../../../presets/drives/rlr-retrier-tlc.toml")),
];

/// The text of a preset drive.
pub fn drive(name: &str) -> Option<&'static str> {
    DRIVES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
