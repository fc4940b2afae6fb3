//! The books: how often each operation happened and why, counted apart from the drive and compared
//! with what it reports.

use vpass_core::base::units::Cause;

/// What the drive reports about itself, since the measured phase began; per-cause arrays in the
/// order of `Cause::ALL`.
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
    /// Pages that the host read, wherever they were found.
    pub host_read_pages: u64,
    /// Pages that the host wrote, whole or in part.
    pub host_write_pages: u64,
    /// Pages that hold host data now, on flash or in the write buffer; lost pages hold none.
    pub mapped_pages: u64,
}

/// Every line of the books, with its name.
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

/// The differences between the drive's books and what was seen, one sentence a line.
pub(crate) fn differences(drive: &DriveBooks, seen: &DriveBooks) -> Vec<String> {
    lines(drive)
        .zip(lines(seen))
        .filter(|((_, claimed), (_, counted))| claimed != counted)
        .map(|((what, claimed), (_, counted))| {
            format!("the drive reports {claimed} {what}; {counted} were seen")
        })
        .collect()
}
