//! Makes mutants: files with small random changes.

use std::path::Path;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Length of the longest mutant. It is long enough for several lines, and short enough for speed.
const MAX_BYTES: usize = 4096;
/// Bytes that have a special meaning for a reader.
const BYTES: &[u8] = b"0123456789 ,.\n\r\t-\0xRr\xff";

/// Returns the initial files, with their names.
pub(crate) fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

fn pick(random: &mut Xoshiro256PlusPlus, count: usize) -> usize {
    (random.next_u64() % count.max(1) as u64) as usize
}

/// Makes the next mutant in `bytes`: a file with one to eight changes. Some changes copy pieces of
/// `others`.
pub(crate) fn mutate(
    random: &mut Xoshiro256PlusPlus,
    from: &[u8],
    others: &[(String, Vec<u8>)],
    bytes: &mut Vec<u8>,
) {
    bytes.clear();
    bytes.extend_from_slice(from);
    // Most mutants have one or two changes. With more changes, few mutants pass the first line.
    for _ in 0..=random.next_u64().trailing_zeros().min(7) {
        let at = pick(random, bytes.len() + 1);
        match pick(random, 7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << pick(random, 8),
            1 if at < bytes.len() => bytes[at] = BYTES[pick(random, BYTES.len())],
            2 => bytes.truncate(at),
            3 => {
                let other = &others[pick(random, others.len())].1;
                let from = pick(random, other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
            4 => {
                let number = edge_number(random);
                let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                bytes.splice(at..at + digits, number.bytes());
            }
            5 => drop(bytes.drain(at..(at + pick(random, 16)).min(bytes.len()))),
            _ => {
                let piece: Vec<u8> = bytes[at..].iter().take(64).copied().collect();
                let to = pick(random, bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
        }
        bytes.truncate(MAX_BYTES);
    }
    if bytes.starts_with(b"\x89vpt") && !random.next_u64().is_multiple_of(4) {
        mend(bytes);
    }
}

/// Recalculates the checksums of a compact trace, so that damaged blocks pass this check.
fn mend(bytes: &mut [u8]) {
    if let Some((header, mut rest)) = bytes.split_first_chunk_mut::<16>() {
        let crc = crc32fast::hash(&header[..12]);
        header[12..].copy_from_slice(&crc.to_le_bytes());
        while let Some((head, blocks)) = rest.split_first_chunk_mut::<8>() {
            let length = u32::from_le_bytes(*head.first_chunk().unwrap()) as usize;
            let Some((records, after)) = blocks.split_at_mut_checked(length) else { return };
            head[4..].copy_from_slice(&crc32fast::hash(records).to_le_bytes());
            rest = after;
        }
    }
}

/// Returns a number at or near a limit of some type.
fn edge_number(random: &mut Xoshiro256PlusPlus) -> String {
    let bits = random.next_u64();
    match bits % 5 {
        0 => (bits >> 3).to_string(),
        1 => (1u128 << (bits >> 3 & 127)).to_string(),
        2 => ((1u128 << (bits >> 3 & 127)) - 1).to_string(),
        3 => "9".repeat((bits >> 3 & 31) as usize),
        _ => (bits >> 3 & 0xffff).to_string(),
    }
}
