//! `vpass explain` and `vpass show`: mapping unit of the drive and the cost of smaller writes, as
//! text.

use vpass_lab::explain::Unit;
use vpass_lab::numbers::{bytes, digits};

use crate::table::Table;

/// Describes how the drive handles small writes, with a table of their costs.
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
        "  the drive maps whole flash pages of {}; a smaller write reads its page and programs all \
         of it\n{table}  before garbage collection; small writes to one page share this cost if \
         they meet in the write buffer\n",
        bytes(unit.bytes)
    )
}

/// Returns this description for a drive file, in comment lines of TOML.
pub(crate) fn comment(page_bytes: u64) -> String {
    let unit = Unit::of(page_bytes);
    let cost = |write: &vpass_lab::explain::SmallWrite| {
        format!(
            "# A write of {} costs {} fill read and {} bytes programmed per byte written, before \
             garbage collection.\n",
            bytes(write.bytes),
            write.fill_reads,
            digits(write.programmed_per_byte)
        )
    };
    let costs: String = unit.small_writes.iter().map(cost).collect();
    format!(
        "\n\
         # Mapping unit: the flash page (geometry.page_size), {}. A smaller write reads its page \
         and programs all of it.\n\
         {costs}",
        bytes(unit.bytes)
    )
}
