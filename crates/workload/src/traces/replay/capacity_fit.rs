//! Fits the addresses of a trace to the capacity of the drive (`--fit`).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::units::Bytes;
use vpass_drive::phrase;

use crate::traces::replay::packing::Packing;

/// Method by which a trace's addresses are fitted to the drive's capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// A trace that needs more than the capacity is refused.
    #[default]
    Error,
    /// Addresses beyond the capacity continue at address 0 of the drive.
    Wrap,
    /// All addresses are multiplied by a factor, so that the range of the trace's addresses becomes
    /// as long as the drive.
    Scale,
    /// The pages that the trace touches are placed side by side, in the order of their addresses.
    Pack,
}

impl Fit {
    /// Names of the methods for the option `--fit`.
    pub const NAMES: [&'static str; 4] = ["error", "wrap", "scale", "pack"];
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for Fit {
    type Err = Phrase;

    fn from_str(name: &str) -> Result<Self, Phrase> {
        match name {
            "error" => Ok(Self::Error),
            "wrap" => Ok(Self::Wrap),
            "scale" => Ok(Self::Scale),
            "pack" => Ok(Self::Pack),
            _ => {
                let hint = crate::nearest::hint(name, Self::NAMES);
                Err(phrase![
                    "\"{name}\" is not a value of ",
                    Opt::Fit,
                    "{hint}; the values are error, wrap, scale and pack",
                ])
            }
        }
    }
}

/// Error for a trace file whose content has changed since the survey of the trace.
pub(in crate::traces) const CHANGED: &str = "the trace file has changed since vpass first read it";
/// Unit of scaled addresses in bytes. Scaled addresses are rounded down to whole sectors.
const SECTOR_BYTES: u64 = 512;

/// Method for fitting addresses, with the numbers that the method needs.
#[derive(Debug)]
pub(in crate::traces) struct Fitter {
    /// Positions of the pages that the trace touches, if `fit` is `Pack`.
    pub(in crate::traces) packing: Option<Arc<Packing>>,
    pub(in crate::traces) fit: Fit,
    pub(in crate::traces) capacity: u64,
    /// End of the request with the highest address in the trace, in bytes. Only the method `Scale`
    /// uses this number.
    pub(in crate::traces) extent: u64,
}

impl Fitter {
    /// Returns the place of a request on the drive: its first byte and its length. Returns an error
    /// text if the request does not fit.
    #[inline]
    pub(in crate::traces) fn place(&self, offset: u64, bytes: u64) -> Result<(u64, u64), Phrase> {
        if let Some(packing) = &self.packing {
            return packing.place(offset, bytes).ok_or_else(|| CHANGED.into());
        }
        // Offset and length are at most 2^63 each, so the sum fits into 64 bits.
        if self.fit != Fit::Scale && offset + bytes <= self.capacity {
            return Ok((offset, bytes));
        }
        self.move_in(offset, bytes).map(|offset| (offset, bytes))
    }

    fn move_in(&self, offset: u64, bytes: u64) -> Result<u64, Phrase> {
        let capacity = self.capacity;
        let drive =
            format!("the drive's capacity of {capacity} bytes ({})", Bytes(capacity).rounded());
        let Some(highest) = capacity.checked_sub(bytes) else {
            return Err(phrase!["a request of {bytes} bytes is larger than {drive}"]);
        };
        match self.fit {
            Fit::Error | Fit::Pack => Err(phrase![
                "a request of {bytes} bytes at offset {offset} ends beyond {drive}; use ",
                Opt::Fit.to("wrap"),
                ", ",
                Opt::Fit.to("scale"),
                " or a larger drive",
            ]),
            Fit::Wrap => Ok((offset % capacity).min(highest)),
            Fit::Scale => {
                let scaled = u128::from(offset) * u128::from(capacity) / u128::from(self.extent);
                Ok((scaled as u64).min(highest) / SECTOR_BYTES * SECTOR_BYTES)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitter(fit: Fit, extent: u64) -> Fitter {
        Fitter { packing: None, fit, capacity: 8192, extent }
    }

    fn offset(fitter: &Fitter, offset: u64, bytes: u64) -> u64 {
        let (placed, length) = fitter.place(offset, bytes).unwrap();
        assert_eq!(length, bytes);
        placed
    }

    #[test]
    fn fitting_requests_are_not_moved() {
        for fit in [Fit::Error, Fit::Wrap] {
            assert_eq!(offset(&fitter(fit, 0), 4096, 4096), 4096);
        }
    }

    #[test]
    fn wrapping_continues_at_0_and_never_crosses_the_end() {
        let wrap = fitter(Fit::Wrap, 0);
        assert_eq!(offset(&wrap, 8192 * 5 + 1024, 512), 1024);
        assert_eq!(offset(&wrap, 8192 * 5 + 8000, 512), 7680);
        assert_eq!(offset(&wrap, 7000, 2048), 6144);
    }

    #[test]
    fn scaling_maps_the_extent_to_the_capacity() {
        let down = fitter(Fit::Scale, 81_920);
        assert_eq!(offset(&down, 40_960, 512), 4096);
        assert_eq!(offset(&down, 81_408, 512), 7680);
        assert_eq!(offset(&down, 73_728, 8192), 0);
        assert_eq!(offset(&fitter(Fit::Scale, 4096), 1024, 512), 2048);
        assert_eq!(offset(&fitter(Fit::Scale, 1 << 63), (1 << 63) - 512, 512), 7680);
        assert_eq!(offset(&fitter(Fit::Scale, 8292), 8192, 100), 7680);
    }

    #[test]
    fn names_read_and_print() {
        for name in Fit::NAMES {
            assert_eq!(name.parse::<Fit>().unwrap().to_string(), name);
        }
        assert_eq!(
            "sale".parse::<Fit>().unwrap_err(),
            "\"sale\" is not a value of `fit` (did you mean scale?); the values are error, wrap, \
             scale and pack"
        );
        assert_eq!(
            "".parse::<Fit>().unwrap_err(),
            "\"\" is not a value of `fit`; the values are error, wrap, scale and pack"
        );
    }
}
