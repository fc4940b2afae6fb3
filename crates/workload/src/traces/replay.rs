//! Replays a trace on a drive. First, the whole trace is read once (survey). Then the addresses of
//! the trace are mapped to the drive, and the rows of the trace become requests.

pub(in crate::traces) mod capacity_fit;
pub(in crate::traces) mod file_replay;
pub(in crate::traces) mod layout;
pub(in crate::traces) mod packing;
pub(in crate::traces) mod survey;
pub(in crate::traces) mod trace_clock;
pub(in crate::traces) mod trace_source;
