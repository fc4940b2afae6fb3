//! Tables of results, and a report page that shows stored results.
//!
//! [`folder::Folder`] holds the files of a result folder. [`model::Model`] is made from these
//! files. [`page::page`] makes one HTML file from the model. This HTML file needs no other file and
//! no network.
//!
//! This crate only reads results. It runs no simulation and writes no file.

pub mod chart;
pub mod csv;
pub mod dose;
pub mod facts;
pub mod folder;
pub mod latency;
pub mod measure;
pub mod model;
pub mod numbers;
pub mod page;
mod parts;
pub mod scale;
pub mod section;
pub mod sentences;
pub mod svg;
pub mod table;
pub mod windows;

#[cfg(test)]
mod testing;
