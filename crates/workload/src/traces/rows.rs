//! Code that all trace formats share: columns, units, names, readers, and the definition of a
//! format.

pub(in crate::traces) mod blk;
pub(in crate::traces) mod by_device;
pub(in crate::traces) mod column_reader;
pub(in crate::traces) mod columns;
pub(in crate::traces) mod fields;
pub(in crate::traces) mod format;
pub(in crate::traces) mod head;
pub(in crate::traces) mod missing_times;
pub(in crate::traces) mod names;
pub(in crate::traces) mod oddities;
pub(in crate::traces) mod quote;
pub(in crate::traces) mod rate;
pub(in crate::traces) mod reader;
pub(in crate::traces) mod records;
pub(in crate::traces) mod unit;
