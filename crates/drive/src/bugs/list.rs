//! List of all seeded bugs, each with a sentence. Each file of `bugs/list` adds its bugs to the
//! bugs before.

#[macro_use]
mod nested;
#[macro_use]
mod parity;
#[macro_use]
mod bounds;
#[macro_use]
mod blocks;
#[macro_use]
mod told;
#[macro_use]
mod flash;
#[macro_use]
mod requests;

/// Passes the list to a macro.
macro_rules! list {
    ($to:ident) => {
        bugs_of_requests! { $to {} }
    };
}
