//! Counters of SATA drives, in the output of smartctl.
//!
//! Device statistics (ACS, log 04h) count logical sectors. The name of a vendor attribute comes
//! from smartctl's drive database. The meaning of an attribute is known only if its name gives the
//! unit, and tells whether bytes of the host or bytes of the flash are counted.
//!
//! ```text
//! Host_Writes_32MiB       the host wrote units of 32 MiB
//! NAND_Writes_1GiB        the drive wrote units of 1 GiB to flash
//! Total_LBAs_Written      unknown unit: sectors, MiB or more, depending on the vendor
//! Lifetime_Writes_GiB     known unit, but the bytes are those of the host on some drives only
//! ```

use serde_json::Value;

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Beginnings of attribute names. Each beginning comes with the quantity that an attribute with
/// such a name counts.
const OWNERS: [(&str, Quantity); 5] = [
    ("Host_Writes_", Quantity::HostWritten),
    ("Host_Reads_", Quantity::HostRead),
    ("NAND_Writes_", Quantity::FlashWritten),
    ("Total_NAND_Writes_", Quantity::FlashWritten),
    ("Flash_Writes_", Quantity::FlashWritten),
];

/// Copies the counters from a JSON document into a snapshot.
///
/// # Errors
/// Returns an error message if the value of a counter is not a whole number.
pub(super) fn take(document: &Object, into: &mut Snapshot) -> Result<(), String> {
    take_statistics(document, into)?;
    for attribute in list(document, "ata_smart_attributes", "table") {
        take_attribute(attribute, into)?;
    }
    Ok(())
}

/// Returns the JSON objects that a list in the document contains.
fn list<'a>(document: &'a Object, key: &str, inner: &str) -> impl Iterator<Item = &'a Object> {
    let list = document.get(key).and_then(|of| of.get(inner)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn take_statistics(document: &Object, into: &mut Snapshot) -> Result<(), String> {
    let sector = at(document, &["logical_block_size"])?.filter(|bytes| *bytes > 0);
    for page in list(document, "ata_device_statistics", "pages") {
        let table = page.get("table").and_then(Value::as_array);
        for entry in table.into_iter().flatten().filter_map(Value::as_object) {
            let is_valid = entry.get("flags").is_none_or(|flags| flags["valid"] == true);
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
            let known = match name {
                "Logical Sectors Read" => sector.map(|bytes| (Quantity::HostRead, bytes)),
                "Logical Sectors Written" => sector.map(|bytes| (Quantity::HostWritten, bytes)),
                "Percentage Used Endurance Indicator" => Some((Quantity::PercentageUsed, 1)),
                _ => None,
            };
            let Some((quantity, unit)) = known.filter(|_| is_valid) else { continue };
            if let Some(value) = at(entry, &["value"]).map_err(|e| format!("{name}: {e}"))? {
                into.note(quantity, value.saturating_mul(unit));
            }
        }
    }
    Ok(())
}

fn take_attribute(attribute: &Object, into: &mut Snapshot) -> Result<(), String> {
    let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
    if !counts_bytes(name) {
        return Ok(());
    }
    let raw = attribute.get("raw").and_then(Value::as_object);
    let value = raw.map(|raw| at(raw, &["value"])).transpose();
    let Some(value) = value.map_err(|e| format!("{name}: {e}"))?.flatten() else { return Ok(()) };
    if let Some((quantity, unit)) = of_name(name) {
        into.note(quantity, value.saturating_mul(unit));
    } else {
        let id = attribute.get("id").and_then(Value::as_u64).unwrap_or(0);
        let value = u64::try_from(value).unwrap_or(u64::MAX);
        into.vendor.insert((id, crate::plain::line(name).into_owned()), value);
    }
    Ok(())
}

/// Returns whether an attribute's name suggests that the attribute counts bytes read or written.
fn counts_bytes(name: &str) -> bool {
    let is_amount = ["Writes", "Written", "Reads", "LBAs_Read"].iter().any(|of| name.contains(of));
    is_amount && !["Error", "Rate", "Retry"].iter().any(|of| name.contains(of))
}

/// Returns the counter that the name of an attribute identifies, and the unit of this counter in
/// bytes.
fn of_name(name: &str) -> Option<(Quantity, u128)> {
    let (unit, quantity) = OWNERS
        .iter()
        .find_map(|(beginning, quantity)| Some((name.strip_prefix(beginning)?, *quantity)))?;
    let (times, power) = unit
        .strip_suffix("MiB")
        .map(|times| (times, 20))
        .or_else(|| unit.strip_suffix("GiB").map(|times| (times, 30)))?;
    let times: u128 = if times.is_empty() { 1 } else { times.parse().ok()? };
    Some((quantity, times << power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_bytes_and_which_unit() {
        let (mib, gib) = (1 << 20, 1 << 30);
        for (name, right) in [
            ("Host_Writes_32MiB", Some((Quantity::HostWritten, 32 * mib))),
            ("Host_Reads_GiB", Some((Quantity::HostRead, gib))),
            ("NAND_Writes_1GiB", Some((Quantity::FlashWritten, gib))),
            ("Flash_Writes_GiB", Some((Quantity::FlashWritten, gib))),
            ("Lifetime_Writes_GiB", None),
            ("Total_LBAs_Written", None),
            ("Host_Writes", None),
            ("Host_Writes_GB", None),
        ] {
            assert_eq!(of_name(name), right, "{name}");
            assert!(counts_bytes(name), "{name}");
        }
        for other in ["Raw_Read_Error_Rate", "Wear_Leveling_Count", "Read_Error_Retry_Rate"] {
            assert!(!counts_bytes(other), "{other}");
        }
    }
}
