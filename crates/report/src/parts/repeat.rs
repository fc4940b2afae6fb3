//! Part of the page that says how to repeat the results: command line, configuration, and digests.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::model::{Model, number};
use crate::numbers::{count, trimmed};
use crate::section::Section;
use crate::svg::escape;

/// Characters that a shell accepts without quotes.
const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";

/// Returns the page section that says how to repeat the results.
pub(crate) fn section(model: &Model) -> Section {
    let command = command(model);
    let copy = "<button id=\"copy\" type=\"button\">Copy</button> ";
    let command = command.map_or_else(
        || {
            "<p class=\"big-note\">The command line is absent, because manifest.json of the folder \
             has none.</p>"
                .to_owned()
        },
        |command| format!("<pre class=\"cmd\" id=\"cmd\">{}</pre>{copy}", escape(&command)),
    );
    let mut list = String::new();
    for (name, value) in facts(model) {
        let _ = write!(list, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    let html = format!(
        "<section id=\"conf\" aria-labelledby=\"conf-h\"><h2 id=\"conf-h\">How to make these \
         results again</h2>{command}<span class=\"big-note\">{}</span><dl class=\"kv\">{list}\
         </dl>{}</section>",
        escape(&origin(model)),
        keys(model)
    );
    Section { html, data: vec![] }
}

/// Returns the command line that made the results; `None` if it is not stored.
fn command(model: &Model) -> Option<String> {
    let words = model.manifest.get("command_line").and_then(Value::as_array)?;
    let words: Vec<String> = words.iter().filter_map(Value::as_str).map(quoted).collect();
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        let starts_option = word.starts_with("--");
        if i > 0 {
            text.push_str(if starts_option { " \\\n  " } else { " " });
        }
        text.push_str(word);
    }
    (!text.is_empty()).then_some(text)
}

/// Returns an argument in the form that a shell accepts, with quotes if necessary.
fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(|c| PLAIN.contains(c)) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the version of vpass, its source commit, and the digests of the input files.
fn origin(model: &Model) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut parts = vec![format!("vpass {}", model.about.vpass)];
    parts.extend(text(&model.manifest, "git_commit").map(|commit| format!("commit {commit}")));
    let workload = model.manifest.get("workload_configuration").unwrap_or(&Value::Null);
    let job = workload.pointer("/fio/sha256").and_then(Value::as_str);
    parts.extend(job.map(|digest| format!("job file SHA-256 {digest}")));
    let traces = model.manifest.get("traces").and_then(Value::as_array);
    for trace in traces.into_iter().flatten() {
        parts.extend(text(trace, "sha256").map(|digest| {
            let file = text(trace, "file").or_else(|| text(trace, "path")).unwrap_or_default();
            format!("trace {file} SHA-256 {digest}")
        }));
    }
    parts.push("the same seed, build and configuration give the same bytes".into());
    parts.join(" · ")
}

/// Settings that readers usually want to see first. Each entry has a name, the keys, and the text
/// between the values of the keys.
const FACTS: [(&str, &[&str], &str); 11] = [
    ("capacity", &["/drive/capacity"], ""),
    ("spare", &["/drive/spare"], ""),
    (
        "channels × dies × planes",
        &["/geometry/channels", "/geometry/dies_per_channel", "/geometry/planes_per_die"],
        " × ",
    ),
    ("blocks per plane", &["/geometry/blocks_per_plane"], ""),
    ("wordlines per block", &["/geometry/wordlines_per_block"], ""),
    ("cell, page", &["/geometry/cell", "/geometry/page_size"], ", "),
    (
        "sense / program / erase, µs",
        &["/timing/sense_us", "/timing/program_us", "/timing/erase_us"],
        " / ",
    ),
    ("rated P/E cycles", &["/drive/rated_pec"], ""),
    ("P/E cycles at the start", &["/start/pec"], ""),
    ("fill, overwrite", &["/start/fill", "/start/overwrite"], ", "),
    ("reclaim schedule", &["/reclaim/schedule"], ""),
];

/// Returns the values of [`FACTS`] that are known, the gear and the seed.
fn facts(model: &Model) -> Vec<(&'static str, String)> {
    let drive = model.drive_configuration();
    let value = |pointer: &&str| {
        let text = || drive.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let number = number(drive, pointer);
        number.map(|n| if n.fract() == 0.0 { count(n) } else { trimmed(n) }).or_else(text)
    };
    let known = FACTS.iter().filter_map(|(name, keys, between)| {
        let values: Option<Vec<String>> = keys.iter().map(value).collect();
        Some((*name, values?.join(between)))
    });
    let seed = ("first seed", count(model.about.seed as f64));
    known.chain([("gear", model.about.gear.clone()), seed]).collect()
}

/// Returns a list with every key of the drive and the workload, as markup that the reader can open.
fn keys(model: &Model) -> String {
    let of = |key: &str| model.manifest.get(key).cloned().unwrap_or(Value::Null);
    let all = json!({"drive": of("drive_configuration"), "workload": of("workload_configuration")});
    if all["drive"].is_null() {
        return String::new();
    }
    let mut text = String::new();
    let _ = write!(text, "{all:#}");
    format!(
        "<details class=\"num\"><summary>Every key of the drive and the workload</summary><pre \
         class=\"cmd\">{}</pre></details>",
        escape(&text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared;

    #[test]
    fn the_command_can_be_pasted() {
        let mut model = compared();
        assert_eq!(command(&model), None);
        model.manifest["command_line"] =
            json!(["vpass", "compare", "--drive", "my drive's.toml", "--out", "a"]);
        let expected = "vpass compare \\\n  --drive 'my drive'\\''s.toml' \\\n  --out a";
        assert_eq!(command(&model).unwrap(), expected);
        assert!(section(&model).html.contains("--drive &#39;my drive&#39;\\&#39;&#39;s.toml&#39;"));
    }
}
