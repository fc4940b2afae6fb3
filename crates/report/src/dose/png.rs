//! Pictures as PNG files. Each pixel is one byte, which is an index into a palette.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Colour as three bytes: red, green and blue.
pub(super) type Colour = [u8; 3];

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Compresses bytes into the zlib format.
pub(super) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![], Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all bytes")
}

/// Returns rows of pixels in the compressed form that a PNG file needs. Each row begins with a zero
/// byte, which marks it as unfiltered. Filters do not help, because the indices of neighbouring
/// pixels differ.
///
/// # Panics
/// Panics if the last row of pixels is not full.
pub(super) fn rows(width: usize, pixels: &[u8]) -> Vec<u8> {
    assert!(width > 0 && pixels.len().is_multiple_of(width), "rows of {width} pixels are expected");
    let unfiltered = |row: &[u8]| [&[0], row].concat();
    deflated(&pixels.chunks(width).flat_map(unfiltered).collect::<Vec<u8>>())
}

/// Returns a PNG file with one data chunk. `rows` is a result of the function [`rows`]. `size` is
/// the width and the height in pixels.
pub(super) fn file(size: (u32, u32), palette: &[Colour], rows: &[u8]) -> Vec<u8> {
    let mut head = vec![];
    head.extend(size.0.to_be_bytes());
    head.extend(size.1.to_be_bytes());
    // The next bytes stand for bit depth 8, colours from a palette, compression by deflate, no
    // filter and no interlacing.
    head.extend([8, 3, 0, 0, 0]);
    let mut file = SIGNATURE.to_vec();
    for (name, content) in [
        (b"IHDR", head.as_slice()),
        (b"PLTE", palette.as_flattened()),
        (b"IDAT", rows),
        (b"IEND", &[]),
    ] {
        let mut sum = crc32fast::Hasher::new();
        sum.update(name);
        sum.update(content);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(name);
        file.extend(content);
        file.extend(sum.finalize().to_be_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// Computes the cyclic redundancy check (CRC) of the PNG specification (annex D), bit by bit.
    fn crc(bytes: &[u8]) -> u32 {
        let step = |c: u32| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
        !bytes.iter().fold(!0, |c, byte| (0..8).fold(c ^ u32::from(*byte), |c, _| step(c)))
    }

    /// Returns the name and the content of each chunk in a PNG file. The length and the checksum of
    /// each chunk are checked.
    fn chunks(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let (signature, mut rest) = file.split_at(8);
        assert_eq!(signature, [137, 80, 78, 71, 13, 10, 26, 10]);
        let mut chunks = vec![];
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let (body, after) = rest[4..].split_at(4 + length);
            assert_eq!(after[..4], crc(body).to_be_bytes());
            chunks.push((String::from_utf8_lossy(&body[..4]).into_owned(), body[4..].to_vec()));
            rest = &after[4..];
        }
        chunks
    }

    #[test]
    fn a_file_has_its_pixels_and_colours() {
        let pixels = [0, 1, 2, 2, 1, 0];
        let palette = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        let file = file((3, 2), &palette, &rows(3, &pixels));
        let chunks = chunks(&file);
        let names: Vec<&str> = chunks.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["IHDR", "PLTE", "IDAT", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
        assert_eq!(chunks[1].1, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut lines = vec![];
        ZlibDecoder::new(&chunks[2].1[..]).read_to_end(&mut lines).unwrap();
        assert_eq!(lines, [0, 0, 1, 2, 0, 2, 1, 0]);
    }
}
