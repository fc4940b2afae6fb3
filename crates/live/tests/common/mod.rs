//! Random live drives, random hosts, and the plain array with which reads are compared.

pub(crate) mod cases;
pub(crate) mod host;
pub(crate) mod plain;
