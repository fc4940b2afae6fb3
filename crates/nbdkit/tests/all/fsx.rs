//! Many random operations of a client on a small part of a drive, compared with a plain array after
//! each read.

use vpass_drive::base::splitmix;

use crate::client::{Client, Command};
use crate::served::{PAGE, Room};

/// Number of operations.
const OPERATIONS: u64 = 100_000;
/// Sectors that the operations use. Most operations hit a few pages, so the same pages move often.
const SECTORS: u64 = 2048;
const SECTOR: u64 = 512;
/// Largest number of sectors of an operation.
const MOST: u64 = 96;

#[test]
fn a_hundred_thousand_operations_agree_with_a_plain_array() {
    let name = "a_hundred_thousand_operations_agree_with_a_plain_array";
    let Some(room) = Room::of(name, &["nbdkit"]) else { return };
    let server = room.begin(&["--fast-load", "1000"]);
    let mut client = Client::connect(&server.socket).expect("the server listens");
    let mut plain = vec![0; (SECTORS * SECTOR) as usize];
    for n in 0..OPERATIONS {
        let draw = |k: u64| splitmix::number(7, 4 * n + k);
        let width = [16, 256, SECTORS][(draw(0) % 3) as usize];
        let first = draw(1) % width;
        let count = (1 + draw(2) % MOST).min(SECTORS - first);
        operate(&mut client, &mut plain, (first * SECTOR, count * SECTOR), draw(3));
    }
    let all = client.read(0, (SECTORS * SECTOR) as u32).expect("readable data");
    assert!(all == plain, "the drive differs from the array at the end");
    drop(client);
    let summary = server.end().summary(0);
    let copies = summary["flash"]["programs"]["gc"].as_u64().unwrap();
    assert!(copies > 10 * SECTORS * SECTOR / PAGE, "{copies} copies by GC");
}

/// Does one random operation on the drive and on the array.
fn operate(client: &mut Client, plain: &mut [u8], (from, bytes): (u64, u64), draw: u64) {
    let range = from as usize..(from + bytes) as usize;
    match draw % 16 {
        0..8 => {
            let read = client.read(from, bytes as u32).expect("readable data");
            assert!(read == plain[range], "{bytes} bytes at {from} differ");
        }
        8..14 => {
            let words = (0..bytes / 8).map(|n| splitmix::number(draw, n));
            let data: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            client.write(from, &data).expect("space");
            plain[range].copy_from_slice(&data);
        }
        14 => {
            client.other(Command::Trim, from, bytes as u32).expect("a valid trim");
            // A drive trims only whole pages.
            let first = from.next_multiple_of(PAGE);
            let end = ((from + bytes) / PAGE * PAGE).max(first);
            plain[first as usize..end as usize].fill(0);
        }
        _ => client.other(Command::Flush, 0, 0).expect("a flush"),
    }
}
