//! Makes the requests of several streams at the same time. Each stream has its own range of
//! addresses, its own rate and its own sizes.
//!
//! ```toml
//! [workload]
//! requests = 1000000        # of all parts together, in a pass
//!
//! [[workload.part]]         # a database in the first quarter of the drive
//! end = "25%"
//! rate = 8000
//! read_share = 0.9
//! distribution = "zipf:0.9"
//!
//! [[workload.part]]         # and a log in the last tenth
//! begin = "90%"             # or a size, such as "900GiB"
//! rate = 200
//! read_share = 0
//! block_size = "64KiB"
//! distribution = "sequential"
//! ```

mod fluid_parts;
mod parts_config;
mod parts_source;
mod position;
mod side_by_side;

pub use parts_config::{PartConfig, PartsConfig, PartsFile};
pub use parts_source::PartsSource;
pub use position::Position;
pub use side_by_side::{Side, SideBySide};
