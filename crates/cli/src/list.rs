//! `vpass list` and `vpass show`. `vpass list` prints lists of drives, workloads, trace formats,
//! techniques, error models, attacks and keys. `vpass show` prints one preset or file.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use vpass_drive::api::card::About;
use vpass_drive::disturb::MODELS;
use vpass_lab::as_json;
use vpass_lab::explain::Unit;
use vpass_lab::failure::Failure;
use vpass_lab::keys::{Key, json_schema};
use vpass_lab::numbers::{bytes, digits};
use vpass_lab::{keys, load, presets};
use vpass_techniques::slot;
use vpass_workload::attack::ATTACKS;
use vpass_workload::presets as workloads;
use vpass_workload::traces::{FORMATS, Format};

use crate::args::{ListWhat, ShowWhat};
use crate::new::beside;
use crate::out;
use crate::table::{Look, Table, wants_colour};

const ALL: [(ListWhat, &str, &str); 9] = [
    (ListWhat::Drives, "drives", "--drive"),
    (ListWhat::Workloads, "workloads", "--workload"),
    (ListWhat::Formats, "formats", "--format"),
    (ListWhat::Reclaim, "reclaim", "--reclaim"),
    (ListWhat::Refresh, "refresh", "--refresh"),
    (ListWhat::Parity, "parity", "--parity"),
    (ListWhat::Gc, "gc", "--gc"),
    (ListWhat::Models, "models", "disturb.model of a drive"),
    (ListWhat::Attacks, "attacks", "vpass attack"),
];

/// Prints one list. If the user names no list, prints all lists except keys and schemas.
pub(crate) fn list(what: Option<ListWhat>, as_json: bool) -> Result<(), Failure> {
    if what == Some(ListWhat::Keys) {
        return keys(as_json);
    }
    if what == Some(ListWhat::Schema) {
        let schemas = json!({ "drive": json_schema::drive(), "workload": json_schema::workload() });
        return out::print(&as_json::text(&schemas)?);
    }
    let wanted = ALL.iter().filter(|(w, ..)| what.is_none_or(|what| *w == what));
    if as_json {
        let mut lists = Map::new();
        for (what, name, _) in wanted {
            lists.insert((*name).into(), Value::Array(rows_as_json(*what)?));
        }
        return out::print(&as_json::text(&lists)?);
    }
    let colour = wants_colour();
    let mut text = String::new();
    for (what, name, option) in wanted {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{} ({option})", Look::Heading.paint(name, colour));
        let mut table = Table::default();
        for (name, description) in rows(*what)? {
            table.painted_row(vec![(name, Look::Good), (description, Look::Plain)]);
        }
        text.push_str(&table.render_words(colour));
    }
    if what.is_none() {
        let _ = writeln!(
            text,
            "\n{} (--set): see `vpass list keys`",
            Look::Heading.paint("keys", colour)
        );
    }
    out::print(&text)
}

/// Returns the rows of a list as JSON. A row about a technique includes properties from the
/// technique's card (description).
fn rows_as_json(what: ListWhat) -> Result<Vec<Value>, Failure> {
    let mut rows: Vec<_> = rows(what)?
        .into_iter()
        .map(|(name, description)| json!({ "name": name, "description": description }))
        .collect();
    if what == ListWhat::Formats {
        for (row, format) in rows.iter_mut().zip(FORMATS) {
            let columns = format.columns.iter().map(|column| [column.name.into(), column.holds()]);
            row["columns"] = columns.collect::<Vec<[String; 2]>>().into();
        }
    }
    for (row, about) in rows.iter_mut().zip(cards(what).unwrap_or_default()) {
        if what == ListWhat::Reclaim {
            row["may_lose_data"] = about.may_lose().into();
            row["counterfactual"] = about.is_counterfactual().into();
            row["keeps_apart"] = about.keeps_apart.into();
            row["in_bulk"] = about.in_bulk.name().into();
        }
        row["paper"] = about.paper.into();
        row["needs"] = json!({ "limits": about.needs.limits, "counters": about.needs.counters });
        row["parameters"] = about.params.iter().map(|param| param.key).collect();
    }
    Ok(rows)
}

/// Returns the cards (descriptions) of the techniques in a list; `None` if the list has no
/// techniques.
fn cards(what: ListWhat) -> Option<Vec<&'static About>> {
    let (_, name, _) = ALL.iter().find(|(listed, ..)| *listed == what)?;
    slot(name).map(|slot| (slot.cards)())
}

/// Prints every key of drive and workload files. The keys of one TOML table, such as `[drive]`, are
/// printed together.
fn keys(as_json: bool) -> Result<(), Failure> {
    let keys = keys::all();
    if as_json {
        return out::print(&as_json::text(&json!({ "keys": keys }))?);
    }
    let colour = wants_colour();
    let table_of = |key: &Key| {
        key.path.rsplit_once('.').map_or_else(String::new, |(table, _)| table.to_owned())
    };
    let mut text = String::new();
    for rows in keys.chunk_by(|a, b| table_of(a) == table_of(b)) {
        let (name, first) = (table_of(&rows[0]), &rows[0]);
        let only = if first.settable { "" } else { ", in files only" };
        let _ = writeln!(
            text,
            "{}{} ({} file{only})",
            if text.is_empty() { "" } else { "\n" },
            Look::Heading.paint(&name, colour),
            first.file
        );
        let mut table = Table::new(["key", "default", "range", "meaning"]);
        for key in rows {
            let default = match &key.default {
                Some(value) => value.to_string(),
                None if key.required => "required".into(),
                None => "-".into(),
            };
            let range = if key.unit.is_empty() {
                key.range.clone()
            } else {
                format!("{} ({})", key.range, key.unit)
            };
            let name = key.path.rsplit('.').next().unwrap_or(&key.path).to_owned();
            table.painted_row(vec![
                (name, Look::Good),
                (default, Look::Plain),
                (range, Look::Plain),
                (key.meaning.clone(), Look::Plain),
            ]);
        }
        text.push_str(&table.render_words(colour));
    }
    out::print(&text)
}

fn rows(what: ListWhat) -> Result<Vec<(String, String)>, Failure> {
    let words = |name: &str, description: &str| (name.to_owned(), description.to_owned());
    Ok(match what {
        ListWhat::Drives => {
            let row = |(name, _): (&str, &str)| {
                Ok(words(name, &load::drive(name, &[])?.config.description))
            };
            presets::DRIVES.into_iter().map(row).collect::<Result<_, Failure>>()?
        }
        ListWhat::Workloads => {
            let row = |name| Ok(words(name, load::workload(name, &[], None)?.config.description()));
            workloads::names().map(row).collect::<Result<_, Failure>>()?
        }
        ListWhat::Formats => {
            let row = |f: &Format| match f.aliases {
                [] => words(f.name, f.description),
                others => {
                    words(f.name, &format!("{}; also called {}", f.description, others.join(", ")))
                }
            };
            FORMATS.iter().map(row).collect()
        }
        ListWhat::Reclaim | ListWhat::Refresh | ListWhat::Parity | ListWhat::Gc => {
            let row = |about: &About| {
                words(about.name, &format!("{}{}", about.summary, about.in_bulk.note()))
            };
            cards(what).unwrap_or_default().into_iter().map(row).collect()
        }
        ListWhat::Attacks => {
            let adaptive = words(vpass_lab::plan::ADAPTIVE, crate::attack::ADAPTIVE_SUMMARY);
            ATTACKS.iter().map(|a| words(a.name, a.summary)).chain([adaptive]).collect()
        }
        ListWhat::Keys | ListWhat::Schema => vec![],
        ListWhat::Models => MODELS.iter().map(|(name, summary)| words(name, summary)).collect(),
    })
}

/// Prints a drive or a workload: the text of the file, or the effective configuration if `sets`
/// changes keys.
pub(crate) fn show(
    what: ShowWhat,
    name: &str,
    sets: &[String],
    as_json: bool,
) -> Result<(), Failure> {
    let given = sets;
    let sets = load::overrides(sets)?;
    if let Some(set) = sets.iter().find(|s| s.is_of_workload() != (what == ShowWhat::Workload)) {
        let what = "this key does not belong to the drive or workload shown";
        return Err(Failure::usage(what).at(set.said.clone()));
    }
    let text = match what {
        ShowWhat::Drive => {
            let loaded = load::drive(name, &sets)?;
            let comment = if as_json {
                String::new()
            } else {
                unit_comment(loaded.config.geometry.page_size.0)
            };
            effective(loaded.text, &loaded.config, !sets.is_empty(), as_json)? + &comment
        }
        ShowWhat::Workload => {
            let loaded = load::workload(name, &sets, None)?;
            effective(loaded.text, &loaded.config, !sets.is_empty(), as_json)?
        }
        ShowWhat::Sheet => return beside::show(name, given, as_json),
    };
    out::print_file(&text)
}

fn effective(
    text: String,
    config: &impl serde::Serialize,
    overridden: bool,
    as_json: bool,
) -> Result<String, Failure> {
    match (as_json, overridden) {
        (true, _) => as_json::text(config),
        (false, true) => toml::to_string(config).map_err(|e| Failure::failed(e.to_string())),
        (false, false) => Ok(text),
    }
}

/// Returns the description of the mapping unit as comment lines for a TOML drive file.
fn unit_comment(page_bytes: u64) -> String {
    let unit = Unit::of(page_bytes);
    let cost = |write: &vpass_lab::explain::SmallWrite| {
        format!(
            "# Without garbage collection, a write of {} causes {} page read and {} bytes \
             programmed per byte written.\n",
            bytes(write.bytes),
            write.fill_reads,
            digits(write.programmed_per_byte)
        )
    };
    let costs: String = unit.small_writes.iter().map(cost).collect();
    format!(
        "\n\
         # Mapping unit: the flash page (geometry.page_size), {}. To write a part of a page, the \
         drive reads this page and programs a whole page.\n\
         {costs}",
        bytes(unit.bytes)
    )
}
