//! `vpass explain`: text about the additional reads that a block endures if parity protects its
//! data.

use std::fmt::Write;

use vpass_lab::explain::Stripes;
use vpass_lab::numbers::{count, digits};

use crate::table::Table;

pub(super) fn words(stripes: &Stripes, colour: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "  stripes have {} pages, and their parity is always on flash (`{}`); the logarithm of \
         the error rates has a standard deviation of {} between stripes and {} within a stripe",
        stripes.members, stripes.technique, stripes.spread_common, stripes.spread_own
    );
    let reads = format!("reads at {} P/E", count(stripes.pec.into()));
    let mut table = Table::new([
        "limit at which a block is recycled",
        &reads,
        "raised",
        "UBER there",
        "UBER of all reads",
    ]);
    for limit in &stripes.limits {
        let ubers = [limit.uber, limit.uber_mean].map(|uber| format!("{uber:.1e}"));
        table.row(
            [limit.by.to_owned(), digits(limit.reads), digits(limit.raised)]
                .into_iter()
                .chain(ubers),
        );
    }
    text.push_str(&table.render(colour));
    text.push_str(
        "  expected values for fresh data; use the first row if there is no parity, or if parity \
         is programmed later than the data\n",
    );
    text
}
