//! Reading of the files `dose.csv`, `dose_map.csv` and `dose_blocks.csv`. Columns are found by
//! their names.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use vpass_lab::failure::Failure;

use super::{Block, Doses, Map, Snapshot, Wordline};
use crate::folder::Folder;

/// Largest number of wordlines, bins or columns that a file may have. Real blocks have a few
/// thousand wordlines.
const MOST: usize = 65_536;

/// Row of `dose_map.csv`: a cell of the map.
#[derive(Deserialize)]
struct MapRow {
    #[serde(deserialize_with = "place")]
    rank: usize,
    block: u32,
    #[serde(deserialize_with = "place")]
    bin: usize,
    first_wordline: u32,
    worst_ratio: Option<f64>,
}

/// Reads a number, which must be finite and not negative.
pub(super) fn finite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let is_right = number.is_finite() && number >= 0.0;
    let why = || D::Error::custom(format!("{number}: a number from 0 upwards is expected"));
    is_right.then_some(number).ok_or_else(why)
}

/// Reads an index of a list.
pub(super) fn place<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let place = usize::deserialize(from)?;
    let why = || D::Error::custom(format!("{place}: a number below {MOST} is expected"));
    (place < MOST).then_some(place).ok_or_else(why)
}

impl Doses {
    /// Reads the doses of a run; `None` if the folder lacks a file of doses.
    ///
    /// # Errors
    /// Returns an error for a file that lacks a needed column, or that has an impossible value.
    pub fn read(folder: &Folder) -> Result<Option<Self>, Failure> {
        let (Some(wordlines), Some(cells), Some(mut blocks)) = (
            folder.rows::<Wordline>("dose.csv")?,
            folder.rows::<MapRow>("dose_map.csv")?,
            folder.rows::<Block>("dose_blocks.csv")?,
        ) else {
            return Ok(None);
        };
        blocks.sort_by(|a, b| b.worst_ratio.total_cmp(&a.worst_ratio).then(a.block.cmp(&b.block)));
        let map = map(&cells).map_err(|why| folder.wrong("dose_map.csv", &why))?;
        Ok(Some(Self { snapshots: snapshots(wordlines), map, blocks }))
    }
}

fn snapshots(rows: Vec<Wordline>) -> Vec<Snapshot> {
    let mut all: Vec<Snapshot> = vec![];
    for row in rows {
        if all.last().is_none_or(|last| last.block != row.block) {
            all.push(Snapshot {
                block: row.block,
                at_s: row.at_s,
                at_host_read_pages: row.at_host_read_pages,
                pec_cycles: row.pec_cycles,
                wordlines: vec![],
            });
        }
        let wordlines = &mut all.last_mut().expect("the block of this row").wordlines;
        wordlines.resize(wordlines.len().max(row.wordline + 1), Wordline::default());
        let place = row.wordline;
        wordlines[place] = row;
    }
    all.sort_by(|a, b| {
        b.worst_ratio().total_cmp(&a.worst_ratio()).then_with(|| a.block.cmp(&b.block))
    });
    all
}

/// Makes the map of doses.
fn map(rows: &[MapRow]) -> Result<Map, String> {
    // In the file, ranks and bins may be counted from 0 or from 1.
    let rank_0 = rows.iter().map(|row| row.rank).min().unwrap_or(0);
    let bin_0 = rows.iter().map(|row| row.bin).min().unwrap_or(0);
    let columns = rows.iter().map(|row| row.rank - rank_0 + 1).max().unwrap_or(0);
    let bins = rows.iter().map(|row| row.bin - bin_0 + 1).max().unwrap_or(0);
    if columns * bins > rows.len() {
        let cells = columns * bins;
        return Err(format!(
            "the dose map has {} rows, but its ranks and bins need {cells} rows",
            rows.len()
        ));
    }
    let mut map = Map {
        blocks: vec![0; columns],
        first_wordlines: vec![0; bins],
        cells: vec![None; columns * bins],
    };
    for row in rows {
        let (column, bin) = (row.rank - rank_0, row.bin - bin_0);
        map.blocks[column] = row.block;
        map.first_wordlines[bin] = row.first_wordline;
        map.cells[column * bins + bin] = row.worst_ratio.filter(|ratio| ratio.is_finite());
    }
    Ok(map)
}
