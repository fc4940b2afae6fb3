//! Splits the text of a fio job file into sections and options (fio(1) 3.33, "Job file format").
//!
//! A job file consists of sections such as `[job1]`, options such as `size=1g`, comments that begin
//! with `;` or `#`, includes such as `include FILE`, and variables such as `${NAME}`. As in fio,
//! the options of a section follow the line with the section's name. An included file contains only
//! options.

use std::env;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::SourceError;
use vpass_drive::phrase;

use crate::traces::quote;

/// Size of the largest job file that vpass reads, in bytes. The example files of fio are smaller
/// than 4 KiB.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Length of the longest line, in bytes. The manual page fio(1) says: "the maximum length of a line
/// in the job file is 8192 bytes".
const MAX_LINE_BYTES: usize = 8192;
/// Largest depth of nested includes. Without this limit, vpass would read two files that include
/// each other forever.
const MAX_INCLUDES: usize = 8;

/// Line of a job file, kept so that error messages can quote the line.
#[derive(Clone, Debug)]
pub(super) struct SourceLine {
    file: Arc<str>,
    line: usize,
    text: Arc<str>,
}

impl SourceLine {
    /// Makes an error that quotes the line.
    pub(super) fn complain(&self, what: impl Into<Phrase>) -> SourceError {
        let Self { file, line, text } = self;
        let quoted = quote(text.as_bytes());
        SourceError::new(phrase!["{file}, line {line}: ", what, "; the line is {quoted}"])
    }

    /// Returns the number of the line. The first line of a file has number 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }
}

/// Option of a job file: a line `name=value`, or a line that contains only a name.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) place: SourceLine,
}

/// Section of a job file with its lines.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) place: SourceLine,
    pub(super) lines: Vec<Assignment>,
}

/// Reads the sections of a job file.
///
/// # Errors
/// Returns an error if the file cannot be read or is not text. Also returns an error if a line is
/// neither a section nor an option.
pub(super) fn read(path: &Path) -> Result<Vec<Section>, SourceError> {
    sections(path, &text_of(path)?)
}

/// Parses the sections of a job file's text. Error messages use `path` as the name of the job file.
/// Included files are searched for in the folder of `path`.
pub(super) fn sections(path: &Path, text: &str) -> Result<Vec<Section>, SourceError> {
    let mut sections = Vec::new();
    gather(path, text, 0, &mut sections)?;
    Ok(sections)
}

fn text_of(path: &Path) -> Result<String, SourceError> {
    let sentence = |what: String| SourceError::new(format!("{}: {what}", path.display()));
    let about = fs::metadata(path).map_err(|e| sentence(format!("cannot be opened: {e}")))?;
    if !about.is_file() {
        return Err(sentence("is not a regular file; a fio job file is expected".into()));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|e| sentence(format!("cannot be opened: {e}")))?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| sentence(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(sentence(
            "is larger than 1 MiB; a fio job file, a few kilobytes of text, is expected".into(),
        ));
    }
    String::from_utf8(bytes).map_err(|e| {
        let upto = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let start = upto.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let number = upto.split(|b| *b == b'\n').count();
        let line = e.as_bytes()[start..].split(|b| *b == b'\n').next().unwrap_or_default();
        sentence(format!(
            "is not text (line {number}); a fio job file is expected; the line is {}",
            quote(line)
        ))
    })
}

/// Adds the sections of a text to `sections`. A `depth` above 0 means that the text is an included
/// file. The options of an included file are added to the last section.
fn gather(
    path: &Path,
    text: &str,
    depth: usize,
    sections: &mut Vec<Section>,
) -> Result<(), SourceError> {
    let file: Arc<str> = path.display().to_string().into();
    for (i, whole) in text.lines().enumerate() {
        let place = SourceLine { file: file.clone(), line: i + 1, text: whole.trim_end().into() };
        if whole.len() > MAX_LINE_BYTES {
            return Err(
                place.complain("the line is longer than 8192 bytes, which fio does not read")
            );
        }
        let line = without_comment(whole).trim();
        if line.is_empty() {
            continue;
        }
        if line.starts_with('[') {
            if depth > 0 {
                return Err(place.complain("an included file may hold options, but no sections"));
            }
            sections.push(Section { name: section_name(line, &place)?, place, lines: vec![] });
            continue;
        }
        let Some(section) = sections.last_mut() else {
            return Err(place.complain(
                "an option before the first section; a section such as [job] or [global] is \
                 expected",
            ));
        };
        if let Some(name) = included(line) {
            let inner = beside(path, name);
            if depth == MAX_INCLUDES {
                return Err(place
                    .complain(format_args!("more than {MAX_INCLUDES} files include each other")));
            }
            let text = text_of(&inner)
                .map_err(|e| place.complain(format_args!("the included file: {e}")))?;
            gather(&inner, &text, depth + 1, sections)?;
            continue;
        }
        section.lines.push(assignment(line, place)?);
    }
    Ok(())
}

/// Returns the part of a line before its first `;` or `#`, as fio does.
fn without_comment(line: &str) -> &str {
    line.find([';', '#']).map_or(line, |i| &line[..i])
}

fn section_name(line: &str, place: &SourceLine) -> Result<String, SourceError> {
    let name = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')).map(str::trim);
    match name {
        Some("") => {
            Err(place.complain("a section without a name; a section such as [job] is expected"))
        }
        Some(name) => Ok(name.into()),
        None => Err(place.complain(
            "the section has no closing bracket at the end; a section such as [job] is \
             expected",
        )),
    }
}

fn included(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("include")?;
    rest.starts_with([' ', '\t', '=']).then(|| rest[1..].trim())
}

/// Returns the path of an included file. If no file exists at this path, the file is expected in
/// the folder of the including file.
fn beside(path: &Path, name: &str) -> PathBuf {
    let as_named = PathBuf::from(name);
    if as_named.exists() { as_named } else { path.parent().unwrap_or(Path::new("")).join(name) }
}

fn assignment(line: &str, place: SourceLine) -> Result<Assignment, SourceError> {
    let line = with_variables(line, &place)?;
    let (name, value) = line
        .split_once('=')
        .map_or((line.as_str(), None), |(name, value)| (name, Some(value.trim().to_owned())));
    Ok(Assignment { name: name.trim().into(), value, place })
}

/// Replaces each `${NAME}` of a line by the environment variable NAME.
fn with_variables(line: &str, place: &SourceLine) -> Result<String, SourceError> {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let value = env::var(name).map_err(|_| {
            let what = format!(
                "there is no variable {} in the environment; set this variable, or write its value",
                quote(name.as_bytes())
            );
            place.complain(what)
        })?;
        text.push_str(before);
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists the sections and options of a text, one per line.
    fn flat(text: &str) -> Vec<String> {
        let sections = sections(Path::new("a.fio"), text).unwrap();
        let line = |a: &Assignment| {
            a.value.as_ref().map_or_else(|| a.name.clone(), |value| format!("{} = {value}", a.name))
        };
        sections
            .iter()
            .flat_map(|s| std::iter::once(format!("[{}]", s.name)).chain(s.lines.iter().map(line)))
            .collect()
    }

    #[test]
    fn sections_options_and_comments() {
        let text = "# whole\n; whole\n\n[global] ; odd\n  bs = 4k # odd\nthread\n[a job]\n\
                    rw=randread:8\n\texec=a=b\n";
        assert_eq!(
            flat(text),
            ["[global]", "bs = 4k", "thread", "[a job]", "rw = randread:8", "exec = a=b"]
        );
    }

    #[test]
    fn variables_come_from_the_environment() {
        // Cargo sets the variable `CARGO_PKG_NAME` for every test.
        let text = "[a]\ndirectory=${CARGO_PKG_NAME}/${CARGO_PKG_NAME}x$y${\n";
        assert_eq!(flat(text)[1], "directory = vpass-workload/vpass-workloadx$y${");
    }

    #[test]
    fn included_files_lie_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("b.fio"), "[j]\nsize=1m\ninclude common.inc\nrw=read\n").unwrap();
        fs::write(path("common.inc"), "bs=8k\n").unwrap();
        let section = &read(&path("b.fio")).unwrap()[0];
        assert_eq!(
            section.lines.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
            ["size", "bs", "rw"]
        );
        assert_eq!(section.lines[1].place.line(), 1);
        fs::write(path("common.inc"), "include common.inc\n").unwrap();
        assert!(
            read(&path("b.fio"))
                .unwrap_err()
                .to_string()
                .contains("more than 8 files include each other")
        );
        fs::write(path("common.inc"), "[k]\n").unwrap();
        assert!(
            read(&path("b.fio"))
                .unwrap_err()
                .to_string()
                .contains("common.inc, line 1: an included file may hold options, but no sections")
        );
    }
}
