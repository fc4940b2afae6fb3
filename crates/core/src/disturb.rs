//! Error models: how reads wear at data, one model a file.

pub mod table;
