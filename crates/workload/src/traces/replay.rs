//! Replays a trace on a drive. First, the trace is surveyed once. Then its addresses are laid out
//! on the drive, and its rows become requests.

pub(in crate::traces) mod capacity_fit;
pub(in crate::traces) mod file_replay;
pub(in crate::traces) mod kept_pass;
pub(in crate::traces) mod layout;
pub(in crate::traces) mod packing;
pub(in crate::traces) mod scan;
pub(in crate::traces) mod survey;
pub(in crate::traces) mod trace_clock;
pub(in crate::traces) mod trace_options;
pub(in crate::traces) mod trace_source;
