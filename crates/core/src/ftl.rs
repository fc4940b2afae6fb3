//! The controller: map, free blocks, streams, the one allocator, the one mover, garbage collection, the write buffer.

pub(crate) mod buffer;
pub(crate) mod collect;
pub(crate) mod free;
pub(crate) mod gather;
pub(crate) mod guard;
pub(crate) mod map;
pub(crate) mod mover;
pub(crate) mod place;
pub(crate) mod recycle;
pub(crate) mod reprogram;
pub(crate) mod victims;
pub(crate) mod write;
