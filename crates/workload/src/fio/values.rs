//! Parses values of fio options: bytes, times, shares, and lists for reads, writes and trims
//! (fio(1) 3.33, "Parameter types").
//!
//! vpass is stricter than fio in one respect. vpass refuses text that fio silently ignores, such as
//! the `x` of `4x` or the `.5k` of `1.5k`.

/// Values for reads, writes and trims, in this order.
pub(super) type PerOp<T> = [T; 3];

/// Size in bytes, or as a percentage of another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(u32),
}

impl Default for Amount {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Amount {
    /// Returns the size in bytes. A percentage refers to `whole` bytes.
    pub(super) fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
        }
    }
}

/// Value of the option `kb_base`. As in fio, `Binary` means that k is 1024 and KiB is 1000.
/// `Standard` means that k is 1000 and KiB is 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum KbBase {
    #[default]
    Binary,
    Standard,
}

const BYTES: &str =
    "a whole number of bytes is expected, with or without a unit: 4096, 4k, 1m, 2g, 0x1000";

/// Parses a number of bytes such as `4k`, `1mb` or `0x1000`. With the default `kb_base` of 1024,
/// `k`, `kb` and `ki` are 1024 and `kib` is 1000, as in fio.
pub(super) fn bytes(text: &str, base: KbBase) -> Result<u64, String> {
    if text.starts_with('(') {
        return Err("arithmetic in parentheses is not supported; write the number itself".into());
    }
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).map_err(|_| BYTES.into());
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| BYTES.to_owned())?;
    let unit = unit.trim().to_ascii_lowercase();
    if unit == "z" {
        return Err("zones are not supported; a size in bytes is expected".into());
    }
    let scale = unit_bytes(&unit, base).ok_or_else(|| BYTES.to_owned())?;
    number
        .checked_mul(scale)
        .filter(|n| *n < 1 << 63)
        .ok_or_else(|| "the number is too large".into())
}

fn unit_bytes(unit: &str, base: KbBase) -> Option<u64> {
    if unit.is_empty() || unit == "b" {
        return Some(1);
    }
    let (letter, rest) = unit.split_at_checked(1)?;
    let power = "kmgtp".find(letter)? as u32 + 1;
    let is_binary = match rest {
        "" | "b" | "i" => base == KbBase::Binary,
        "ib" => base == KbBase::Standard,
        _ => return None,
    };
    Some(if is_binary { 1 << (10 * power) } else { 1000u64.pow(power) })
}

/// Parses a percentage such as `30%`, or a number of bytes.
pub(super) fn amount(text: &str, base: KbBase) -> Result<Amount, String> {
    let Some(percent) = text.strip_suffix('%') else { return bytes(text, base).map(Amount::Bytes) };
    let percent = percent.trim().parse().ok().filter(|p| (0..=100).contains(p));
    percent.map(Amount::Percent).ok_or_else(|| "a percentage from 0% to 100% is expected".into())
}

/// Parses a time such as `90`, `10m` or `500ms`, and returns ns. A number without a unit is a
/// multiple of `unit_ns` ns.
pub(super) fn time_ns(text: &str, unit_ns: u64) -> Result<u64, String> {
    const EXPECTED: &str =
        "a time is expected, a whole number with or without a unit: 30, 90s, 10m, 500ms, 2h";
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim().to_ascii_lowercase().as_str() {
        "" => unit_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(EXPECTED.into()),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED.to_owned())?;
    number.checked_mul(scale).ok_or_else(|| "the time is too long".into())
}

impl KbBase {
    /// Parses a whole number from `least` to `most`.
    pub(super) fn count(self, text: &str, least: u32, most: u32) -> Result<u32, String> {
        let number = bytes(text, self).ok().and_then(|n| u32::try_from(n).ok());
        number
            .filter(|n| (least..=most).contains(n))
            .ok_or_else(|| format!("a whole number from {least} to {most} is expected"))
    }
}

/// Parses a flag, which is `1` or `0`. A missing value means 1.
pub(super) fn flag(text: Option<&str>) -> Result<bool, String> {
    match text {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err("1 or 0 is expected".into()),
    }
}

/// Splits `a,b,c` into values for reads, writes and trims. A single value applies to all three
/// directions. The last value also applies to the remaining directions, unless a comma follows the
/// value.
pub(super) fn per_op(text: &str) -> Result<PerOp<Option<&str>>, String> {
    let parts: Vec<_> =
        text.split(',').map(|part| Some(part.trim()).filter(|p| !p.is_empty())).collect();
    match parts[..] {
        [all] => Ok([all; 3]),
        [read, others] => Ok([read, others, others]),
        [read, write, trim] => Ok([read, write, trim]),
        _ => Err("at most three values are expected, for reads, writes and trims".into()),
    }
}

/// Parses a range such as `4k-64k` or `4k:64k`. The two ends of the range may be in either order.
pub(super) fn range(text: &str, base: KbBase) -> Result<(u64, u64), String> {
    let (a, b) = text.split_once(['-', ':']).ok_or("a range such as 4k-64k is expected")?;
    let (a, b) = (bytes(a.trim(), base)?, bytes(b.trim(), base)?);
    Ok((a.min(b), a.max(b)))
}

/// Parses pairs such as `a/b:c/d`. The second value of a pair is a percentage. The pairs without a
/// percentage share the rest of the 100 % evenly. `first` parses the first value of a pair.
pub(super) fn shares<T>(
    text: &str,
    first: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<(T, u32)>, String> {
    let mut pairs = Vec::new();
    for pair in text.split(':').filter(|p| !p.trim().is_empty()) {
        let (a, b) = pair.split_once('/').unwrap_or((pair, ""));
        let share: Option<u32> = match b.trim() {
            "" => None,
            b => Some(b.parse().map_err(|_| format!("{b} is not a whole percentage"))?),
        };
        pairs.push((first(a.trim())?, share));
    }
    let given: u64 = pairs.iter().filter_map(|(_, share)| *share).map(u64::from).sum();
    let blanks = pairs.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if pairs.is_empty() || given > 100 || (given < 100 && blanks == 0) {
        return Err(format!("the percentages add up to {given}; 100 is expected"));
    }
    let mut missing = 100 - given as u32;
    let mut left = blanks;
    let pairs = pairs.into_iter().map(|(a, share)| {
        let share = share.unwrap_or_else(|| {
            let share = missing / left.max(1);
            (missing, left) = (missing - share, left - 1);
            share
        });
        (a, share)
    });
    Ok(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_that_fio_prints() {
        // Each expected number of bytes was taken from an iolog of fio 3.33.
        let [binary, standard] = [KbBase::Binary, KbBase::Standard];
        for (text, base, expected) in [
            ("4k", binary, 4096),
            ("4kB", binary, 4096),
            ("4ki", binary, 4096),
            ("4KiB", binary, 4000),
            ("4K", standard, 4000),
            ("4ki", standard, 4000),
            ("4KiB", standard, 4096),
            ("0x1000", binary, 4096),
            ("1m", binary, 1 << 20),
            ("1m", standard, 1_000_000),
            ("7", binary, 7),
            ("7b", binary, 7),
            ("2t", binary, 2 << 40),
        ] {
            assert_eq!(bytes(text, base), Ok(expected), "{text}");
        }
        for text in ["", "k", "4x", "1.5k", "-4k", "4kk", "0x", "9999999p", "(4*1024)", "1z", "é"]
        {
            assert!(bytes(text, binary).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units() {
        let seconds = |text: &str| time_ns(text, 1_000_000_000).map(|ns| ns as f64 / 1e9);
        let got: Vec<_> =
            ["30", "2m", "1h", "1d", "500ms", "7usec"].map(|t| seconds(t).unwrap()).to_vec();
        assert_eq!(got, [30.0, 120.0, 3600.0, 86400.0, 0.5, 7e-6]);
        for text in ["", "1.5m", "-1", "10x", "99999999999999d"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_for_reads_writes_and_trims() {
        // These examples are from the option `blocksize` in fio(1).
        for (text, expected) in [
            ("256k", [Some("256k"); 3]),
            ("8k,32k", [Some("8k"), Some("32k"), Some("32k")]),
            ("8k,32k,", [Some("8k"), Some("32k"), None]),
            (",8k", [None, Some("8k"), Some("8k")]),
            (",8k,", [None, Some("8k"), None]),
        ] {
            assert_eq!(per_op(text).unwrap(), expected, "{text}");
        }
        assert!(per_op("1,2,3,4").is_err());
    }

    #[test]
    fn shares_fill_up() {
        let sizes = |text: &str| shares(text, |t| bytes(t, KbBase::Binary));
        assert_eq!(sizes("4k/50:1k/:32k/").unwrap(), [(4096, 50), (1024, 25), (32768, 25)]);
        assert_eq!(sizes("4k:8k:16k").unwrap(), [(4096, 33), (8192, 33), (16384, 34)]);
        assert_eq!(sizes("4k/100").unwrap(), [(4096, 100)]);
        for text in [
            "",
            "4k/50",
            "4k/60:8k/60",
            "4k/60:8k/60:1k/",
            "4k/x",
            "4k/-1:8k",
            "4k/4294967295:8k/4294967295",
        ] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_and_ranges() {
        assert_eq!(amount("30%", KbBase::Binary), Ok(Amount::Percent(30)));
        assert_eq!(Amount::Percent(30).of(1 << 60), (3 << 60) / 10);
        assert!(amount("130%", KbBase::Binary).is_err());
        assert_eq!(range("16k-4k", KbBase::Binary), Ok((4096, 16384)));
        assert_eq!(range("4k:16k", KbBase::Binary), Ok((4096, 16384)));
        assert!(range("4k", KbBase::Binary).is_err());
    }
}
