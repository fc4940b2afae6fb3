//! The comments on the fields of a type, from its source: what a key means is written once.

/// The files in which the tables' types stand.
const SOURCES: [&str; 14] = [
    include_str!("../../../core/src/config/flash.rs"),
    include_str!("../../../core/src/config/ftl.rs"),
    include_str!("../../../core/src/config/density.rs"),
    include_str!("../../../core/src/config/disturb.rs"),
    include_str!("../../../core/src/config/rates.rs"),
    include_str!("../../../core/src/config/ecc.rs"),
    include_str!("../../../core/src/config/bch.rs"),
    include_str!("../../../core/src/config/refresh.rs"),
    include_str!("../../../core/src/config/parity.rs"),
    include_str!("../../../core/src/config/hints.rs"),
    include_str!("../../../workload/src/synthetic/synthetic_config.rs"),
    include_str!("../../../workload/src/stripes/stripes_config.rs"),
    include_str!("../../../workload/src/phases/phases_config.rs"),
    include_str!("../../../workload/src/statistics/statistics_config.rs"),
];

/// Fields of a struct and what their comments say, in a user's words; nothing where the struct is
/// in none of the files.
pub(super) fn fields(type_name: &str) -> Vec<(String, String)> {
    let head = format!("pub struct {type_name} {{\n");
    let Some((_, body)) = SOURCES.iter().find_map(|source| source.split_once(&head)) else {
        return vec![];
    };
    let (mut fields, mut comment) = (vec![], vec![]);
    for line in body.lines().take_while(|line| *line != "}").map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment.push(words.trim());
        } else if let Some((name, _)) =
            line.strip_prefix("pub ").and_then(|field| field.split_once(": "))
        {
            fields.push((name.trim_start_matches("r#").to_owned(), in_words(&comment.join(" "))));
            comment.clear();
        }
    }
    fields
}

/// Without the marks of a comment.
fn in_words(comment: &str) -> String {
    comment.replace('`', "").trim_end_matches('.').to_owned()
}
