//! Stripes being written: what the host waits for is done when the last of their programs is, the
//! parity among them.

use std::collections::BTreeMap;

/// Programs of a stripe under way.
#[derive(Clone, Copy)]
pub(super) struct Stripe {
    programs: u32,
    /// Pages of the host among them, which keep their slots in the write buffer until all is done.
    pub(super) pages: u32,
    /// The request that waits for it.
    pub(super) request: u32,
}

/// Those under way, by serial number.
#[derive(Default)]
pub(super) struct StripesUnderWay {
    of: BTreeMap<u32, Stripe>,
}

impl StripesUnderWay {
    /// A page of a stripe is going to be programmed, perhaps for the host. All of a stripe are told
    /// before the first is done.
    pub(super) fn begins(&mut self, serial: u32, by_host: bool, request: u32) {
        let stripe = self.of.entry(serial).or_insert(Stripe { programs: 0, pages: 0, request });
        stripe.programs += 1;
        stripe.pages += u32::from(by_host);
    }

    /// Stripes of which no page of the host is programmed: it is parity, or what was rebuilt.
    pub(super) fn of_nobody(&self) -> usize {
        self.of.values().filter(|stripe| stripe.pages == 0).count()
    }

    /// A page of a stripe is programmed; gives the stripe if that was the last.
    pub(super) fn ended(&mut self, serial: u32) -> Option<Stripe> {
        let stripe = self.of.get_mut(&serial).expect("the program was announced");
        stripe.programs -= 1;
        if stripe.programs > 0 { None } else { self.of.remove(&serial) }
    }
}
