//! Maps of doses as pictures. A map has one column per block, with the most disturbed block first,
//! and one row per wordline.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::colours::{NO_DATA, Theme, index, palette};
use super::png;
use super::rows::{Doses, Map};
use crate::numbers::{count, percent};
use crate::section::bold;
use crate::svg::{escape, percent as share};

/// Smallest ratio of dose to limit at which a block gets a column of its own.
const WORTH_SHOWING: f64 = 0.04;
/// Smallest number of columns in a map, if the drive has enough blocks.
const FEWEST: usize = 32;
/// Largest number of columns in a map. A map is about 500 pixels wide, and six maps must fit into
/// the page.
const MOST: usize = 400;

/// Returns the number of columns in every map. All maps have equally many columns, so that readers
/// can compare the maps.
pub(super) fn columns<'a>(all: impl Iterator<Item = &'a Doses> + Clone) -> usize {
    let worth = |doses: &Doses| {
        doses.blocks.iter().filter(|block| block.worst_ratio >= WORTH_SHOWING).count()
    };
    let wanted = all.clone().map(worth).max().unwrap_or(0).next_multiple_of(8);
    let known = all.map(|doses| doses.map.blocks.len()).max().unwrap_or(0);
    wanted.clamp(FEWEST, MOST).min(known)
}

/// Returns the colour indices of a map's pixels, row by row. A pixel outside the map has the colour
/// of a wordline without data.
pub(super) fn pixels(map: &Map, columns: usize, rows: usize) -> Vec<u8> {
    let bins = map.first_wordlines.len();
    let cell = |row: usize, column: usize| {
        let is_known = row < bins && column < map.blocks.len();
        let ratio = if is_known { map.cells[column * bins + row] } else { None };
        ratio.map_or(NO_DATA, index)
    };
    (0..rows).flat_map(|row| (0..columns).map(move |column| cell(row, column))).collect()
}

/// Returns the markup for the picture of a map. The markup has a picture for each of the two
/// themes.
fn picture(pixels: &[u8], columns: usize, said: &str) -> String {
    let rows = png::rows(columns, pixels);
    let size = (columns as u32, (pixels.len() / columns) as u32);
    let address = |theme| {
        let file = png::file(size, &palette(theme), &rows);
        format!("data:image/png;base64,{}", BASE64.encode(file))
    };
    // A printed page always has the light theme.
    format!(
        "<picture><source media=\"screen and (prefers-color-scheme: dark)\" srcset=\"{}\">\
         <img alt=\"{}\" src=\"{}\"></picture>",
        address(Theme::Dark),
        escape(said),
        address(Theme::Light)
    )
}

/// Returns the map of a technique, which is given by its index and its name. `size` has the numbers
/// of columns and rows, which are equal for all maps. `packed` is the number of blocks whose
/// wordlines are all stored in the page.
pub(super) fn figure(
    doses: &Doses,
    (i, name): (usize, &str),
    (columns, rows): (usize, usize),
    packed: usize,
) -> String {
    let worst = percent(100.0 * doses.worst_ratio());
    let past = doses.past_limit();
    let caption = match past {
        0 => format!("worst wordline at {} of its limit", bold(&worst)),
        1 => format!("{} wordline past its limit", bold("1")),
        n => format!("{} wordlines past their limits", bold(&count(n as f64))),
    };
    let said = format!(
        "Dose of every wordline as a share of its limit, in the {columns} most disturbed blocks \
         under {name}; the worst wordline is at {worst}"
    );
    let picture = picture(&pixels(&doses.map, columns, rows), columns, &said);
    let (first, last) = ends(doses, columns);
    // A line below the map marks the blocks whose wordlines are all stored in the page.
    let known = share(packed as f64 / columns as f64);
    let known =
        format!("<svg aria-hidden=\"true\"><line x2=\"{known}\" y1=\"100%\" y2=\"100%\"/></svg>");
    let known = if packed < columns { &known } else { "" };
    format!(
        "<figure class=\"map c{i} s{i}\" data-t=\"{i}\"><figcaption><b>{}</b><span>{caption}</span>\
         </figcaption><div class=\"box\">{picture}{known}<svg class=\"sel\" aria-hidden=\"true\">\
         </svg></div><div class=\"mapax\"><span>{first}</span><span>{last}</span></div></figure>",
        escape(name)
    )
}

/// Returns two texts: one for below the first column of a map, and one for below the last column.
fn ends(doses: &Doses, columns: usize) -> (&'static str, String) {
    let all = doses.blocks.len();
    let Some(next) = doses.blocks.get(columns) else {
        return ("most disturbed", format!("least of {} blocks", count(all as f64)));
    };
    let below = (100.0 * next.worst_ratio).ceil().max(1.0);
    let (place, all) = (count(columns as f64), count(all as f64));
    let last = format!("{place} of {all} blocks; the others reach at most {below}\u{a0}%");
    ("most disturbed block", last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dose::colours::PAST;
    use crate::dose::rows::Block;

    fn doses(ratios: &[f64], mapped: usize) -> Doses {
        let block = |(i, ratio): (usize, &f64)| Block {
            block: i as u32,
            worst_ratio: *ratio,
            wordlines_past_limit: u64::from(*ratio > 1.0),
        };
        let map = Map {
            blocks: (0..mapped as u32).collect(),
            first_wordlines: vec![0],
            cells: ratios.iter().take(mapped).map(|ratio| Some(*ratio)).collect(),
        };
        Doses { blocks: ratios.iter().enumerate().map(block).collect(), map, snapshots: vec![] }
    }

    #[test]
    fn all_maps_have_the_columns_that_one_of_them_needs() {
        let quiet = doses(&[0.01; 500], 450);
        let loud = doses(&[[0.5; 41].as_slice(), &[0.03; 459]].concat(), 450);
        let all_loud = doses(&[0.9; 500], 450);
        assert_eq!(columns([&quiet].into_iter()), 32);
        assert_eq!(columns([&quiet, &loud].into_iter()), 48);
        assert_eq!(columns([&quiet, &all_loud].into_iter()), 400);
        assert_eq!(columns([&doses(&[0.9; 20], 20)].into_iter()), 20);
        assert_eq!(columns([].into_iter()), 0);
    }

    #[test]
    fn cells_are_shades_past_the_limit_or_blank() {
        let map = Map {
            blocks: vec![5, 9],
            first_wordlines: vec![0, 2],
            cells: vec![Some(2.0), Some(0.5), None, Some(1.0)],
        };
        assert_eq!(pixels(&map, 3, 2), [PAST, NO_DATA, NO_DATA, 99, 199, NO_DATA]);
    }

    #[test]
    fn a_caption_has_the_worst_wordline_or_those_past_their_limits() {
        let technique = (2, "a\"<b>");
        let safe = figure(&doses(&[0.9, 0.2, 0.1], 3), technique, (3, 1), 2);
        assert!(safe.contains("worst wordline at <b>90\u{a0}%</b> of its limit"), "{safe}");
        assert!(safe.contains("<b>a&quot;&lt;b&gt;</b>") && !safe.contains("<b>a\""), "{safe}");
        assert!(safe.contains("x2=\"66.667%\""), "{safe}");
        let lost = figure(&doses(&[1.9, 1.2, 0.1], 3), technique, (3, 1), 3);
        assert!(lost.contains("<b>2</b> wordlines past their limits"), "{lost}");
        assert!(!lost.contains("<line"), "{lost}");
    }
}
