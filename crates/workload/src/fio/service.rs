//! Value of `file_service_type`: the order of a clone's files, and the requests in a row to one
//! file.

/// Order in which a clone takes its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    RoundRobin,
    Random,
    /// One file to its end, then the next.
    Sequential,
}

/// Value such as `roundrobin:3`: the order, and the requests in a row to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) order: Order,
    pub(super) in_a_row: u32,
}
