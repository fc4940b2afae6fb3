//! Every host read finds the newest version, whatever the drive has done in between.

use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::watch::observer::{Event, NO_LPN, NO_PPN, Observer};

use crate::common::Scene;
use crate::script::play;

#[test]
fn the_newest_version_is_known_wherever_it_is() {
    let mut s = Scene::tiny();
    s.read(5, NO_PPN);
    s.write(0, [5, 5, 6]);
    s.copy(1, 12, 5);
    s.copy(2, 13, 6);
    s.erase(0);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(6) });
    s.write(0, [6]);
    s.clean();
    assert_eq!([5, 6, 7].map(|lpn| s.oracle.newest(Lpn::new(lpn))), [Some(2), Some(2), None]);
    assert_eq!(
        [12, 0, 1].map(|ppn| s.oracle.content(Ppn::new(ppn))),
        [Some((Lpn::new(5), 2)), Some((Lpn::new(6), 2)), None]
    );
    let (mut s, block) = (Scene::tiny(), vpass_drive::base::units::BlockId::new(1));
    let newest = |s: &Scene| [3, 4, 7].map(|lpn| s.oracle.newest(Lpn::new(lpn)));
    s.oracle.take(Event::Preloaded { block, lpns: &[Lpn::new(7), NO_LPN, Lpn::new(3)] });
    assert_eq!(newest(&s), [Some(1), None, Some(1)]);
    s.wrote(3);
    assert_eq!(newest(&s), [Some(2), None, Some(1)]);
}

#[test]
fn reads_of_the_newest_version_are_clean_and_all_others_are_caught() {
    play(
        Scene::tiny,
        "
        // Writes, moves, trims and pages in the buffer.
        read 5 at nowhere; wrote 5; read 5 at buffer; program 5 at 0; read 5 at 0
        write 5 6 at 1; read 5 at 1; copy 5 from 1 to 12; copy 6 from 2 to 13; read 5 at 12
        erase 0; trim 6; read 6 at nowhere; write 6 at 0; read 6 at 0
        clean 7 reads

        // A mover may move, and a fill may read, what is newer in the buffer.
        write 5 at 0; wrote 5; copy 5 from 0 to 1; fill 5 at 1; read 5 at buffer
        program 5 at 2; read 5 at 2; fill 7 at nowhere
        clean 2 reads

        // A stale version.
        write 5 5 at 0; read 5 at 0
        stamp: host read of lpn 5
        | ppn 0 (block 0, wordline 0)
        | version 1 of lpn 5
        | it holds version 2

        // Flash, although newer data is in the buffer.
        write 5 at 0; wrote 5; read 5 at 0
        stamp: version 1 of lpn 5
        | it holds version 2

        // The mover takes a stale page for a valid one and maps its copy.
        write 5 5 at 0; copy 5 from 0 to 12; read 5 at 12
        stamp: version 1 of lpn 5
        | it holds version 2

        // Data from before a trim, which passes neither for nothing nor for newer data.
        write 5 at 0; trim 5; read 5 at 0
        stamp: it holds no data

        // Data from before a trim and a write.
        write 5 at 0; trim 5; write 5 at 1; read 5 at 0
        stamp: it holds version 2

        // A page that the mover dropped.
        write 5 6 at 0; copy 5 from 0 to 12; erase 0; read 6 at nowhere
        stamp: host read of lpn 6 was served as unmapped
        | it holds version 1

        // The neighbour's data.
        write 5 6 at 0; read 5 at 1
        stamp: host read of lpn 5
        | carries version 1 of lpn 6

        // A mover that reads another page.
        write 5 6 at 0; read 5 at 1 by reclaim
        stamp: reclaim read of lpn 5
        | version 1 of lpn 6

        // Erased and unprogrammed pages.
        write 5 at 0; erase 0; read 5 at 0 by gc
        stamp: gc read of lpn 5
        | nothing (erased)

        write 5 at 0; read 5 at 1 by gc
        stamp: gc read of lpn 5
        | nothing (erased)

        write 5 at 0; fail 5 at 1 by gc
        stamp: gc read of lpn 5
        | nothing (erased)

        // Zeros for written data, and a buffer hit for unwritten data.
        wrote 5; read 5 at nowhere
        stamp: served as unmapped
        | it holds version 1

        read 5 at buffer
        stamp: served from the write buffer
        | it holds no data

        // Addresses out of range.
        read 24 at 0
        stamp: lpn 24
        | beyond the host's capacity

        read 5 at 48
        stamp: ppn 48, which is beyond the flash

        wrote 24
        protocol: lpn 24 is beyond the host's 24 pages
        ",
    );
}

#[test]
fn programs_of_other_data_are_caught() {
    play(
        Scene::tiny,
        "
        // A copy of another page than the drive claims, and of an erased page.
        write 5 6 at 0; program 5 at 12 by gc from 1
        stamp: gc at ppn 12: copy for lpn 5 of a page that carries version 1 of lpn 6, ppn 1

        write 5 at 0; program 5 at 12 by gc from 1
        stamp: carries nothing (erased), ppn 1

        // Host data that there is not.
        write 5 at 0; trim 5; program 5 at 1
        stamp: host at ppn 1: program of host data of lpn 5, which holds no data
        ",
    );
    // A copy is what its source carries, not what the drive claims.
    let mut s = Scene::tiny();
    s.write(0, [5, 6]);
    s.program(
        12,
        5,
        vpass_drive::watch::observer::Origin::Copy(Ppn::new(1)),
        vpass_drive::base::units::Cause::Gc,
    );
    assert_eq!(s.oracle.content(Ppn::new(12)), Some((Lpn::new(6), 1)));
}

#[test]
fn preloaded_pages_read_as_written_once() {
    play(
        Scene::tiny,
        "
        preload 1 7 - 3; read 7 at 12; read 3 at 14; write 7 at 15; read 7 at 15
        clean 3 reads
        preload 2 3
        stamp: preload of lpn 3, which already holds version 1, at ppn 24

        // A page that nothing has touched since.
        preload 1 7 - 3
        clean
        preload 2 3
        stamp: preload of lpn 3, which already holds version 1, at ppn 24

        // A page that does not exist.
        preload 2 24
        stamp: lpn 24 is beyond the host's 24 pages, at ppn 24

        // A dead page belongs to nobody.
        preload 1 7 -; read 3 at 13 by gc
        stamp: data without an owner
        ",
    );
}
