//! The memory budget on a drive of real size.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::DisturbConfig;
use vpass_oracle::{Level, Oracle};

use crate::common::config;

#[test]
fn a_tebibyte_of_tlc_fits_the_budget() {
    let mut c = config(8900, 2568, DisturbConfig::default());
    c.drive.capacity = Some(vpass_drive::base::units::Bytes(1 << 40));
    let geometry = Geometry::new(&c);
    assert_eq!(geometry.spare_blocks(), 189, "2 % of spare flash");
    let mib = Oracle::memory(&geometry, Level::On).0 >> 20;
    assert!(mib <= 1792, "{mib} MiB; 1.75 GiB are budgeted");
}
