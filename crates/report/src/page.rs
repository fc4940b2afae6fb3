//! Report page: one HTML file with all parts. The file loads nothing and sends nothing.
//!
//! The file contains its style sheet and its script. The content security policy allows only this
//! style sheet and this script, by their SHA-256 digests. The markup has no style attributes.
//!
//! The parts of the page, the style sheet and the script use these names:
//!
//! | name | meaning |
//! |---|---|
//! | `.s0` to `.s5` | belongs to a technique; hidden if its check box `#k0` to `#k5` is off |
//! | `.c0` to `.c5` | sets `--c` to the technique's colour `--t0` to `--t5` |
//! | `--w0` to `--w5` | colours of the causes of wear |
//! | `.chart[data-k]` | chart with a scrubber `.scrub`, lines `.cross` and a readout `.read` |
//! | `button[data-save]` | saves the `.fig` around it as `svg`, `png` or `csv` |
//! | `#data` | numbers as JSON; keys below |
//! | `names` | labels of the drawn techniques |
//! | `cdf` | `x`: nines, `f`: their places from 0 to 1, `y`: us by technique; null without reads |
//! | `time` | `max` and `T`: seconds; 80 windows each: `y`: p99.9 in us, `r`: pages a second |
//! | `dose` | maps and packed blocks: `dose/markup.rs` and `dose/pack.rs` |
//! | `csv` | CSV text by `id` of a figure; other figures save their table |
//! | `years` | list: `t` technique; `pec`, `years`, and `consumed`: six shares at each point |

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use vpass_lab::failure::Failure;

use crate::dose;
use crate::folder::Folder;
use crate::model::{Kind, Model};
use crate::parts::{
    cards, cdf, cost, header, life, numbers, repeat, sweep, time, warnings, wear, years,
};
use crate::section::{Section, absent};
use crate::svg::{escape, shown};

pub(crate) mod assets;

use assets::{SCRIPT, STYLE};

/// Returns the page of one result folder, or of several folders side by side. The same folders give
/// the same bytes.
///
/// # Errors
/// Returns an error for folders that [`Model::read`] refuses, or for a file that cannot be used.
pub fn page(folders: &[Folder]) -> Result<String, Failure> {
    let model = Model::read(folders)?;
    let mut data = Map::new();
    let names: Vec<String> = model.names().into_iter().map(shown).collect();
    data.insert("names".into(), names.into());
    let mut main = String::new();
    let mut add = |section: Section| {
        for (key, value) in section.data {
            match (data.get_mut(key), value) {
                // Each figure adds its own CSV text to the entry `csv`.
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
                (_, value) => drop(data.insert(key.into(), value)),
            }
        }
        main.push_str(&section.html);
    };
    match model.kind {
        Kind::Runs => {
            add(cards::section(&model));
            add(header::keys(&model));
            add(dose::section(&model)?.unwrap_or_else(dose_absent));
            add(life::section(&model));
            add(side_by_side(cdf::section(&model)?, time::section(&model)?));
            add(side_by_side(wear::section(&model)?, cost::section(&model)));
            add(numbers::section(&model));
        }
        Kind::Lives => {
            add(cards::section(&model));
            add(header::keys(&model));
            add(life::section(&model));
            add(years::section(&model));
            add(numbers::section(&model));
        }
        Kind::Sweep => {
            add(header::keys(&model));
            sweep::sections(&model).into_iter().for_each(&mut add);
        }
    }
    add(warnings::section(&model));
    add(repeat::section(&model));
    Ok(document(&model, &main, &Value::Object(data)))
}

/// Returns the section that explains why the page shows no doses.
fn dose_absent() -> Section {
    let why = "This chart is absent: the folder has no dose.csv. This version of vpass writes \
        dose.csv if the oracle is on and the drive has read disturbance.";
    absent("dose", dose::TITLE, why)
}

/// Returns one section in which two sections stand side by side.
fn side_by_side(left: Section, right: Section) -> Section {
    Section {
        html: format!("<div class=\"two\">{}{}</div>", left.html, right.html),
        data: left.data.into_iter().chain(right.data).collect(),
    }
}

fn document(model: &Model, main: &str, data: &Value) -> String {
    let title = escape(&format!("vpass: {}, {}", model.about.drive, header::workload(model)));
    let data = data.to_string().replace('<', "\\u003c");
    let policy = format!(
        "default-src 'none'; img-src data: blob:; style-src 'sha256-{}'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    );
    let version = escape(&model.about.vpass);
    let mut html = String::with_capacity(main.len() + data.len() + 64 * 1024);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body{}>{}\
         <main>{main}</main><footer>Made from results of vpass {version}. This file loads nothing \
         and sends nothing.</footer><script type=\"application/json\" id=\"data\">{data}</script>\
         <script>{SCRIPT}</script></body></html>\n",
        if model.rows.first().is_some_and(|row| row.reclaim != "none") {
            " class=\"all-reclaim\""
        } else {
            ""
        },
        header::header(model)
    );
    html
}

/// Returns the SHA-256 digest of a text in base64, as a content security policy needs it.
fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests;
