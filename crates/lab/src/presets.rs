//! Preset drives: drive files that are part of vpass and have a name. Each file gives the sources
//! of its numbers.

use vpass_workload::presets::without_schema;

/// Name and file text of each preset drive. The smallest drive is first.
pub const DRIVES: [(&str, &str); 22] = [
    ("tiny", include_str!("../../../presets/drives/tiny.toml")),
    ("straw-2t-tlc", include_str!("../../../presets/drives/straw-2t-tlc.toml")),
    ("ipr-128g-tlc", include_str!("../../../presets/drives/ipr-128g-tlc.toml")),
    ("ida-512g-tlc", include_str!("../../../presets/drives/ida-512g-tlc.toml")),
    ("da-raid5-mlc", include_str!("../../../presets/drives/da-raid5-mlc.toml")),
    ("modern-tlc", include_str!("../../../presets/drives/modern-tlc.toml")),
    ("modern-tlc-232", include_str!("../../../presets/drives/modern-tlc-232.toml")),
    ("modern-qlc", include_str!("../../../presets/drives/modern-qlc.toml")),
    ("aged-tlc", include_str!("../../../presets/drives/aged-tlc.toml")),
    ("aged-tlc-days", include_str!("../../../presets/drives/aged-tlc-days.toml")),
    ("aged-qlc", include_str!("../../../presets/drives/aged-qlc.toml")),
    ("hbf-slc", include_str!("../../../presets/drives/hbf-slc.toml")),
    ("rlr-rewriter-tlc", include_str!("../../../presets/drives/rlr-rewriter-tlc.toml")),
    ("rlr-rewriter-qlc", include_str!("../../../presets/drives/rlr-rewriter-qlc.toml")),
    ("rlr-retrier-tlc", include_str!("../../../presets/drives/rlr-retrier-tlc.toml")),
    ("real-a", include_str!("../../../presets/drives/real-a.toml")),
    ("real-b", include_str!("../../../presets/drives/real-b.toml")),
    ("real-d", include_str!("../../../presets/drives/real-d.toml")),
    ("real-e", include_str!("../../../presets/drives/real-e.toml")),
    ("real-h", include_str!("../../../presets/drives/real-h.toml")),
    ("real-i", include_str!("../../../presets/drives/real-i.toml")),
    ("modern-qlc-h", include_str!("../../../presets/drives/modern-qlc-h.toml")),
];

/// Presets of current drives, from which `vpass new drive` can start. The command uses the preset
/// whose number of bits per cell is nearest to that of the new drive. If two presets are equally
/// near, the command uses the first.
pub const TO_BEGIN_FROM: [&str; 2] = ["modern-tlc-232", "modern-qlc"];

/// Returns the text of a preset drive's file.
pub fn drive(name: &str) -> Option<&'static str> {
    DRIVES.iter().find(|(known, _)| *known == name).map(|(_, text)| without_schema(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::config::{CellType, DriveConfig, KindUs};

    fn read(name: &str) -> DriveConfig {
        toml::from_str(drive(name).expect("a preset")).expect("it parses")
    }

    /// Returns the number of sensings that each page of a wordline needs. The numbers for each code
    /// are those of the papers.
    fn sensings(cell: CellType) -> &'static [u32] {
        match cell {
            CellType::Slc => &[1],
            CellType::Mlc => &[1, 2],
            CellType::Tlc => &[1, 2, 4],
            CellType::Tlc232 => &[2, 3, 2],
            CellType::Qlc => &[1, 2, 4, 8],
        }
    }

    #[test]
    fn sensing_times_of_every_preset_follow_the_sensings_of_its_code() {
        for (name, _) in DRIVES {
            let config = read(name);
            let KindUs::PerKind(times) = &config.timing.sense_us else { continue };
            let sensings = sensings(config.geometry.cell);
            for (few, short) in sensings.iter().zip(times) {
                for (many, long) in sensings.iter().zip(times) {
                    let ordered = if few < many {
                        short < long
                    } else {
                        few > many || (short - long).abs() < 1e-9
                    };
                    assert!(
                        ordered,
                        "{name}: {few} sensings take {short} us, {many} take {long} us"
                    );
                }
            }
        }
    }

    /// Compares the read times of two codes. A page read takes 10 us, plus 15 us for each sensing.
    /// The mean is 45 us with both codes.
    #[test]
    fn both_codes_of_the_drive_differ_only_in_sensing() {
        let (of_124, mut of_232) = (read("modern-tlc"), read("modern-tlc-232"));
        assert_eq!((of_124.geometry.cell, of_232.geometry.cell), (CellType::Tlc, CellType::Tlc232));
        for config in [&of_124, &of_232] {
            let cell = config.geometry.cell;
            let by_hand: Vec<f64> =
                sensings(cell).iter().map(|sensings| 10.0 + 15.0 * f64::from(*sensings)).collect();
            assert_eq!(config.timing.sense_per_kind_us(cell), by_hand);
            assert!((by_hand.iter().sum::<f64>() / 3.0 - 45.0).abs() < 1e-9);
        }
        (of_232.geometry.cell, of_232.timing.sense_us) =
            (of_124.geometry.cell, of_124.timing.sense_us.clone());
        of_232.description.clone_from(&of_124.description);
        assert_eq!(of_232, of_124);
    }
}
