//! The oracle on hand-made events. Correct events are clean, and each kind of error is caught.

mod begun;
mod books;
mod common;
mod density;
mod doses;
mod doses_recorded;
mod gathered;
mod guards;
mod losses;
mod memory;
mod parts;
mod protocol;
mod requests;
mod script;
mod stamps;
mod toy;
