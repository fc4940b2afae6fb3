//! Commit of a checkout, from the files of git alone.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of a checkout.
pub(crate) struct Git {
    /// Folder of this checkout, with its HEAD.
    own: PathBuf,
    /// Folder that all checkouts of the repository share, with branches.
    common: PathBuf,
}

/// Returns the folders for a `.git`, which is a folder, or a file that names one.
pub(crate) fn folder_of_git(git: &Path) -> Option<Git> {
    let own = if git.is_dir() {
        git.to_owned()
    } else {
        let text = fs::read_to_string(git).ok()?;
        git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    let common = fs::read_to_string(own.join("commondir"));
    let common = common.map_or_else(|_| own.clone(), |path| own.join(path.trim()));
    Some(Git { own, common })
}

impl Git {
    /// Returns the files that change with the commit. The log of HEAD changes with every move. A
    /// checkout without the log has the branches.
    pub(crate) fn moves(&self) -> Vec<PathBuf> {
        let log = self.own.join("logs/HEAD");
        let head = self.own.join("HEAD");
        if log.exists() {
            return vec![head, log];
        }
        vec![head, self.common.join("packed-refs"), self.common.join("refs/heads")]
    }

    /// Returns the commit of HEAD: itself, or that of its branch.
    pub(crate) fn commit(&self) -> Option<String> {
        let head = fs::read_to_string(self.own.join("HEAD")).ok()?;
        let Some(branch) = head.strip_prefix("ref:").map(str::trim) else { return hash(&head) };
        let loose = fs::read_to_string(self.common.join(branch)).ok().and_then(|text| hash(&text));
        loose.or_else(|| {
            let packed = fs::read_to_string(self.common.join("packed-refs")).ok()?;
            let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(branch))?;
            hash(line.split(' ').next()?)
        })
    }
}

/// Returns a text that is a hash: 40 or 64 hexadecimal digits.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}
