//! Result folder in memory: its files, and the folders inside it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;
use vpass_lab::as_json::SCHEMA;
use vpass_lab::failure::Failure;
use vpass_lab::phrase;
use vpass_lab::phrase::Opt;

/// Largest depth to which folders inside a result folder are read.
const DEEPEST: u32 = 2;
/// Names of result files. Every result folder has at least one file with one of these names.
const RESULTS: [&str; 4] = ["summary.json", "compare.json", "life.json", "sweep.json"];
/// Endings of the files that are read from a result folder. Other files are ignored.
const READ: [&str; 3] = ["json", "csv", "hlog"];

/// CSV files of which a page needs every row. vpass ends the last line of each of them.
const WHOLE: [&str; 6] =
    ["series.csv", "latency.csv", "blocks.csv", "dose.csv", "dose_map.csv", "dose_blocks.csv"];

/// Result folder, in the form in which `--out` writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Name of the folder in error messages: its path on disk, or the part of the path that the
    /// user gave.
    pub name: String,
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeMap<String, Folder>,
}

impl Folder {
    /// Makes a folder in memory from files. Each file is a pair of its name and its content.
    pub fn of_files(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Self {
        Self { name: name.into(), files: files.into_iter().collect(), folders: BTreeMap::new() }
    }

    /// Adds a folder inside this folder.
    pub fn put(&mut self, name: impl Into<String>, folder: Self) {
        self.folders.insert(name.into(), folder);
    }

    /// Reads a folder and the folders inside it from disk. Hidden entries and files with other
    /// endings are left out. If the folder has no results, no file is read.
    ///
    /// # Errors
    /// Returns an error if the path is not a readable folder.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |e: &io::Error| {
            Failure::usage(format!("{} is not a readable folder: {e}", path.display()))
                .with_remedy(phrase!["a folder that ", Opt::Out, " made is expected"])
        };
        fs::read_dir(path).map_err(|e| failed(&e))?;
        if !RESULTS.iter().any(|name| path.join(name).exists()) {
            return Ok(Self { name: path.display().to_string(), ..Self::default() });
        }
        read(path, DEEPEST).map_err(|e| failed(&e))
    }

    /// Returns the content of the file with this name; `None` if the file is absent.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// Returns the names of all files, in alphabetical order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the folder with this name inside this folder; `None` if the folder is absent.
    pub fn folder(&self, name: &str) -> Option<&Self> {
        self.folders.get(name)
    }

    /// Returns all folders inside this folder with their names, in alphabetical order.
    pub fn folders(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.folders.iter().map(|(name, folder)| (name.as_str(), folder))
    }

    /// Returns the content of the JSON file with this name; `None` if the file is absent.
    ///
    /// # Errors
    /// Returns an error for a file that is not JSON, or whose schema has another version.
    pub fn json(&self, name: &str) -> Result<Option<Value>, Failure> {
        let Some(bytes) = self.file(name) else { return Ok(None) };
        let json: Value =
            serde_json::from_slice(bytes).map_err(|e| self.wrong(name, &e.to_string()))?;
        match json.get("schema") {
            Some(schema) if *schema != SCHEMA => {
                Err(self.wrong(name, &format!("`schema` is {schema}; this version reads {SCHEMA}")))
            }
            _ => Ok(Some(json)),
        }
    }

    /// Returns the rows of the CSV file with this name; `None` if the file is absent. Columns are
    /// found by their names, and lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Returns an error for a file that lacks a needed column, or that has an impossible value.
    pub fn rows<T: DeserializeOwned>(&self, name: &str) -> Result<Option<Vec<T>>, Failure> {
        let Some(bytes) = self.file(name) else { return Ok(None) };
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(bytes);
        let rows = reader.deserialize().collect::<Result<_, csv::Error>>();
        rows.map(Some).map_err(|e| self.wrong(name, &e.to_string()))
    }

    /// Returns the results in the JSON file with this name; `None` if the file is absent.
    ///
    /// # Errors
    /// Returns an error for a file of another schema, or without the expected results.
    pub fn read_as<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Failure> {
        let read = |json| serde_json::from_value(json);
        self.json(name)?.map(read).transpose().map_err(|e| self.wrong(name, &e.to_string()))
    }

    /// Checks that the CSV files of a page are complete, also in the folders inside this folder.
    ///
    /// # Errors
    /// Returns an error for a file whose last line has no end, because a part of the file is
    /// missing.
    pub fn require_whole(&self) -> Result<(), Failure> {
        let is_cut = |name: &str| self.file(name).is_some_and(|bytes| !bytes.ends_with(b"\n"));
        if let Some(name) = WHOLE.into_iter().find(|name| is_cut(name)) {
            return Err(self.wrong(name, "the file is incomplete: its last line has no end"));
        }
        self.folders.values().try_for_each(Self::require_whole)
    }

    /// Returns whether both folders have the same files with the same content. The names of the
    /// two folders do not matter.
    pub fn has_content_of(&self, other: &Self) -> bool {
        let mut both = self.folders.values().zip(other.folders.values());
        self.files == other.files
            && self.folders.keys().eq(other.folders.keys())
            && both.all(|(one, other)| one.has_content_of(other))
    }

    /// Makes an error for a file of this folder that cannot be used.
    pub fn wrong(&self, file: &str, why: &str) -> Failure {
        Failure::usage(why.to_owned()).at(format!("{}/{file}", self.name)).with_remedy(phrase![
            "a file written with ",
            Opt::Out,
            " of this version is expected",
        ])
    }
}

fn read(path: &Path, levels: u32) -> io::Result<Folder> {
    let mut folder = Folder { name: path.display().to_string(), ..Folder::default() };
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = fs::metadata(entry.path())?.is_dir();
        if name.starts_with('.') || (is_folder && levels == 0) {
            continue;
        }
        if is_folder {
            folder.folders.insert(name, read(&entry.path(), levels - 1)?);
        } else if entry.path().extension().is_some_and(|end| READ.iter().any(|read| end == *read)) {
            folder.files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_on_disk_is_the_same_as_one_in_memory() {
        let disk = tempfile::tempdir().unwrap();
        let path = disk.path().join("results");
        fs::create_dir_all(path.join("block")).unwrap();
        fs::write(path.join("compare.json"), "{\"seed\": 7}").unwrap();
        fs::write(path.join("block/blocks.csv"), "block,pec\n0,5\n").unwrap();
        fs::write(path.join(".hidden"), "x").unwrap();
        fs::write(path.join("large.bin"), "x").unwrap();
        let read = Folder::read(&path).unwrap();
        let name = path.display().to_string();
        let mut made =
            Folder::of_files(&name, [("compare.json".into(), b"{\"seed\": 7}".to_vec())]);
        let block = [("blocks.csv".to_owned(), b"block,pec\n0,5\n".to_vec())];
        made.put("block", Folder::of_files(path.join("block").display().to_string(), block));
        assert_eq!(read, made);
        assert_eq!(read.json("compare.json").unwrap().unwrap()["seed"], 7);
        assert_eq!(read.json("manifest.json").unwrap(), None);
        let rows = read.folder("block").unwrap().rows::<(u32, f64)>("blocks.csv").unwrap();
        assert_eq!(rows, Some(vec![(0, 5.0)]));
    }

    #[test]
    fn errors_name_the_file_and_what_is_expected() {
        let missing = Folder::read(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(missing.contains("/no/such/folder is not a readable folder"), "{missing}");
        let files = [
            ("summary.json".to_owned(), b"{".to_vec()),
            ("b.csv".to_owned(), b"a\n\xff\n".to_vec()),
        ];
        let folder = Folder::of_files("results", files);
        let json = folder.json("summary.json").unwrap_err().to_string();
        assert!(json.starts_with("results/summary.json: EOF"), "{json}");
        let newer = [("life.json".to_owned(), b"{\"schema\": 2}".to_vec())];
        let newer = Folder::of_files("results", newer).json("life.json").unwrap_err().to_string();
        assert!(
            newer.starts_with("results/life.json: `schema` is 2; this version reads 1"),
            "{newer}"
        );
        let disk = tempfile::tempdir().unwrap();
        fs::write(disk.path().join("other.json"), "{}").unwrap();
        assert_eq!(Folder::read(disk.path()).unwrap().files().count(), 0, "no results");
        let csv = folder.rows::<(String,)>("b.csv").unwrap_err().to_string();
        assert!(csv.starts_with("results/b.csv: CSV"), "{csv}");
    }

    #[test]
    fn folders_are_compared_by_their_files() {
        let of = |name: &str, inside: &str| {
            let file = |text: &str| [("summary.json".to_owned(), text.as_bytes().to_vec())];
            let mut folder = Folder::of_files(name, file("{}"));
            folder.put("block", Folder::of_files(format!("{name}/block"), file(inside)));
            folder
        };
        assert!(of("a", "1").has_content_of(&of("./a", "1")));
        assert!(!of("a", "1").has_content_of(&of("b", "2")));
    }
}
