//! Stripes that are being written. A request that waits for them is done when the last of their
//! programs, including parity, is done.

use std::collections::BTreeMap;

/// Running programs of a stripe.
#[derive(Clone, Copy)]
pub(super) struct Stripe {
    programs: u32,
    /// Number of host pages among the programs. These pages keep their slots in the write buffer
    /// until all is done.
    pub(super) pages: u32,
    /// Request that waits for the stripe.
    pub(super) request: u32,
}

/// Stripes that are being written, by serial number.
#[derive(Default)]
pub(super) struct StripesUnderWay {
    of: BTreeMap<u32, Stripe>,
}

impl StripesUnderWay {
    /// Notes that a page of a stripe will be programmed, perhaps for the host. All pages of a
    /// stripe are noted before the first program ends.
    pub(super) fn begins(&mut self, serial: u32, by_host: bool, request: u32) {
        let stripe = self.of.entry(serial).or_insert(Stripe { programs: 0, pages: 0, request });
        stripe.programs += 1;
        stripe.pages += u32::from(by_host);
    }

    /// Returns the number of stripes without a programmed host page: only parity or rebuilt pages
    /// are programmed.
    pub(super) fn of_nobody(&self) -> usize {
        self.of.values().filter(|stripe| stripe.pages == 0).count()
    }

    /// Notes the end of a program of a stripe. Returns the stripe if it was the last program.
    pub(super) fn ended(&mut self, serial: u32) -> Option<Stripe> {
        let stripe = self.of.get_mut(&serial).expect("the program was announced");
        stripe.programs -= 1;
        if stripe.programs > 0 { None } else { self.of.remove(&serial) }
    }
}
