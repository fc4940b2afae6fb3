//! `vpass explain`: text about the limits that follow from an error-correcting code.

use std::fmt::Write;

use vpass_drive::config::Combine;
use vpass_lab::explain::Code;
use vpass_lab::numbers::{count, days, digits};

use crate::table::Table;

pub(super) fn words(code: &Code, colour: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "  a codeword has {} bits, of which {} are data; the code corrects {} wrong bits; the \
         limit of the code is RBER {:.3e}, at which {} of the codewords decode",
        count(code.codeword_bits.into()),
        count(code.data_bits.into()),
        code.corrects,
        code.tolerable_rber,
        share(code.decoded)
    );
    let _ = writeln!(
        text,
        "  at the limit of the code, UBER is {:.1e} and a block has {} lost pages (JESD218: UBER \
         1e-15 for client drives, 1e-16 for enterprise drives)",
        code.uber,
        digits(code.lost_pages_of_a_block)
    );
    let mut table = Table::new(["P/E cycles", "reads", "age", "reads at half that age"]);
    for row in &code.limits {
        table.row([
            count(row.pec.into()),
            digits(row.reads),
            days(row.age_days),
            digits(row.reads_at_half_age),
        ]);
    }
    text.push_str(&table.render(colour));
    text.push_str(match code.combine {
        Combine::Independent => {
            "  reads and age can each cause as many errors as the code corrects (bch.combine = \
            \"independent\", as published)\n"
        }
        Combine::Sum => {
            "  reads and age together can cause as many errors as the code corrects \
            (bch.combine = \"sum\")\n"
        }
    });
    text
}

/// Formats a share in percent, such as 99.9998 %, with enough decimals to show all leading nines.
fn share(decoded: f64) -> String {
    let fails = 1.0 - decoded;
    let places = (-(fails.log10()) - 2.0).ceil().clamp(0.0, 12.0) as usize;
    format!("{:.places$} %", 100.0 * decoded)
}
