//! Places the devices of a trace side by side on one drive. The first byte of each device is
//! rounded up to a whole MiB.

use vpass_drive::base::phrase::{Opt, Phrase, set};
use vpass_drive::base::request::SourceError;
use vpass_drive::base::units::Bytes;
use vpass_drive::phrase;

/// Device that a trace names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Number or name of the device, as it stands in the trace.
    pub name: String,
    /// Index of the first file that names the device.
    pub file: usize,
    /// First byte of the device on the drive, before addresses are fitted to the capacity.
    pub base: u64,
    /// End of the request with the highest address in the device, in bytes from the start of the
    /// device.
    pub extent: u64,
    /// Number of requests to the device in a pass.
    pub rows: u64,
}

/// The first byte of every device on the drive is a multiple of this number. As a result, two
/// devices rarely share a page or an erase block of the drive.
const ALIGNMENT: u64 = 1 << 20;
/// Largest size of all devices together, in bytes. Because of this limit, the end of a request
/// never exceeds 2^64.
const MOST: u64 = u64::MAX - u32::MAX as u64;

/// Sets the first byte of every device. Returns the number of bytes of all devices.
pub(in crate::traces) fn lay_out(devices: &mut [Device]) -> Result<u64, SourceError> {
    let mut end = 0u64;
    for device in devices.iter_mut() {
        device.base = end.next_multiple_of(ALIGNMENT);
        end =
            device.base.checked_add(device.extent).filter(|end| *end <= MOST).ok_or_else(|| {
                SourceError::new(phrase![
                    "side by side, the devices of the trace take more than 2^64 bytes; select some \
                     devices with ",
                    Opt::Only.to("DEV"),
                ])
            })?;
    }
    Ok(end)
}

/// Makes the error for devices of `trace` that need more bytes than the drive has. `furthest` is
/// the place in the trace at which the request with the highest address stands. `packed` is the
/// size of the touched pages, if known.
pub(in crate::traces) fn too_large(
    trace: &str,
    devices: &[Device],
    bytes: u64,
    capacity: u64,
    furthest: &str,
    packed: Option<u64>,
) -> SourceError {
    let text = if let [device] = devices {
        format!(
            "{trace}: the requests to device {} reach up to {} ({furthest})",
            device.name,
            words(bytes)
        )
    } else {
        let mut largest: Vec<_> = devices.iter().collect();
        largest.sort_by_key(|d| std::cmp::Reverse(d.extent));
        let shown: Vec<_> =
            largest.iter().take(SHOWN).map(|d| format!("{} {}", d.name, words(d.extent))).collect();
        let of_them = if largest.len() > SHOWN { ", the largest of them" } else { ":" };
        format!(
            "{trace}: {} devices{of_them} {sizes}; side by side, all devices take {}",
            devices.len(),
            words(bytes),
            sizes = shown.join(", ")
        )
    };
    let pack = Opt::Fit.to("pack");
    let (packing, enough) = match packed.map(|packed| (packed <= capacity, words(packed))) {
        None => Default::default(),
        Some((true, packed)) => (
            phrase!["use ", pack, " to place the touched pages ({packed}) side by side, "],
            Phrase::default(),
        ),
        Some((false, packed)) => {
            (Phrase::default(), phrase![" ({packed} are enough with ", pack, ")"])
        }
    };
    // The message gives the size in whole MiB, rounded up.
    let needed = Bytes(bytes.div_ceil(1 << 20).saturating_mul(1 << 20));
    let capacity = words(capacity);
    SourceError::new(phrase![
        text,
        "; the drive has {capacity}; ",
        selection(devices, ", "),
        packing,
        "use ",
        Opt::Fit.to("scale"),
        " or ",
        Opt::Fit.to("wrap"),
        " to change the addresses, or use a larger drive with ",
        set("drive.capacity", needed),
        enough,
    ])
}

/// Returns the advice to replay only some devices of the trace, followed by `end`. Returns an empty
/// text if the trace has only one device.
fn selection(devices: &[Device], end: &'static str) -> Phrase {
    if devices.len() < 2 {
        return Phrase::default();
    }
    phrase!["select some devices with ", Opt::Only.to("DEV"), end]
}

/// Makes the error for a trace whose touched pages do not fit onto the drive, even if these pages
/// lie side by side.
pub(in crate::traces) fn too_many_pages(
    trace: &str,
    devices: &[Device],
    packed: u64,
    capacity: u64,
) -> SourceError {
    let (packed, capacity) = (words(packed), words(capacity));
    SourceError::new(phrase![
        "{trace}: the touched pages take {packed} even without gaps; the drive has {capacity}; ",
        selection(devices, ", or "),
        "use a larger drive with ",
        set("drive.capacity", "SIZE"),
    ])
}

/// Largest number of devices that a message names.
const SHOWN: usize = 4;

/// Formats a size in the largest suitable unit, rounded up to one decimal place.
fn words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["TiB", "GiB", "MiB", "KiB"];
    let mut unit = 1u64 << 40;
    for name in UNITS {
        if bytes >= unit {
            let tenths = (bytes as f64 / unit as f64 * 10.0).ceil() / 10.0;
            return format!("{tenths} {name}");
        }
        unit >>= 10;
    }
    format!("{} bytes", Bytes(bytes).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, extent: u64) -> Device {
        Device { name: name.into(), file: 0, base: 0, extent, rows: 1 }
    }

    #[test]
    fn devices_begin_on_whole_mebibytes() {
        let mut devices =
            [device("a", 1), device("b", 2 << 20), device("c", (1 << 20) + 1), device("d", 5)];
        assert_eq!(lay_out(&mut devices).unwrap(), (5 << 20) + 5);
        assert_eq!(devices.map(|d| d.base >> 20), [0, 1, 3, 5]);
    }

    #[test]
    fn addresses_stay_below_2_to_the_64() {
        assert_eq!(lay_out(&mut [device("a", 1 << 63), device("b", 1)]).unwrap(), (1 << 63) + 1);
        let error =
            lay_out(&mut [device("a", 1 << 63), device("b", 1 << 63)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "side by side, the devices of the trace take more than 2^64 bytes; select some devices \
             with `only=DEV`"
        );
    }

    #[test]
    fn sizes_are_never_rounded_down() {
        let said = [1023, 1024, 1025, 5 << 30, (5 << 30) + 1, 3 << 50].map(words);
        assert_eq!(said, ["1023 bytes", "1 KiB", "1.1 KiB", "5 GiB", "5.1 GiB", "3072 TiB"]);
    }
}
