//! `vpass explain` and `vpass show`: text about the mapping unit of the drive, and about the cost
//! of writes that are smaller than this unit.

use vpass_lab::explain::Unit;
use vpass_lab::numbers::{bytes, digits};

use crate::table::Table;

/// Describes how the drive handles small writes. A table shows what these writes cost.
pub(super) fn words(unit: &Unit, colour: bool) -> String {
    let mut table = Table::new(["a write of", "fill reads", "programmed per byte written"]);
    for write in &unit.small_writes {
        table.row([
            bytes(write.bytes),
            write.fill_reads.to_string(),
            digits(write.programmed_per_byte),
        ]);
    }
    let table = if unit.small_writes.is_empty() { String::new() } else { table.render(colour) };
    format!(
        "  the drive maps whole flash pages of {}; to write a part of a page, the drive reads this \
         page and programs a whole page\n{table}  the costs exclude garbage collection; small \
         writes to one page cost less if the write buffer collects several of these writes\n",
        bytes(unit.bytes)
    )
}

/// Returns the description of the mapping unit as comment lines for a TOML drive file.
pub(crate) fn comment(page_bytes: u64) -> String {
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
