//! Markup of the page section about doses, and the data that its script needs.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use vpass_lab::failure::Failure;

use super::colours::{LEVELS, PAST};
use super::maps::{self, Place};
use super::pack::{Packed, pack};
use super::rows::{Doses, Snapshot};
use super::{first, sentences};
use crate::model::{Life, Model, Row, number};
use crate::numbers::{count, percent};
use crate::section::{Section, foot};
use crate::svg::escape;
use crate::table::{Look, Table};

const ID: &str = "dose";
/// Heading of the part about doses.
pub const TITLE: &str = "Read disturb: the wordlines whose neighbours are read most, and how near \
    these wordlines are to their limits";
/// Number of wordlines per technique in the table below the maps.
const HOTTEST: usize = 5;

/// Technique that the section shows, with its doses.
struct Shown<'a> {
    row: &'a Row,
    doses: Doses,
    packed: Packed,
}

/// Facts about the flash that are the same for all techniques.
struct Flash {
    /// Number of wordlines in each block.
    wordlines: usize,
    /// Distance between a wordline and its neighbours, in wordlines.
    stride: u32,
    /// Names of the wordline groups.
    groups: Vec<String>,
}

/// Returns the page section about doses; `None` if no run has doses.
///
/// # Errors
/// Returns an error for a file of doses that cannot be used.
pub fn section(model: &Model) -> Result<Option<Section>, Failure> {
    // Each seed would need a map of its own. Therefore the section shows only the first seed.
    let doses_of = |row: &Row| row.runs.first().map_or(Ok(None), |run| Doses::read(&run.folder));
    let read: Vec<Option<Doses>> = model.rows.iter().map(doses_of).collect::<Result<_, _>>()?;
    let columns = maps::columns(read.iter().flatten());
    if columns == 0 {
        return Ok(None);
    }
    let flash = flash(model, read.iter().flatten());
    let shown: Vec<Option<Shown>> = model
        .rows
        .iter()
        .zip(read)
        .map(|(row, doses)| {
            let doses = doses?;
            let packed = pack(&doses.snapshots, flash.wordlines, &flash.groups, columns);
            Some(Shown { row, doses, packed })
        })
        .collect();
    let (html, chosen) = markup(model, &shown, &flash, columns);
    let data = vec![(ID, data(&shown, &flash, columns, chosen))];
    Ok(Some(Section { html, data }))
}

/// Returns facts about the flash from the manifest. If the manifest lacks a fact, the fact is
/// derived from the doses.
fn flash<'a>(model: &Model, doses: impl Iterator<Item = &'a Doses>) -> Flash {
    let configuration = model.drive_configuration();
    let whole = |key: &str| number(configuration, key).unwrap_or(0.0);
    let names = configuration.pointer("/disturb/groups").and_then(Value::as_array);
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let mut flash = Flash {
        wordlines: whole("/geometry/wordlines_per_block") as usize,
        stride: (whole("/geometry/neighbour_stride") as u32).max(1),
        groups: names.into_iter().flatten().filter_map(name).collect(),
    };
    for block in doses.flat_map(|doses| &doses.snapshots) {
        flash.wordlines = flash.wordlines.max(block.wordlines.len());
        for wordline in block.wordlines.iter().filter(|w| w.limit > 0.0) {
            if !flash.groups.contains(&wordline.group) {
                flash.groups.push(wordline.group.clone());
            }
        }
    }
    flash
}

/// Returns the indices of the techniques, sorted by the interest of readers. Techniques that may
/// win come first. Among them, techniques with longer lives come first.
fn by_interest(shown: &[Option<Shown>]) -> Vec<usize> {
    let life = |i: &usize| {
        let row = shown[*i].as_ref().map(|shown| shown.row).filter(|row| row.may_win());
        row.map_or(-1.0, |row| row.life.as_ref().and_then(Life::point).unwrap_or(0.0))
    };
    let mut order: Vec<usize> = (0..shown.len()).filter(|i| shown[*i].is_some()).collect();
    order.sort_by(|a, b| life(b).total_cmp(&life(a)));
    order
}

/// Returns the markup of the section. Also returns the technique whose worst block the page shows
/// first.
fn markup(
    model: &Model,
    shown: &[Option<Shown>],
    flash: &Flash,
    columns: usize,
) -> (String, Option<usize>) {
    let blocks = |i: usize| shown[i].as_ref().map_or(&[][..], Shown::packed_blocks);
    let candidates: Vec<_> = by_interest(shown).into_iter().map(|i| (i, blocks(i))).collect();
    let chosen = first::choose(&candidates);
    let map_rows = |shown: &Shown| shown.doses.map.first_wordlines.len();
    let rows = shown.iter().flatten().map(map_rows).max().unwrap_or(0);
    let map = |(i, shown): (usize, &Option<Shown>)| {
        let shown = shown.as_ref()?;
        let name = &shown.row.label;
        let packed = shown.packed.blocks;
        let place = Place { name, technique: i, size: (columns, rows), packed };
        Some(maps::figure(&shown.doses, &place))
    };
    let maps: String = shown.iter().enumerate().filter_map(map).collect();
    let seeds = match model.rows.iter().map(|row| row.runs.len()).max() {
        Some(n) if n > 1 => ", first seed",
        _ => "",
    };
    let maps_foot = foot(
        &format!("All maps have the same scale. Sources: dose_map.csv, dose_blocks.csv{seeds}"),
        &hottest(shown, flash.stride as usize),
    );
    let html = format!(
        "<section id=\"{ID}\" aria-labelledby=\"{ID}-h\"><h2 id=\"{ID}-h\">{TITLE}</h2>\
         <p class=\"say\">{}</p><div class=\"fig\" id=\"dose-maps\">{}<div class=\"maps\">{maps}\
         </div>{maps_foot}</div>{}</section>",
        say(shown, flash, chosen),
        ramp(),
        chosen.map_or_else(String::new, |technique| detail(shown, technique, seeds)),
    );
    (html, chosen)
}

/// Returns the sentences below the heading of the section.
fn say(shown: &[Option<Shown>], flash: &Flash, chosen: Option<usize>) -> String {
    let all = || shown.iter().flatten();
    let safe = || all().filter(|shown| shown.row.may_win());
    let worst: Vec<(&str, f64)> = all().map(Shown::worst).collect();
    let reached: Vec<(&str, f64)> = safe().map(Shown::worst).collect();
    let because = chosen.and_then(|technique| {
        let Shown { row, doses, .. } = shown[technique].as_ref()?;
        let block = doses.snapshots.first()?;
        let because = sentences::because(&row.label, block, flash.stride as usize);
        Some([because, sentences::early(&row.reclaim, block)])
    });
    let said = [
        weights(all()).map_or_else(String::new, |ends| sentences::neighbours(ends, flash.stride)),
        sentences::past_limit(&worst),
        sentences::reached(&reached),
    ];
    let because = because.into_iter().flatten();
    said.into_iter()
        .chain(because)
        .filter(|sentence| !sentence.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the smallest and the largest dose that a read adds to a neighbouring wordline. Returns
/// `None` if no wordline is programmed.
fn weights<'a>(all: impl Iterator<Item = &'a Shown<'a>>) -> Option<(f64, f64)> {
    let blocks = all.flat_map(|shown| &shown.doses.snapshots);
    let programmed = blocks.flat_map(|block| &block.wordlines).filter(|w| w.limit > 0.0);
    programmed.map(|w| (w.alpha, w.alpha)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

impl Shown<'_> {
    /// Returns the name of the technique, and its largest ratio of dose to limit.
    fn worst(&self) -> (&str, f64) {
        (&self.row.label, self.doses.worst_ratio())
    }

    /// Returns the blocks whose wordlines are all stored in the page.
    fn packed_blocks(&self) -> &[Snapshot] {
        &self.doses.snapshots[..self.packed.blocks]
    }
}

/// Returns the legend that explains the colours of the maps.
fn ramp() -> String {
    let mut steps = String::new();
    for k in 0..10 {
        let at = 8 * k;
        let _ = write!(steps, "<rect class=\"h{k}\" x=\"{at}%\" width=\"8.2%\" height=\"12\"/>");
    }
    format!(
        "<div class=\"ramp\"><svg role=\"img\" aria-label=\"Colours: dose as a share of the limit, \
         from 0 to 100 %; red: past the limit\">{steps}\
         <rect class=\"hx\" x=\"84%\" width=\"15%\" height=\"12\"/>\
         <text x=\"0\" y=\"27\">0</text><text class=\"mid\" x=\"40%\" y=\"27\">50 %</text>\
         <text class=\"end\" x=\"80%\" y=\"27\">100 % of limit</text>\
         <text class=\"end\" x=\"100%\" y=\"27\">past: lost</text></svg>\
         <span>Each column is a block at its worst moment, each row a wordline. Only wordlines \
         that hold data have a colour.</span></div>"
    )
}

/// Returns the empty markup into which the script draws the chosen block.
fn detail(shown: &[Option<Shown>], technique: usize, seeds: &str) -> String {
    let option = |(i, shown): (usize, &Option<Shown>)| {
        let name = escape(&shown.as_ref().filter(|shown| shown.packed.blocks > 0)?.row.label);
        let selected = if i == technique { " selected" } else { "" };
        Some(format!("<option value=\"{i}\"{selected}>{name}</option>"))
    };
    let options: String = shown.iter().enumerate().filter_map(option).collect();
    let source = format!(
        "The line shows the dose that each wordline endures; this dose depends on the wordline's \
         group and the wear of the block. Source: dose.csv{seeds}"
    );
    format!(
        "<div class=\"detail fig\" id=\"dose-block\"><h3 id=\"dt\"></h3><div \
         class=\"pick\"><label>Technique <select id=\"pt\">{options}</select></label><label>Block \
         <select id=\"pb\"></select></label><button id=\"pp\" type=\"button\" aria-label=\"More \
         disturbed block\">◀</button><button id=\"pn\" type=\"button\" aria-label=\"Less disturbed \
         block\">▶</button><span class=\"big-note\">or select a column of a map</span></div><div \
         id=\"dplot\" class=\"chart\"></div><input class=\"scrub\" id=\"dw\" type=\"range\" \
         min=\"0\" max=\"0\" value=\"0\" aria-label=\"Wordline\"><p class=\"read\" \
         id=\"dread\"></p>{}</div><noscript><p class=\"big-note\">Scripts are off, so the chart of \
         one block is not drawn. The table above has the numbers of the worst wordlines, and \
         dose.csv has those of all wordlines.</p></noscript>",
        foot(&source, "<div id=\"dnum\"></div>")
    )
}

/// Returns a table of the wordlines whose doses are nearest to their limits.
fn hottest(shown: &[Option<Shown>], stride: usize) -> String {
    let mut table = Table::new([
        "technique",
        "block",
        "wordline",
        "group",
        "dose",
        "limit",
        "dose / limit",
        "own reads",
        "reads of neighbours",
        "data",
    ]);
    for shown in shown.iter().flatten() {
        let blocks = &shown.doses.snapshots;
        let places = |block: usize| (0..blocks[block].wordlines.len()).map(move |w| (block, w));
        let mut hot: Vec<(usize, usize)> = (0..blocks.len()).flat_map(places).collect();
        let wordline = |(block, w): &(usize, usize)| &blocks[*block].wordlines[*w];
        hot.retain(|place| wordline(place).holds_data());
        hot.sort_by(|a, b| wordline(b).ratio().total_cmp(&wordline(a).ratio()).then(a.cmp(b)));
        for place in hot.iter().take(HOTTEST) {
            let (block, w) = *place;
            let lines = &blocks[block].wordlines;
            let beside = [w.checked_sub(stride), Some(w + stride)];
            let reads = |w: usize| lines.get(w).map(|w| count(w.reads.round()));
            let beside: Vec<String> = beside.into_iter().flatten().filter_map(reads).collect();
            let line = wordline(place);
            let state =
                if line.lost_pages > 0 { ("lost", Look::Bad) } else { ("kept", Look::Plain) };
            let cells = [
                shown.row.label.clone(),
                blocks[block].block.to_string(),
                w.to_string(),
                line.group.clone(),
                count(line.dose.round()),
                count(line.limit.round()),
                percent(100.0 * line.ratio()),
                count(line.reads.round()),
                beside.join(" and "),
            ];
            let mut row: Vec<_> = cells.into_iter().map(|cell| (cell, Look::Plain)).collect();
            row.push((state.0.into(), state.1));
            table.painted_row(row);
        }
    }
    table
        .html("The wordlines with data whose doses came nearest to their limits", |_| String::new())
}

/// Returns the data for the script. A technique without doses becomes `null`.
fn data(shown: &[Option<Shown>], flash: &Flash, columns: usize, chosen: Option<usize>) -> Value {
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let moment = |block: &Snapshot| {
        json!({
            "block": block.block,
            "worst": rounded(block.worst_ratio()),
            "at_s": block.at_s,
            "reads_before": block.at_host_read_pages,
            "cycles": block.pec_cycles,
        })
    };
    let technique = |shown: &Option<Shown>| {
        let Some(shown) = shown else { return Value::Null };
        let moments = shown.packed_blocks().iter().map(moment);
        json!({
            "ranks": shown.doses.map.blocks.iter().take(columns).collect::<Vec<_>>(),
            "moments": moments.collect::<Vec<_>>(),
            "packed": BASE64.encode(&shown.packed.bytes),
        })
    };
    let longest = shown.iter().flatten().max_by_key(|s| s.doses.map.first_wordlines.len());
    json!({
        "show": columns,
        "wordlines": flash.wordlines,
        "stride": flash.stride,
        "groups": flash.groups,
        "first": chosen.map(|technique| [technique, 0]),
        "first_wordlines": longest.map(|shown| &shown.doses.map.first_wordlines),
        "index": {"levels": LEVELS, "past": PAST},
        "techniques": shown.iter().map(technique).collect::<Vec<_>>(),
    })
}
