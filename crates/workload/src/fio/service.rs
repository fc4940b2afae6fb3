//! Value of `file_service_type`: the order in which a clone takes its files, and the number of
//! consecutive requests to a file.

/// Order in which a clone of a fio job takes its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    RoundRobin,
    Random,
    /// The clone uses each file up to its end, then takes the next file.
    Sequential,
}

/// Value of `file_service_type` such as `roundrobin:3`: an order, and the number of consecutive
/// requests to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) order: Order,
    pub(super) in_a_row: u32,
}
