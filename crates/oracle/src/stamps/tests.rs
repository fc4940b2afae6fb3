//! Tests of stamps: versions survive trims and losses, and nothing on flash matches lost data.

use super::*;

#[test]
fn versions_survive_trims_and_losses() {
    let mut t = Tag(0).next();
    assert_eq!((t.version(), t.is_present(), t.is_reported()), (1, true, false));
    t = t.with(Tag::ABSENT).next();
    assert_eq!(t.version(), 2);
    t = t.with(Tag::REPORTED);
    assert!(
        t.is_present() && t.on_flash() == t.with(Tag::PRESENT),
        "a reported version is still the newest"
    );
    t = t.with(Tag::LOST);
    assert!(t.is_lost() && !t.is_present());
    assert_eq!(t.next().version(), 3);
}

#[test]
fn nothing_on_flash_matches_absent_or_lost_data() {
    for version in 0..3 {
        for gone in [
            Tag(version << 3),
            Tag(version << 3 | Tag::LOST),
            Tag(version << 3 | Tag::LOST | Tag::PARTIAL),
        ] {
            for other in 0..3 {
                assert_ne!(gone.on_flash(), Tag(other << 3 | Tag::PRESENT));
            }
        }
    }
    for stamp in [Stamp::ERASED, Stamp::DEAD, Stamp { lpn: Lpn::new(7), tag: Tag(9) }] {
        assert_eq!(Stamp::unpack(stamp.pack()), stamp);
    }
    assert_eq!(Stamp::ERASED.pack(), 0);
    assert_eq!(Tag(Tag::ABSENT).next(), Tag::FIRST);
}
