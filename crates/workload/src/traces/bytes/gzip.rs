//! Reads gzip data of one or several members. Like the program gzip, the reader ignores bytes after
//! the last member. Such bytes are reported, unless all are zeros, which tapes use as padding.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::bufread::GzDecoder;

/// First bytes of every gzip member.
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b];

/// Reader that reads the gzip members of a file one after the other.
pub(super) struct Members<R> {
    /// Current gzip member; `None` after the last member.
    member: Option<GzDecoder<Source<R>>>,
    /// Flag that is set if other bytes follow the last gzip member.
    garbage: Arc<AtomicBool>,
}

/// Stream of a file's bytes: first the bytes that were already read, then the rest of the file.
type Source<R> = Chain<Cursor<Vec<u8>>, BufReader<R>>;

impl<R: Read> Members<R> {
    /// Makes the reader of a file's gzip members. `begins` has the first bytes of the file, which
    /// were already read. `input` has the rest of the file. `garbage` is set if other bytes follow
    /// the members.
    pub(super) fn new(begins: Vec<u8>, input: R, garbage: Arc<AtomicBool>) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Self { member: Some(GzDecoder::new(Cursor::new(begins).chain(input))), garbage }
    }

    /// Returns the gzip member that follows `ended`, or `None` if there is none.
    fn behind(&self, ended: GzDecoder<Source<R>>) -> io::Result<Option<GzDecoder<Source<R>>>> {
        let mut rest = ended.into_inner();
        let mut begins = vec![];
        rest.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begins)?;
        let (read_ahead, input) = rest.into_inner();
        debug_assert!(
            read_ahead.position() >= read_ahead.get_ref().len() as u64,
            "a gzip member ends after the bytes that vpass has read ahead"
        );
        if begins == MAGIC {
            return Ok(Some(GzDecoder::new(Cursor::new(begins).chain(input))));
        }
        if !(begins.iter().all(|byte| *byte == 0) && only_zeros(input)?) {
            self.garbage.store(true, Ordering::Relaxed);
        }
        Ok(None)
    }
}

fn only_zeros(mut input: impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let count = bytes.len();
        if count == 0 || bytes.iter().any(|byte| *byte != 0) {
            return Ok(count == 0);
        }
        input.consume(count);
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.member = match self.member.take() {
                Some(ended) => self.behind(ended)?,
                None => None,
            };
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Decompresses a file. Returns its text, and whether other bytes follow the gzip data.
    fn read(file: &[u8]) -> io::Result<(String, bool)> {
        let garbage = Arc::default();
        let mut text = String::new();
        Members::new(file[..6].to_vec(), &file[6..], Arc::clone(&garbage))
            .read_to_string(&mut text)?;
        Ok((text, garbage.load(Ordering::Relaxed)))
    }

    #[test]
    fn members_follow_each_other_and_other_bytes_are_ignored() {
        let two = [member(b"one "), member(b""), member(b"two")].concat();
        let with = |behind: &[u8]| read(&[&two[..], behind].concat()).unwrap();
        assert_eq!(with(b""), ("one two".into(), false));
        assert_eq!(with(&vec![0; 100_000]), ("one two".into(), false), "zeros fill a tape");
        for garbage in
            [&b"x"[..], b"garbage", &[0x1f], &[0, 1], &[vec![0; 70_000].as_slice(), b"x"].concat()]
        {
            assert_eq!(with(garbage), ("one two".into(), true), "{} bytes", garbage.len());
        }
    }

    #[test]
    fn an_incomplete_member_is_an_error() {
        let one = member(b"a text of some length, so that it has an end to miss");
        assert!(read(&one[..one.len() - 5]).is_err());
        let mut other_sum = one.clone();
        let at = one.len() - 6;
        other_sum[at] ^= 1;
        assert!(read(&other_sum).is_err());
        assert!(
            read(&[&one[..], MAGIC, b"no header"].concat()).is_err(),
            "a second member without a valid header is corrupt"
        );
    }
}
