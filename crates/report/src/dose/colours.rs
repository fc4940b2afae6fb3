//! Colours of the dose maps. The style sheet defines them, so that maps, bars and legend have the
//! same colours.

use super::png::Colour;
use crate::page::assets::STYLE;

/// Number of colours for doses between 0 and the limit.
pub(super) const LEVELS: u8 = 200;
/// Index of the colour for a wordline whose dose exceeds its limit.
pub(super) const PAST: u8 = LEVELS;
/// Index of the colour for a wordline without data.
pub(super) const NO_DATA: u8 = LEVELS + 1;
/// Number of colours that the style sheet has for doses up to the limit.
const STEPS: usize = 10;

/// Colour theme of the page: light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Light,
    Dark,
}

/// Returns the index of the colour for a ratio of dose to limit. Ratios from 0 to 1 have `LEVELS`
/// shades.
pub(super) fn index(ratio: f64) -> u8 {
    if ratio > 1.0 { PAST } else { (ratio * f64::from(LEVELS - 1)) as u8 }
}

/// Returns the colours of all indices. Between two colours of the style sheet, the colours are
/// mixed from both.
pub(super) fn palette(theme: Theme) -> Vec<Colour> {
    let steps: Vec<Colour> = (0..STEPS).map(|step| named(&format!("h{step}"), theme)).collect();
    let mixed = (0..LEVELS).map(|level| {
        let at = f64::from(level) * (STEPS - 1) as f64 / f64::from(LEVELS - 1);
        let low = (at as usize).min(STEPS - 2);
        let share = at - low as f64;
        std::array::from_fn(|c| {
            let (a, b) = (f64::from(steps[low][c]), f64::from(steps[low + 1][c]));
            (a + (b - a) * share).round() as u8
        })
    });
    mixed.chain([named("hx", theme), named("hole", theme)]).collect()
}

/// Returns the colour that a property of the style sheet has in this theme. The style sheet writes
/// each property as `--name: light-dark(#rrggbb, #rrggbb);`.
fn named(name: &str, theme: Theme) -> Colour {
    let mark = format!("--{name}: light-dark(#");
    let (_, colours) = STYLE.split_once(&mark).expect("the style sheet has every colour of maps");
    let start = if theme == Theme::Dark { "rrggbb, #".len() } else { 0 };
    std::array::from_fn(|c| {
        let digits = &colours[start + 2 * c..start + 2 * c + 2];
        u8::from_str_radix(digits, 16).expect("six hexadecimal digits")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_begins_and_ends_as_the_style_sheet_says() {
        let light = palette(Theme::Light);
        let ends = [light[0], light[199], light[usize::from(PAST)], light[usize::from(NO_DATA)]];
        assert_eq!(ends, [[0xe6, 0xf0, 0xee], [0x2a, 0x1f, 0x4e], [0xe5, 0x39, 0x1b], [255; 3]]);
        let dark = palette(Theme::Dark);
        assert_eq!([dark[0], dark[199]], [[0x1d, 0x23, 0x29], [0xe2, 0xf6, 0xe0]]);
        assert_eq!([light.len(), dark.len()], [202, 202]);
        // The colour with index 11 of 199 lies 0.4975 of the way from the first to the second
        // colour of the style sheet.
        assert_eq!(light[11], [0xdc, 0xec, 0xe9]);
    }

    #[test]
    fn a_dose_at_its_limit_is_not_past_it() {
        assert_eq!([index(0.0), index(0.5), index(1.0), index(1.0001)], [0, 99, 199, PAST]);
    }
}
