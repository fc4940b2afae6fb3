//! Commit of a checkout, read from the files of git without the git program.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of a checkout.
pub(crate) struct Git {
    /// Folder of this checkout, which holds its HEAD.
    own: PathBuf,
    /// Folder that all checkouts of the repository share, which holds the branches.
    common: PathBuf,
}

/// Returns the folders that belong to a `.git`. A `.git` is a folder, or a file that names a
/// folder.
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
    /// Returns the files that change when the commit changes. The log of HEAD changes at every
    /// commit. A checkout without this log has the files of its branches.
    pub(crate) fn moves(&self) -> Vec<PathBuf> {
        let log = self.own.join("logs/HEAD");
        let head = self.own.join("HEAD");
        if log.exists() {
            return vec![head, log];
        }
        vec![head, self.common.join("packed-refs"), self.common.join("refs/heads")]
    }

    /// Returns the commit of HEAD. If HEAD names a branch, returns the commit of the branch.
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

/// Returns a text if it is a hash of 40 or 64 hexadecimal digits.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}
