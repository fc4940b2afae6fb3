//! Gzip data of one or several members, and what may stand behind it: zeros that fill a tape, or
//! bytes that are no gzip data. As gzip does, both are passed over, and the latter are told.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::bufread::GzDecoder;

/// What a member begins with.
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b];

/// The members of a file, one after the other.
pub(super) struct Members<R> {
    /// None behind the last.
    member: Option<GzDecoder<Source<R>>>,
    /// Whether other bytes stand behind the last.
    garbage: Arc<AtomicBool>,
}

/// Bytes that were looked at, and those behind them.
type Source<R> = Chain<Cursor<Vec<u8>>, BufReader<R>>;

impl<R: Read> Members<R> {
    /// The members of `input`, of which `begins` was read before. `garbage` is set where other
    /// bytes stand behind them.
    pub(super) fn new(begins: Vec<u8>, input: R, garbage: Arc<AtomicBool>) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Self { member: Some(GzDecoder::new(Cursor::new(begins).chain(input))), garbage }
    }

    /// The member behind one that has ended; none where there is none.
    fn behind(&self, ended: GzDecoder<Source<R>>) -> io::Result<Option<GzDecoder<Source<R>>>> {
        let mut rest = ended.into_inner();
        let mut begins = vec![];
        rest.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begins)?;
        let (looked_at, input) = rest.into_inner();
        debug_assert!(
            looked_at.position() >= looked_at.get_ref().len() as u64,
            "a member is longer than what was looked at"
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

    /// What is read, and whether other bytes stand behind it.
    fn read(file: &[u8]) -> io::Result<(String, bool)> {
        let garbage = Arc::default();
        let mut text = String::new();
        Members::new(file[..6].to_vec(), &file[6..], Arc::clone(&garbage))
            .read_to_string(&mut text)?;
        Ok((text, garbage.load(Ordering::Relaxed)))
    }

    #[test]
    fn members_follow_each_other_and_what_is_none_is_passed_over() {
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
    fn a_member_that_is_not_whole_is_no_garbage() {
        let one = member(b"a text of some length, so that it has an end to miss");
        assert!(read(&one[..one.len() - 5]).is_err());
        let mut other_sum = one.clone();
        let at = one.len() - 6;
        other_sum[at] ^= 1;
        assert!(read(&other_sum).is_err());
        assert!(
            read(&[&one[..], MAGIC, b"no header"].concat()).is_err(),
            "a second member that is none is corrupt"
        );
    }
}
