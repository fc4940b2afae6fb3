//! Every seeded bug, with a sentence. Each file of `bugs/list` adds its own to those before it.

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

/// Hands the list to a macro.
macro_rules! list {
    ($to:ident) => {
        bugs_of_requests! { $to {} }
    };
}
