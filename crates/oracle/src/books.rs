//! Counts of operations by cause. The oracle counts them itself and compares them with the drive's
//! report.

use vpass_drive::base::units::Cause;

/// Counts that the drive reports since the measured phase began. Arrays by cause have the order of
/// `Cause::ALL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveBooks {
    /// Flash page reads by cause, whatever their result.
    pub reads: [u64; Cause::COUNT],
    /// Page programs by cause.
    pub programs: [u64; Cause::COUNT],
    /// Block erases by cause.
    pub erases: [u64; Cause::COUNT],
    /// Wordlines programmed over themselves, by cause.
    pub reprograms: [u64; Cause::COUNT],
    /// Flash page reads whose first decode failed.
    pub soft_errors: u64,
    /// Host pages read, from flash or from the write buffer.
    pub host_read_pages: u64,
    /// Host pages written, as a whole or in part.
    pub host_write_pages: u64,
    /// Pages that hold host data at present, on flash or in the write buffer. Lost pages do not
    /// count.
    pub mapped_pages: u64,
}

/// Returns every count with its name.
fn lines(books: &DriveBooks) -> impl Iterator<Item = (String, u64)> {
    let per_cause = [
        ("reads", books.reads),
        ("programs", books.programs),
        ("erases", books.erases),
        ("reprograms", books.reprograms),
    ];
    let by_cause = per_cause.into_iter().flat_map(|(what, counts)| {
        Cause::ALL
            .into_iter()
            .zip(counts)
            .map(move |(cause, n)| (format!("{what} by {}", cause.name()), n))
    });
    let single = [
        ("page reads whose first decode failed", books.soft_errors),
        ("host page reads", books.host_read_pages),
        ("host page writes", books.host_write_pages),
        ("mapped pages", books.mapped_pages),
    ];
    by_cause.chain(single.map(|(what, n)| (what.to_owned(), n)))
}

/// Returns the differences between the drive's counts and the oracle's, each as a sentence.
pub(crate) fn differences(drive: &DriveBooks, seen: &DriveBooks) -> Vec<String> {
    lines(drive)
        .zip(lines(seen))
        .filter(|((_, claimed), (_, counted))| claimed != counted)
        .map(|((what, claimed), (_, counted))| {
            format!("the drive reports {claimed} {what}; {counted} were seen")
        })
        .collect()
}
