//! Readers for single lines of a data sheet. A line has, for example, a rate with its unit. Error
//! messages show the expected form.

use vpass_drive::base::units::Bytes;
use vpass_drive::config::CellType;

use crate::numbers::counted;

/// Names of cell types on data sheets. TLC is assumed to use the code 2-3-2, as in the preset
/// modern-tlc-232.
const CELLS: [(&str, CellType); 4] = [
    ("slc", CellType::Slc),
    ("mlc", CellType::Mlc),
    ("tlc", CellType::Tlc232),
    ("qlc", CellType::Qlc),
];
/// Units of rates. Each unit comes with its size in 10^6 bytes per second.
const RATES: [(&str, f64); 6] = [
    ("mib", 1.048_576),
    ("gib", 1_073.741_824),
    ("kb", 0.001),
    ("mb", 1.0),
    ("gb", 1000.0),
    ("tb", 1e6),
];
/// Smallest and largest capacity that a data sheet may have, in bytes. The largest is the size of
/// 2^31 pages of 16 KiB; no drive has more pages.
const CAPACITIES: (u64, u64) = (1_000_000, 35_000_000_000_000);
/// Units of sizes that no drive has.
const TOO_LARGE: [&str; 4] = ["pb", "pib", "eb", "eib"];
/// Units of amounts of written data. Each unit comes with its size in 10^12 bytes. A number without
/// a unit means 10^12 bytes.
const WRITTEN: [(&str, f64); 4] = [("gb", 1e-3), ("tb", 1.0), ("pb", 1e3), ("", 1.0)];
/// Largest accepted number of drive writes per day.
const MOST_DWPD: f64 = 1000.0;
/// Longest accepted warranty, in years.
const MOST_YEARS: f64 = 50.0;

/// Reads a capacity, such as "1.92TB".
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn capacity(text: &str) -> Result<Bytes, String> {
    let expected = || format!("`{text}`: a size with its unit is expected, such as 1.92TB");
    let outside = || format!("`{text}`: a capacity from 1MB to 35TB is expected, such as 1.92TB");
    let plain = tight(text);
    let lower = plain.to_ascii_lowercase();
    let amount = TOO_LARGE.iter().find_map(|unit| lower.strip_suffix(unit));
    if amount.is_some_and(|amount| plain_number(amount).is_some()) {
        return Err(outside());
    }
    let has_unit = plain.ends_with(|c: char| c.is_ascii_alphabetic());
    let bytes = Bytes::parse(&plain).map_err(|_| expected())?;
    match bytes.0 {
        0 => Err(expected()),
        _ if !has_unit => Err(expected()),
        n if (CAPACITIES.0..=CAPACITIES.1).contains(&n) => Ok(bytes),
        _ => Err(outside()),
    }
}

/// Reads a cell type: slc, mlc, tlc or qlc.
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn cell(text: &str) -> Result<CellType, String> {
    let name = text.trim().to_ascii_lowercase();
    let found = CELLS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, cell)| *cell)
        .ok_or_else(|| format!("`{text}` is not a cell type; slc, mlc, tlc or qlc is expected"))
}

/// Returns the name that data sheets use for a cell type.
pub fn cell_word(cell: CellType) -> &'static str {
    CELLS[cell.bits() as usize - 1].0
}

/// Formats a size as vendors do, such as 1.92TB or 2TiB. The result is the shortest exact form.
pub fn size_word(size: Bytes) -> String {
    let decimal = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000)];
    let found = decimal
        .iter()
        .find(|(_, factor)| size.0 >= *factor && size.0.is_multiple_of(factor / 1000))
        .map(|(unit, factor)| format!("{}{unit}", size.0 as f64 / *factor as f64));
    let binary = size.to_string();
    found.filter(|text| text.len() <= binary.len()).unwrap_or(binary)
}

/// Reads a rate with its unit, such as "6800MB/s" or "6.8GB/s". Returns the rate in 10^6 bytes per
/// second.
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn rate(text: &str) -> Result<f64, String> {
    let expected =
        || format!("`{text}`: a rate with its unit is expected, such as 6800MB/s or 6.8GB/s");
    let plain = tight(text).to_ascii_lowercase();
    let amount = plain.strip_suffix("/s").or_else(|| plain.strip_suffix("ps"));
    let mb_s = amount.and_then(|amount| scaled(amount, &RATES)).ok_or_else(expected)?;
    if (0.001..=1e6).contains(&mb_s) {
        Ok(mb_s)
    } else {
        Err(format!("`{text}`: a rate from 1KB/s to 1TB/s is expected"))
    }
}

/// Reads the number of requests per second, such as "850000", "850k" or "1M".
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn iops(text: &str) -> Result<f64, String> {
    let plain = tight(text);
    let count = counted(&plain).and_then(Result::ok).or_else(|| plain.parse().ok());
    count.filter(|n| (1..=1_000_000_000).contains(n)).map(|n| n as f64).ok_or_else(|| {
        format!("`{text}`: requests per second from 1 to 1G are expected, such as 850000 or 850k")
    })
}

/// Reads the amount of data that the host may write, such as "3504", "3504TB" or "1.2PB". Returns
/// the amount in units of 10^12 bytes.
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn tbw(text: &str) -> Result<f64, String> {
    let plain = tight(text).to_ascii_lowercase();
    let plain = plain.strip_suffix('w').unwrap_or(&plain);
    scaled(plain, &WRITTEN).filter(|tb| (1e-6..=1e9).contains(tb)).ok_or_else(|| {
        format!("`{text}`: terabytes above 0 are expected, such as 3504, 3504TB or 1.2PB")
    })
}

/// Reads the number of full drive writes per day, such as "1" or "0.3".
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn dwpd(text: &str) -> Result<f64, String> {
    above_zero(text, MOST_DWPD).ok_or_else(|| {
        format!(
            "`{text}`: drive writes per day above 0 and at most {MOST_DWPD} are expected, such as \
             1 or 0.3"
        )
    })
}

/// Reads the length of a warranty in years, such as "5".
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn years(text: &str) -> Result<f64, String> {
    above_zero(text, MOST_YEARS).ok_or_else(|| {
        format!("`{text}`: years above 0 and at most {MOST_YEARS} are expected, such as 5")
    })
}

/// Reads the number of channels, such as "8".
///
/// # Errors
/// Returns an error message that shows the expected form, if the text has another form.
pub fn channels(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|n| (1..=256).contains(n))
        .ok_or_else(|| format!("`{text}`: a whole number from 1 to 256 is expected, such as 8"))
}

/// Removes all spaces, commas and underscores from a text. Commas and underscores may group digits.
fn tight(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '_')).collect()
}

/// Reads a number with a unit from `units`. Returns the number multiplied by the size of this unit.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) = units
        .iter()
        .filter(|(unit, _)| !unit.is_empty())
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .or_else(|| units.iter().find(|(unit, _)| unit.is_empty()).map(|(_, f)| (text, f)))?;
    plain_number(number).map(|number| number * factor)
}

/// Reads a number that is above 0 and at most `most`.
fn above_zero(text: &str, most: f64) -> Option<f64> {
    plain_number(text.trim()).filter(|number| *number <= most)
}

/// Reads a number above 0. Only digits and a decimal point are allowed.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number| is_plain && *number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_take_the_units_of_data_sheets() {
        assert_eq!(capacity("1.92 TB").unwrap(), Bytes(1_920_000_000_000));
        assert_eq!(capacity("960GB").unwrap(), Bytes(960_000_000_000));
        for text in ["1.92TB", "960GB", "2TiB", "512GiB", "3.84TB", "1000000123B"] {
            assert_eq!(size_word(Bytes::parse(text).unwrap()), text);
        }
        assert_eq!(cell("TLC").unwrap(), CellType::Tlc232);
        for (text, mb_s) in [
            ("6,800 MB/s", 6800.0),
            ("6.8GB/s", 6800.0),
            ("560MBps", 560.0),
            ("1GiB/s", 1_073.741_824),
        ] {
            assert!((rate(text).unwrap() - mb_s).abs() < 1e-9, "{text}");
        }
        for (text, per_s) in [("850,000", 850_000.0), ("850k", 850_000.0), ("1.5M", 1.5e6)] {
            assert!((iops(text).unwrap() - per_s).abs() < 1e-9, "{text}");
        }
        for (text, tb) in
            [("3504", 3504.0), ("3,504 TBW", 3504.0), ("1.2PB", 1200.0), ("600TB", 600.0)]
        {
            assert!((tbw(text).unwrap() - tb).abs() < 1e-9, "{text}");
        }
        assert_eq!((dwpd("0.3"), years("5"), channels("8")), (Ok(0.3), Ok(5.0), Ok(8)));
    }
}
