//! Reading of the files `dose.csv`, `dose_map.csv` and `dose_blocks.csv`. Columns are found by
//! their names.

use vpass_lab::failure::Failure;

use super::{Block, Doses, Map, Snapshot, Wordline};
use crate::csv::Csv;
use crate::folder::Folder;

/// Largest number of wordlines, bins or columns that a file may have. Real blocks have a few
/// thousand wordlines.
const MOST: usize = 65_536;

impl Doses {
    /// Reads the doses of a run; `None` if the folder lacks a file of doses.
    ///
    /// # Errors
    /// Returns an error for a file that lacks a needed column, or that has an impossible value.
    pub fn read(folder: &Folder) -> Result<Option<Self>, Failure> {
        let table = |name| -> Result<Option<Table>, Failure> {
            Ok(folder.csv(name)?.map(|csv| Table { folder, name, csv }))
        };
        let (Some(wordlines), Some(cells), Some(blocks)) =
            (table("dose.csv")?, folder.file("dose_map.csv"), table("dose_blocks.csv")?)
        else {
            return Ok(None);
        };
        let map = map(cells).map_err(|why| folder.wrong("dose_map.csv", &why))?;
        Ok(Some(Self { snapshots: snapshots(&wordlines)?, map, blocks: summaries(&blocks)? }))
    }
}

/// CSV file with its name and its folder, which error messages need.
struct Table<'a> {
    folder: &'a Folder,
    name: &'static str,
    csv: Csv,
}

impl Table<'_> {
    fn wrong(&self, why: &str) -> Failure {
        self.folder.wrong(self.name, why)
    }

    /// Returns the texts of the column with this name.
    fn texts(&self, column: &str) -> Result<Vec<&str>, Failure> {
        self.csv.texts(column).ok_or_else(|| self.wrong(&missing(column)))
    }

    /// Returns the numbers of the column with this name.
    fn numbers(&self, column: &str) -> Result<Vec<f64>, Failure> {
        let texts = self.texts(column)?.into_iter().enumerate();
        let number = |(row, text)| number(row, column, text).map_err(|why| self.wrong(&why));
        texts.map(number).collect()
    }
}

fn missing(column: &str) -> String {
    format!("column `{column}` is missing")
}

/// Parses a number, which must be finite and not negative.
fn number(row: usize, column: &str, text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0).ok_or_else(|| {
        format!("row {}: `{column}` is `{text}`; a number from 0 upwards is expected", row + 1)
    })
}

/// Converts a number into an index of a list.
fn place(row: usize, column: &str, number: f64) -> Result<usize, String> {
    Some(number as usize).filter(|n| *n < MOST).ok_or_else(|| {
        format!("row {}: `{column}` is {number}; a number below {MOST} is expected", row + 1)
    })
}

fn snapshots(file: &Table) -> Result<Vec<Snapshot>, Failure> {
    let column = |name| file.numbers(name);
    let (block, wordline) = (column("block")?, column("wordline")?);
    let (reads_before, cycles) = (column("at_host_read_pages")?, column("pec_cycles")?);
    let (alpha, guard) = (column("alpha")?, column("guard_levels")?);
    let (reads, dose, limit) = (column("reads")?, column("dose")?, column("limit")?);
    let (valid, lost) = (column("valid_pages")?, column("lost_pages")?);
    let (at_s, group) = (file.texts("at_s")?, file.texts("group")?);
    let mut all: Vec<Snapshot> = vec![];
    for row in 0..block.len() {
        let number = block[row] as u32;
        if all.last().is_none_or(|last| last.block != number) {
            all.push(Snapshot {
                block: number,
                at_s: at_s[row].parse().ok(),
                at_host_read_pages: reads_before[row] as u64,
                pec_cycles: cycles[row] as u32,
                wordlines: vec![],
            });
        }
        let w = place(row, "wordline", wordline[row]).map_err(|why| file.wrong(&why))?;
        let wordlines = &mut all.last_mut().expect("the block of this row").wordlines;
        wordlines.resize(wordlines.len().max(w + 1), Wordline::default());
        wordlines[w] = Wordline {
            group: group[row].to_owned(),
            alpha: alpha[row],
            has_guard_levels: guard[row] > 0.0,
            reads: reads[row],
            dose: dose[row],
            limit: limit[row],
            valid_pages: valid[row] as u8,
            lost_pages: lost[row] as u8,
        };
    }
    all.sort_by(|a, b| {
        b.worst_ratio().total_cmp(&a.worst_ratio()).then_with(|| a.block.cmp(&b.block))
    });
    Ok(all)
}

/// Parses the map of doses. The file of the map has up to 256,000 rows. The file holds only numbers
/// and plain words, so each line can be split at its commas.
fn map(bytes: &[u8]) -> Result<Map, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let heading: Vec<&str> = lines.next().ok_or("the heading is missing")?.split(',').collect();
    let columns = ["rank", "block", "bin", "first_wordline", "worst_ratio"];
    let mut at = [0; 5];
    for (at, name) in at.iter_mut().zip(columns) {
        *at = heading.iter().position(|h| *h == name).ok_or_else(|| missing(name))?;
    }
    let (mut rows, mut cells) = (vec![], Vec::with_capacity(heading.len()));
    for (row, line) in lines.enumerate() {
        cells.clear();
        cells.extend(line.split(','));
        if cells.len() != heading.len() {
            let (here, there) = (cells.len(), heading.len());
            return Err(format!(
                "row {} has {here} cells, but the heading has {there}; equal numbers are expected",
                row + 1
            ));
        }
        let value = |i: usize| number(row, columns[i], cells[at[i]]);
        let ratio = if cells[at[4]].is_empty() { None } else { Some(value(4)?) };
        let (rank, bin) = (place(row, "rank", value(0)?)?, place(row, "bin", value(2)?)?);
        rows.push((rank, bin, value(1)? as u32, value(3)? as u32, ratio));
    }
    // In the file, ranks and bins may be counted from 0 or from 1.
    let rank_0 = rows.iter().map(|row| row.0).min().unwrap_or(0);
    let bin_0 = rows.iter().map(|row| row.1).min().unwrap_or(0);
    let columns = rows.iter().map(|row| row.0 - rank_0 + 1).max().unwrap_or(0);
    let bins = rows.iter().map(|row| row.1 - bin_0 + 1).max().unwrap_or(0);
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
    for (rank, bin, block, first_wordline, ratio) in rows {
        let (column, bin) = (rank - rank_0, bin - bin_0);
        map.blocks[column] = block;
        map.first_wordlines[bin] = first_wordline;
        map.cells[column * bins + bin] = ratio;
    }
    Ok(map)
}

fn summaries(file: &Table) -> Result<Vec<Block>, Failure> {
    let (block, ratio) = (file.numbers("block")?, file.numbers("worst_ratio")?);
    let past = file.numbers("wordlines_past_limit")?;
    let rows = block.into_iter().zip(ratio).zip(past);
    let mut all: Vec<Block> = rows
        .map(|((block, worst_ratio), past)| Block {
            block: block as u32,
            worst_ratio,
            wordlines_past_limit: past as u64,
        })
        .collect();
    all.sort_by(|a, b| b.worst_ratio.total_cmp(&a.worst_ratio).then(a.block.cmp(&b.block)));
    Ok(all)
}
