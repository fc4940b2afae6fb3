//! Tests of cards: a card that refuses a drive is heard in every slot.

use vpass_drive::api::card::{About, Card, InSlot, New};
use vpass_drive::config::{ConfigError, DriveConfig, require};
use vpass_drive::drive::{Drive, Techniques};
use vpass_techniques::usual;

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 4, cell = "slc", page_size = 4096 }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.2 }
"#;

fn refuses(config: &DriveConfig) -> Result<(), ConfigError> {
    require(config.geometry.dies_per_channel > 1, || "one die is too few".into())
}

/// Returns a card that refuses the drive before it makes anything.
fn refusing<P: InSlot + ?Sized>() -> &'static Card<P> {
    let about = About { name: "refusing", refuses: Some(refuses), ..About::PLAIN };
    let new = New::Listed(|_, _, _| unreachable!("the card refuses the drive first"));
    Box::leak(Box::new(Card { about, new }))
}

#[test]
fn a_card_that_refuses_a_drive_is_heard_in_every_slot() {
    let all = [
        Techniques { reclaim: refusing(), ..usual() },
        Techniques { refresh: refusing(), ..usual() },
        Techniques { parity: refusing(), ..usual() },
        Techniques { gc: refusing(), ..usual() },
    ];
    for techniques in all {
        let config = toml::from_str::<DriveConfig>(DRIVE).unwrap().resolve().unwrap();
        let refused = Drive::new(config, &techniques, false).err().map(|e| e.to_string());
        assert_eq!(refused.as_deref(), Some("one die is too few"), "{techniques:?}");
    }
}
