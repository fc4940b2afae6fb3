//! Sentence that says how much controller memory a longer life costs.

use crate::model::{Model, Row};
use crate::numbers::{bytes, sig, times};
use crate::section::{bold, code};
use crate::sentences::verdict::{leader, ratio};

/// Number of bytes in one GiB.
const GIB: f64 = 1_073_741_824.0;

/// Describes what the winner gains and how much controller memory it uses. `capacity` is the
/// capacity of the drive in bytes, if known.
pub fn bought(model: &Model, capacity: Option<f64>) -> String {
    let Some((best, base)) = leader(model).and_then(|best| Some((best, model.base(best)?))) else {
        return "No technique is clearly better than all others, so more memory buys nothing here."
            .into();
    };
    let Some(ram) = best.value("controller_ram_bytes") else { return String::new() };
    let per_gib = capacity.filter(|c| *c > 0.0 && ram > 0.0);
    let per_gib = per_gib.map_or_else(String::new, |c| {
        format!(" That is {} per GiB of the drive.", bytes_of(ram * GIB / c))
    });
    format!("{}{}", gain(model, best, base, &bold(&bytes(ram))), per_gib)
}

/// Describes by how much the life becomes longer. If the winner's life is not the longest one, the
/// text says by how much rewritten pages become fewer.
fn gain(model: &Model, best: &Row, base: &Row, ram: &str) -> String {
    let (one, other) = (code(&best.label), code(&base.label));
    let lives_longest = model.winners_of("life").iter().any(|row| row.label == best.label);
    if let Some(ratio) = ratio(best, base).filter(|_| lives_longest) {
        return format!(
            "{one} gives {times} the life of {other} and costs {ram} of memory.",
            times = bold(&ratio)
        );
    }
    let writes = |row: &Row| row.value("reclaim_write_pages").filter(|n| *n > 0.0);
    match (writes(best), writes(base)) {
        (Some(few), Some(many)) if many > few => {
            let ratio = bold(&times(many / few));
            format!("{other} rewrites {ratio} as many pages as {one}, which takes {ram} of memory.")
        }
        _ => format!("{one} takes {ram} of memory."),
    }
}

fn bytes_of(n: f64) -> String {
    if n < 1.0 { format!("{}\u{a0}B", sig(n)) } else { bytes(n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compared, with_lives};

    #[test]
    fn a_known_life_is_what_memory_buys() {
        let model = with_lives();
        assert_eq!(
            bought(&model, Some(2.0 * GIB)),
            "<code>straw-wl</code> gives <b>3.0\u{a0}times</b> the life of <code>block</code> and \
             costs <b>80.0\u{a0}KiB</b> of memory. That is 40.0\u{a0}KiB per GiB of the drive."
        );
    }

    #[test]
    fn without_lives_it_buys_fewer_rewritten_pages() {
        assert_eq!(
            bought(&compared(), None),
            "<code>block</code> rewrites <b>100\u{a0}times</b> as many pages as \
             <code>straw-wl</code>, which takes <b>80.0\u{a0}KiB</b> of memory."
        );
    }

    #[test]
    fn nothing_is_bought_without_a_winner() {
        let mut model = compared();
        model.winners.clear();
        assert!(bought(&model, None).starts_with("No technique is clearly better"));
    }
}
