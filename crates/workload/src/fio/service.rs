//! `file_service_type` as a job file says it: the order of a clone's files, and how many requests
//! in a row go to one.

/// How a clone goes from file to file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    RoundRobin,
    Random,
    /// One file to its end, then the next.
    Sequential,
}

/// `file_service_type=roundrobin:3`: an order, and requests in a row to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) order: Order,
    pub(super) in_a_row: u32,
}
