//! # Stable greedy
//! Looks for blocks that have few valid pages and have not changed for long, and cleans the least
//! worn of them.
//!
//! - **Paper:** Chang, Liu and Lin, Stable greedy: adaptive garbage collection for durable
//!   page-mapping multichannel SSDs, ACM TECS 2016. ipr-2018 uses this GC (section IV).
//! - **Acts at:** each cleaning. Candidates have at most `gc.stable_slack` valid pages more than
//!   the emptiest block. For each number of valid pages, four blocks are candidates. A candidate is
//!   stable if it is unchanged for at least half as long as the longest unchanged one. GC cleans
//!   the stable candidate with the least effective wear. Reprogramming counts as wear.
//! - **Costs:** a list link and a time stamp per block. The number of candidates is bounded, so a
//!   choice takes constant time.
//! - **Departs from the paper:** the paper's score is not public, so all details are assumed. It is
//!   known to weigh utilisation and stability in constant time and to level wear. In vpass the
//!   drive, not GC, levels wear between channels.
//! - **Does not help:** uniform writes, for which greedy is optimal.
//!
//! ```text
//! of 20 pages, slack 2   A 5 valid, age 90   B 4 valid, age 10   C 5 valid, age 60   D 9 valid, age 99
//! candidates A B C; stable A C; C is less worn than A   ->   C
//! ```

use super::{Candidates, GcPolicy, GcTechnique};
use vpass_drive::api::card::{About, Card, Kind, New, Param};
use vpass_drive::base::units::BlockId;

/// Number of blocks that are candidates in each list.
const LOOK: usize = 4;

/// Largest difference between the number of valid pages of a victim and that of the emptiest block.
const SLACK: Param = Param {
    key: "slack",
    kind: Kind::Real,
    unit: "share",
    default: 0.05,
    range: (0.0, 1.0),
    draw: &[0.0, 0.05, 1.0],
    meaning: "Largest difference in valid pages between a victim and the emptiest block, as a \
        share of a block's pages",
    source: "Assumption: 10 of the 192 pages of a block in ipr-2018",
    alias: Some("stable_slack"),
};

pub(super) const CARD: GcTechnique = Card {
    about: About {
        name: "stable-greedy",
        summary: "cleans the least worn block; candidates have few valid pages and have not \
            changed for long (TECS 2016, as far as the paper is public)",
        paper: "Chang et al., TECS 2016",
        params: &[SLACK],
        ..About::PLAIN
    },
    new: New::Listed(|args, _, _| Box::new(StableGreedy { slack: args.real(&SLACK) })),
};

pub(super) struct StableGreedy {
    slack: f64,
}

impl GcPolicy for StableGreedy {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        let slack = (self.slack * f64::from(among.pages_per_block)) as u32;
        let in_list = |valid: u32| {
            among.index.in_bucket(valid).filter(|(block, _)| (among.allowed)(*block)).take(LOOK)
        };
        let lists = || among.lists();
        let emptiest = lists().find(|valid| in_list(*valid).next().is_some())?;
        let near = || {
            lists()
                .filter(|valid| *valid >= emptiest)
                .take_while(|valid| *valid <= emptiest + slack)
                .flat_map(in_list)
        };
        let age = |since: u32| among.clock.wrapping_sub(since);
        let longest = near().map(|(_, since)| age(since)).max()?;
        let stable = near().filter(|(_, since)| age(*since) >= longest / 2);
        let wear = |block| (among.wear)(block);
        stable
            .min_by_key(|(block, since)| (wear(*block), u32::MAX - age(*since)))
            .map(|(block, _)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::gc::victims::VictimIndex;

    fn pick(
        index: &VictimIndex,
        wear: [u64; 4],
        slack: f64,
        not: Option<BlockId>,
    ) -> Option<BlockId> {
        let (allowed, wear) = (|block| Some(block) != not, |block: BlockId| wear[block.index()]);
        let among = Candidates {
            index: index.of(0),
            pages_per_block: 20,
            full_ones: false,
            clock: 100,
            allowed: &allowed,
            wear: &wear,
        };
        StableGreedy { slack }.pick(&among)
    }

    #[test]
    fn worked_example() {
        let mut index = VictimIndex::new(4, 20, 1);
        for (block, valid, age) in [(0, 5, 90), (1, 4, 10), (2, 5, 60), (3, 9, 99)] {
            index.insert(BlockId::new(block), valid, 100 - age);
        }
        assert_eq!(pick(&index, [7, 1, 6, 0], 0.1, None), Some(BlockId::new(2)));
        assert_eq!(
            pick(&index, [7, 1, 7, 0], 0.1, None),
            Some(BlockId::new(0)),
            "of equal wear the one left alone the longest"
        );
        assert_eq!(
            pick(&index, [7, 1, 6, 0], 0.0, None),
            Some(BlockId::new(1)),
            "without slack it is greedy"
        );
        assert_eq!(pick(&index, [7, 1, 6, 0], 0.1, Some(BlockId::new(2))), Some(BlockId::new(0)));
    }

    #[test]
    fn full_blocks_are_no_victims() {
        let mut index = VictimIndex::new(4, 20, 1);
        index.insert(BlockId::new(0), 20, 0);
        assert_eq!(pick(&index, [0; 4], 1.0, None), None);
    }
}
