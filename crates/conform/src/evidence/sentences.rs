//! Sentences that the oracle can print: the string literals of its sources.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::plant::read_sources;

/// Least number of characters of a sentence, without its placeholders.
const LEAST: usize = 10;

/// String literal of a source.
pub(super) struct Sentence {
    pub(super) file: String,
    pub(super) text: String,
    /// Pieces between the placeholders.
    pieces: Vec<String>,
}

impl Sentence {
    fn new(file: &Path, text: String) -> Self {
        let behind = |piece: &str| piece.split_once('}').map_or(piece, |(_, rest)| rest).to_owned();
        let pieces = text.split('{').map(behind).collect();
        Self { file: file.display().to_string(), text, pieces }
    }

    fn len(&self) -> usize {
        self.pieces.iter().map(String::len).sum()
    }

    /// Returns whether a text contains the pieces in order.
    fn is_in(&self, mut text: &str) -> bool {
        self.pieces.iter().all(|piece| {
            let rest = text.split_once(piece.as_str()).map(|(_, rest)| rest);
            text = rest.unwrap_or_default();
            rest.is_some()
        })
    }
}

/// Reads the sentences of the sources in a folder.
pub(super) fn read(folder: &Path) -> io::Result<Vec<Sentence>> {
    let mut files = BTreeMap::<PathBuf, Vec<u8>>::new();
    read_sources(folder, Path::new(""), &mut files)?;
    let in_file = |(file, text): (&PathBuf, &Vec<u8>)| {
        let all = literals(&String::from_utf8_lossy(text)).into_iter();
        all.map(|text| Sentence::new(file, text)).collect::<Vec<_>>()
    };
    // The words for a place are a part of many sentences.
    let is_sentence = |said: &Sentence| {
        said.text.contains(' ') && said.len() >= LEAST && !said.text.starts_with("ppn {ppn} (")
    };
    Ok(files.iter().flat_map(in_file).filter(is_sentence).collect())
}

/// Returns the number of the sentence that a finding comes from. If one sentence is part of
/// another, it is the longer one.
pub(super) fn find(all: &[Sentence], finding: &str) -> Option<usize> {
    let matching = all.iter().enumerate().filter(|(_, sentence)| sentence.is_in(finding));
    matching.max_by_key(|(_, sentence)| sentence.len()).map(|(n, _)| n)
}

/// Returns the string literals of a source, without those of its tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let (mut all, mut chars) = (vec![], source.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => _ = chars.find(|c| *c == '\n'),
            '\'' if chars.peek() == Some(&'"') => _ = chars.next(),
            '"' => {
                let mut text = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match (c, chars.peek()) {
                        ('\\', Some('\n')) => {
                            while chars.next_if(|c| c.is_whitespace()).is_some() {}
                        }
                        ('\\', _) => text.extend(chars.next()),
                        _ => text.push(c),
                    }
                }
                all.push(text);
            }
            _ => {}
        }
    }
    all
}

#[test]
fn a_finding_comes_from_the_longest_sentence_in_it() {
    let source = "// \"no\"\nlet c = '\"';\nf(\"{} at {at}: {what}\", \"the \\\"dose\\\" \\\n    of {n}\");\n\
                  #[cfg(test)]\nmod tests {\n\"no\"";
    let texts = literals(source);
    assert_eq!(texts, ["{} at {at}: {what}", "the \"dose\" of {n}"]);
    let all: Vec<_> = texts.into_iter().map(|text| Sentence::new("a.rs".as_ref(), text)).collect();
    let sentences = ["gc at 7: the \"dose\" of 5", "gc at 7: other", "other"];
    assert_eq!(sentences.map(|said| find(&all, said)), [Some(1), Some(0), None]);
}
