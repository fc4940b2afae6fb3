//! Number of host reads that go before waiting work on a die. It applies when a piece of a job
//! waits, or when writers wait for a free page in the buffer.

use vpass_drive::base::units::Ns;

/// Number of host reads that may go before a waiting piece of a job. These reads waited when the
/// die's last work ended. A piece in the foreground begins next, before all reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    reads: usize,
    /// Whether a piece in the foreground waits.
    pub(super) foreground: bool,
    /// Time of the last start, and the largest number of reads that may begin at this time. Several
    /// planes may begin together.
    at: Ns,
    most: usize,
    /// Number of reads that must go before any work.
    least: usize,
    /// Whether the die began a piece last, so other waiting work is next.
    pub(super) others: bool,
}

impl Turn {
    pub(super) fn grant(&mut self, waiting: usize, at: Ns) {
        self.reads = if self.foreground { 0 } else { waiting };
        self.least = self.reads;
        self.most = if self.at == at { self.most.max(self.reads) } else { self.reads };
        self.at = at;
    }

    /// Lets a piece in the foreground begin next. Such a piece contains the rest of its job.
    pub(super) fn take(&mut self) {
        (self.reads, self.most, self.least, self.foreground) = (0, 0, 0, true);
    }

    /// Returns the number of reads that must go before work.
    pub(super) fn owed(&self) -> usize {
        self.least
    }

    /// Notes that a read begins. Returns whether it may begin before a waiting piece.
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
