//! Markup of the page section about doses, and the data that its script needs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use vpass_lab::failure::Failure;

use super::colours::{LEVELS, PAST};
use super::maps;
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
    /// Index of the technique among those that charts show.
    technique: usize,
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
    let mut read = vec![];
    for (technique, row) in model.rows.iter().enumerate() {
        // Each seed would need a map of its own. Therefore the section shows only the first seed.
        let Some(run) = row.runs.first() else { continue };
        read.extend(Doses::read(&run.folder)?.map(|doses| (technique, row, doses)));
    }
    let columns = maps::columns(read.iter().map(|(.., doses)| doses));
    if columns == 0 {
        return Ok(None);
    }
    let flash = flash(model, read.iter().map(|(.., doses)| doses));
    let shown = |(technique, row, doses): (usize, _, Doses)| {
        let packed = pack(&doses.snapshots, flash.wordlines, &flash.groups, columns);
        Shown { technique, row, doses, packed }
    };
    let shown: Vec<Shown> = read.into_iter().map(shown).collect();
    let chosen = chosen(&shown);
    let seeds = if model.rows.iter().any(|row| row.runs.len() > 1) { ", first seed" } else { "" };
    let html = format!(
        "<section id=\"{ID}\" aria-labelledby=\"{ID}-h\"><h2 id=\"{ID}-h\">{TITLE}</h2>\
         <p class=\"say\">{}</p>{}{}</section>",
        say(&shown, &flash, chosen),
        maps(&shown, &flash, columns, seeds),
        chosen.map_or_else(String::new, |chosen| detail(&shown, chosen, seeds)),
    );
    let data = data(model, &shown, &flash, columns, chosen);
    Ok(Some(Section { html, data: vec![(ID, data)] }))
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

/// Returns the technique whose worst block the page shows first. Techniques that may win are
/// preferred, and among them techniques with longer lives.
fn chosen<'a>(shown: &'a [Shown<'a>]) -> Option<&'a Shown<'a>> {
    let life = |shown: &Shown| match shown.row.life {
        _ if !shown.row.may_win() => -1.0,
        life => life.as_ref().and_then(Life::point).unwrap_or(0.0),
    };
    let mut order: Vec<&Shown> = shown.iter().collect();
    order.sort_by(|a, b| life(b).total_cmp(&life(a)));
    let blocks: Vec<&[Snapshot]> = order.iter().map(|shown| shown.packed_blocks()).collect();
    first::choose(&blocks).map(|place| order[place])
}

/// Returns the maps of all techniques, with a legend and a table.
fn maps(shown: &[Shown], flash: &Flash, columns: usize, seeds: &str) -> String {
    let rows = shown.iter().map(|shown| shown.doses.map.first_wordlines.len()).max().unwrap_or(0);
    let map = |Shown { technique, row, doses, packed }: &Shown| {
        maps::figure(doses, (*technique, &row.label), (columns, rows), packed.blocks)
    };
    let maps: String = shown.iter().map(map).collect();
    let source =
        format!("All maps have the same scale. Sources: dose_map.csv, dose_blocks.csv{seeds}");
    let foot = foot(&source, &hottest(shown, flash.stride as usize));
    format!(
        "<div class=\"fig\" id=\"dose-maps\">{}<div class=\"maps\">{maps}</div>{foot}</div>",
        ramp()
    )
}

/// Returns the sentences below the heading of the section.
fn say(shown: &[Shown], flash: &Flash, chosen: Option<&Shown>) -> String {
    let neighbours =
        weights(shown).map_or_else(String::new, |ends| sentences::neighbours(ends, flash.stride));
    let because = chosen.and_then(|shown| {
        let block = shown.doses.snapshots.first()?;
        Some(sentences::because(&shown.row.label, block, flash.stride as usize))
    });
    format!("{neighbours} {}", because.unwrap_or_default())
}

/// Returns the smallest and the largest dose that a read adds to a neighbouring wordline. Returns
/// `None` if no wordline is programmed.
fn weights(shown: &[Shown]) -> Option<(f64, f64)> {
    let blocks = shown.iter().flat_map(|shown| &shown.doses.snapshots);
    let programmed = blocks.flat_map(|block| &block.wordlines).filter(|w| w.limit > 0.0);
    programmed.map(|w| (w.alpha, w.alpha)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

impl Shown<'_> {
    /// Returns the blocks whose wordlines are all stored in the page.
    fn packed_blocks(&self) -> &[Snapshot] {
        &self.doses.snapshots[..self.packed.blocks]
    }
}

/// Returns the legend that explains the colours of the maps.
fn ramp() -> String {
    let step = |k: u32| {
        let at = 8 * k;
        format!("<rect fill=\"var(--h{k})\" x=\"{at}%\" width=\"8.2%\" height=\"12\"/>")
    };
    let steps: String = (0..10).map(step).collect();
    format!(
        "<div class=\"ramp\"><svg role=\"img\" aria-label=\"Colours: dose as a share of the limit, \
         from 0 to 100 %; red: past the limit\">{steps}\
         <rect fill=\"var(--hx)\" x=\"84%\" width=\"15%\" height=\"12\"/>\
         <text x=\"0\" y=\"27\">0</text><text class=\"mid\" x=\"40%\" y=\"27\">50 %</text>\
         <text class=\"end\" x=\"80%\" y=\"27\">100 % of limit</text>\
         <text class=\"end\" x=\"100%\" y=\"27\">past: lost</text></svg>\
         <span>Each column is a block at its worst moment, each row a wordline. Only wordlines \
         that hold data have a colour.</span></div>"
    )
}

/// Returns the empty markup into which the script draws the chosen block.
fn detail(shown: &[Shown], chosen: &Shown, seeds: &str) -> String {
    let option = |Shown { technique, row, .. }: &Shown| {
        let selected = if *technique == chosen.technique { " selected" } else { "" };
        format!("<option value=\"{technique}\"{selected}>{}</option>", escape(&row.label))
    };
    let options: String = shown.iter().filter(|of| of.packed.blocks > 0).map(option).collect();
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
fn hottest(shown: &[Shown], stride: usize) -> String {
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
    for Shown { row, doses, .. } in shown {
        let places = |block| Snapshot::with_data(block).map(move |w| (block, w));
        let mut hot: Vec<(&Snapshot, usize)> = doses.snapshots.iter().flat_map(places).collect();
        let ratio = |(block, w): &(&Snapshot, usize)| block.wordlines[*w].ratio();
        hot.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        for (block, w) in hot.into_iter().take(HOTTEST) {
            let line = &block.wordlines[w];
            let whole = |number: f64| count(number.round());
            let beside = block.beside(w, stride);
            let beside: Vec<String> = beside.map(|w| whole(block.wordlines[w].reads)).collect();
            let cells = [
                row.label.clone(),
                block.block.to_string(),
                w.to_string(),
                line.group.clone(),
                whole(line.dose),
                whole(line.limit),
                percent(100.0 * line.ratio()),
                whole(line.reads),
                beside.join(" and "),
            ];
            let state =
                if line.lost_pages > 0 { ("lost", Look::Bad) } else { ("kept", Look::Plain) };
            let cells = cells.into_iter().map(|cell| (cell, Look::Plain));
            table.painted_row(cells.chain([(state.0.into(), state.1)]).collect());
        }
    }
    table.html("The wordlines with data whose doses came nearest to their limits")
}

/// Returns the data for the script. A technique without doses becomes `null`.
fn data(
    model: &Model,
    shown: &[Shown],
    flash: &Flash,
    columns: usize,
    chosen: Option<&Shown>,
) -> Value {
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
    let technique = |i: usize| {
        let Some(shown) = shown.iter().find(|shown| shown.technique == i) else {
            return Value::Null;
        };
        let moments = shown.packed_blocks().iter().map(moment);
        json!({
            "ranks": shown.doses.map.blocks.iter().take(columns).collect::<Vec<_>>(),
            "moments": moments.collect::<Vec<_>>(),
            "packed": BASE64.encode(&shown.packed.bytes),
        })
    };
    let longest = shown.iter().max_by_key(|s| s.doses.map.first_wordlines.len());
    json!({
        "show": columns,
        "wordlines": flash.wordlines,
        "stride": flash.stride,
        "groups": flash.groups,
        "first": chosen.map(|chosen| [chosen.technique, 0]),
        "first_wordlines": longest.map(|shown| &shown.doses.map.first_wordlines),
        "index": {"levels": LEVELS, "past": PAST},
        "techniques": (0..model.rows.len()).map(technique).collect::<Vec<_>>(),
    })
}
