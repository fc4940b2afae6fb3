//! Speed of the drive with the oracle. It is a ratio to the same floor as for the drive alone, in
//! the same run. `--small` runs it at the size of a test.

#[path = "../../drive/benches/shared/mod.rs"]
#[expect(dead_code, reason = "the bench of the drive alone uses the rest")]
mod shared;

use shared::{Size, floor, prepared_for, say, straw, untimed};
use vpass_oracle::Oracle;

fn main() {
    let size = Size::of_arguments();
    let reads = size.pick(30_000_000, 200_000);
    let config = straw(&size);
    let (floor, ahead) = floor(&config, reads);
    say(&format!(
        "floor, 2 TiB, {0:>3} + {0:<3} reads ahead   {1:>7.1} M reads/s   1.00",
        ahead / 2,
        floor / 1e6
    ));
    let mut drive = prepared_for(config, false, |drive| {
        drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())))
    });
    let figure = untimed(&mut drive, reads, 16_384, 0);
    say(&format!(
        "untimed reads with the oracle on    {:>7.1} M reads/s   {:.2} of the floor (goal 0.2)",
        figure / 1e6,
        figure / floor
    ));
}
