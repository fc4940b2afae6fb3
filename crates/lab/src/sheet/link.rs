//! Host interfaces on data sheets, and the largest rate of each interface in one direction.
//!
//! ```text
//! pcie4x4: 16 GT/s x 4 lanes x 128/130 / 8 bits = 7,877 MB/s
//! sata:     6 Gb/s          x   8/10  / 8 bits =   600 MB/s
//! ```

use std::fmt;

/// Interface between the host and the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    name: String,
    /// Text that shows how the rate was calculated.
    because: String,
    /// Rate in one direction, in 10^6 bytes per second. Bits that only encode the data are
    /// excluded.
    pub mb_s: f64,
    /// Largest number of requests that the host keeps outstanding on this interface.
    pub depth: u32,
}

/// Generations of `PCIe`. Each row has the generation, and the rate of a lane in 10^9 transfers per
/// second. Then come the numbers of data bits and of all bits in the code, for example 128 of 130
/// bits. The last row counts bytes instead of bits: a flit of 256 bytes has 242 data bytes. Source:
/// PCI-SIG base specifications.
const PCIE: [(u32, f64, (f64, f64)); 6] = [
    (1, 2.5, (8.0, 10.0)),
    (2, 5.0, (8.0, 10.0)),
    (3, 8.0, (128.0, 130.0)),
    (4, 16.0, (128.0, 130.0)),
    (5, 32.0, (128.0, 130.0)),
    (6, 64.0, (242.0, 256.0)),
];
/// Numbers of lanes that a drive may have.
const LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// Serial interfaces. Each row has a name, the number of transfers per second (in 10^9), and the
/// largest queue depth. Native command queueing of SATA allows 32 requests. SAS is assumed to have
/// the queue depth of `PCIe`.
const SERIAL: [(&str, f64, u32); 4] =
    [("sata", 6.0, 32), ("sata3", 6.0, 32), ("sata2", 3.0, 32), ("sas12", 12.0, NVME_DEPTH)];
/// Queue depth that a data sheet of a `PCIe` drive is assumed to use for random reads. Many data
/// sheets of data-centre drives use 8 threads with 32 requests each.
pub(super) const NVME_DEPTH: u32 = 256;

impl Link {
    /// Reads the name of an interface, such as "pcie4x4", "gen4x4" or "sata".
    ///
    /// # Errors
    /// Returns an error message with examples if the text is not the name of an interface.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = text.to_ascii_lowercase().replace([' ', '_', '-'], "").replace(".0", "");
        let serial = SERIAL.iter().find(|(name, ..)| *name == plain);
        if let Some((name, gigabits, depth)) = serial {
            return Ok(Self {
                name: (*name).into(),
                because: format!("{gigabits} Gb/s x 8/10"),
                mb_s: whole(gigabits * 1e3 * 8.0 / 10.0 / 8.0),
                depth: *depth,
            });
        }
        let lanes = plain.strip_prefix("pcie").or_else(|| plain.strip_prefix("gen"));
        let numbers =
            lanes.and_then(|rest| rest.split_once('x')).and_then(|(generation, lanes)| {
                Some((generation.parse::<u32>().ok()?, lanes.parse::<u32>().ok()?))
            });
        let found = numbers.and_then(|(generation, lanes)| {
            let row = PCIE.iter().find(|(known, ..)| *known == generation)?;
            LANES.contains(&lanes).then_some((row, lanes))
        });
        let ((generation, transfers, (data, line)), lanes) = found.ok_or_else(|| {
            format!(
                "`{text}` is not a known interface; sata, sata2, sas12 or pcieGxL is expected, \
                 with generation G from 1 to 6 and 1, 2, 4, 8 or 16 lanes L, such as pcie4x4"
            )
        })?;
        Ok(Self {
            name: format!("pcie{generation}x{lanes}"),
            because: format!("{transfers} GT/s x {lanes} lanes x {data}/{line}"),
            mb_s: whole(transfers * 1e3 * f64::from(lanes) * data / line / 8.0),
            depth: NVME_DEPTH,
        })
    }

    /// Returns a text that shows how the rate was calculated.
    pub fn because(&self) -> &str {
        &self.because
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Returns the nearest whole number.
fn whole(mb_s: f64) -> f64 {
    mb_s.round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_specifications() {
        let rate = |text: &str| Link::parse(text).unwrap().mb_s as u32;
        assert_eq!(
            ["sata", "SATA 3", "sata2", "sas12", "pcie3x4", "PCIe 4.0 x4", "gen5x4", "pcie1x1"]
                .map(rate),
            [600, 600, 300, 1200, 3938, 7877, 15_754, 250]
        );
        // The lanes carry 64 GT/s x 16 / 8 = 128 GB/s. Of every 256 bytes, 242 bytes are data.
        assert_eq!(rate("pcie6x16"), 121_000);
    }
}
