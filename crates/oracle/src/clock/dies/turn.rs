//! Whose turn it is on a die where a piece of a job waits, or, while writers wait for room in the
//! buffer, any work: how many reads of the host go before it.

use vpass_core::base::units::Ns;

/// Reads of the host that may go before a piece of a job that waits: those that waited when the
/// die's last work ended, and none before a piece in the foreground, which begins next.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    reads: usize,
    /// A piece in the foreground waits.
    pub(super) foreground: bool,
    /// Planes begin together: the most that might have begun at this time.
    at: Ns,
    most: usize,
    /// Reads that must go before any work.
    least: usize,
    /// The work that the die began last was a piece: a waiting other work has its turn.
    pub(super) others: bool,
}

impl Turn {
    pub(super) fn grant(&mut self, waiting: usize, at: Ns) {
        self.reads = if self.foreground { 0 } else { waiting };
        self.least = self.reads;
        self.most = if self.at == at { self.most.max(self.reads) } else { self.reads };
        self.at = at;
    }

    /// A piece waits that is all that is left of its job.
    pub(super) fn take(&mut self) {
        (self.reads, self.most, self.least, self.foreground) = (0, 0, 0, true);
    }

    /// Reads that go before work, if so many wait.
    pub(super) fn owed(&self) -> usize {
        self.least
    }

    /// A read begins: whether it may, before a piece that waits.
    pub(super) fn read(&mut self, at: Ns) -> bool {
        if self.at != at {
            (self.at, self.most) = (at, self.reads);
        }
        self.reads = self.reads.saturating_sub(1);
        self.least = self.least.saturating_sub(1);
        self.most > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn before_a_piece_go_the_reads_that_waited_and_before_one_in_the_foreground_none() {
        let mut turn = Turn::default();
        assert!(!turn.read(5), "none waited");
        turn.grant(2, 10);
        assert!(turn.read(10) && turn.read(20) && !turn.read(30));
        turn.grant(1, 40);
        assert!(turn.read(50) && turn.read(50) && !turn.read(60), "two planes begin together");
        turn.grant(3, 70);
        turn.take();
        assert!(!turn.read(70));
        turn.grant(3, 80);
        assert!(!turn.read(80), "it waits still");
        turn.foreground = false;
        turn.grant(3, 90);
        assert!(turn.read(100));
    }
}
