//! Parses the header of an `srt` trace. The header is text such as `disks = { 0 -> { sectorsize =
//! 256, sections = { 8 -> { .. } } }, 1 -> { .. } };`. Only the sector size of each disk is used.

/// Sector size of each disk in bytes, or `None` for a disk that the header does not describe.
pub(in crate::traces) type Disks = [Option<u32>; 256];

/// Parses a header. If the header gives no sector size for a disk, the disk has no sector size in
/// the result.
pub(in crate::traces) fn disks(header: &[u8]) -> Disks {
    let mut disks = [None; 256];
    let mut depth = 0;
    let mut in_disks = false;
    let mut disk = None;
    let mut before: [&[u8]; 2] = [b"", b""];
    for word in words(header) {
        match (word, before) {
            (b"{", [name, b"="]) if depth == 0 => in_disks = name == b"disks",
            (b"{", [number, b"->"]) if depth == 1 && in_disks => {
                disk = parse::<usize>(number).filter(|n| *n < disks.len());
            }
            (size, [b"sectorsize", b"="]) if depth == 2 && in_disks => {
                if let Some(disk) = disk {
                    disks[disk] = parse::<u32>(size).filter(|bytes| (1..=1 << 16).contains(bytes));
                }
            }
            _ => {}
        }
        match word {
            b"{" => depth += 1,
            b"}" => depth -= 1,
            _ => {}
        }
        before = [before[1], word];
    }
    disks
}

/// Splits a header into names, numbers, quoted texts, `->`, and single signs. Commas and blanks
/// separate these parts.
fn words(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let parts = |b: &u8| b.is_ascii_whitespace() || *b == b',' || *b == 0;
        rest = &rest[rest.iter().position(|b| !parts(b))?..];
        let length = match rest {
            [b'"', text @ ..] => {
                text.iter().position(|b| *b == b'"').map_or(rest.len(), |end| end + 2)
            }
            [b'-', b'>', ..] => 2,
            [b'{' | b'}' | b'(' | b')' | b'=' | b';', ..] => 1,
            _ => {
                rest.iter().position(|b| parts(b) || b"{}()=;\"".contains(b)).unwrap_or(rest.len())
            }
        };
        let (word, left) = rest.split_at(length);
        rest = left;
        Some(word)
    })
}

fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disk_has_its_own_sector_size() {
        let header = br#"$$TR_IOREC-1.3 (x)
            sectorsize = 1; disks = {
                0 -> { disktype = a, adaptor = 1 -> { b, sectorsize = 2 }, sectorsize  = 256,
                       sections = { 8 -> { "}", size = (1 2) } } },
                7 -> {sectorsize=512},
                9 -> { ncyl = 3 } };
            others = { 3 -> { sectorsize = 64 } };"#;
        let known: Vec<_> = disks(header)
            .into_iter()
            .enumerate()
            .filter_map(|(i, bytes)| Some((i, bytes?)))
            .collect();
        assert_eq!(known, [(0, 256), (7, 512)]);
    }

    #[test]
    fn nonsense_describes_nothing() {
        for header in [
            &b""[..],
            b"\"",
            b"}}}{",
            b"disks = { 999 -> { sectorsize = 512 } 0 -> { sectorsize = x } }",
        ] {
            assert!(disks(header).iter().all(Option::is_none));
        }
    }
}
