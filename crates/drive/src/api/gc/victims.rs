//! Closed blocks, ordered for garbage collection. There is one list per number of valid pages. When
//! a page becomes invalid, its block moves to the end of another list. So the first block of a list
//! has been unchanged for the longest time.

use crate::base::mem::prefetch;
use crate::base::units::BlockId;

/// Marker for the end of a list, where no block follows.
const NIL: BlockId = BlockId::NONE;
/// List number of a block that is in no list.
const NO_LIST: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    next: BlockId,
    prev: BlockId,
    /// Number of the list that holds the block. The lists of one domain have consecutive numbers.
    bucket: u32,
    /// Number of page programs that the drive had done when the block entered its list.
    since: u32,
}

/// Index of closed blocks from which GC policies pick. If each page has a fixed die, every die has
/// its own lists. Otherwise, the whole drive shares its lists.
pub struct VictimIndex {
    links: Vec<Link>,
    heads: Vec<BlockId>,
    tails: Vec<BlockId>,
    nonempty: Vec<u64>,
    /// Number of lists per domain. It is a multiple of 64, so that one bit per list fills whole
    /// 64-bit words.
    lists: u32,
    blocks_per_domain: u32,
    counts: Vec<u32>,
}

/// Closed blocks of one domain.
#[derive(Clone, Copy)]
pub struct Victims<'a> {
    index: &'a VictimIndex,
    domain: usize,
}

impl VictimIndex {
    /// Creates an index without blocks, for a drive of this many blocks in equal domains.
    pub fn new(blocks: u32, pages_per_block: u32, domains: u32) -> Self {
        let lists = (pages_per_block + 1).next_multiple_of(64);
        let buckets = (lists * domains) as usize;
        Self {
            links: vec![Link { next: NIL, prev: NIL, bucket: NO_LIST, since: 0 }; blocks as usize],
            heads: vec![NIL; buckets],
            tails: vec![NIL; buckets],
            nonempty: vec![0; buckets / 64],
            lists,
            blocks_per_domain: blocks / domains,
            counts: vec![0; domains as usize],
        }
    }

    /// Returns the blocks of a domain.
    pub fn of(&self, domain: usize) -> Victims<'_> {
        Victims { index: self, domain }
    }

    #[inline]
    fn domain_of(&self, block: BlockId) -> u32 {
        if self.counts.len() == 1 { 0 } else { block.number() / self.blocks_per_domain }
    }

    /// Returns the size in memory of an index for this number of blocks, in bytes.
    pub(crate) fn bytes(blocks: u32) -> u64 {
        u64::from(blocks) * size_of::<Link>() as u64
    }

    /// Adds a block at the end of a list. `clock` is the number of page programs so far.
    pub fn insert(&mut self, block: BlockId, bucket: u32, clock: u32) {
        let domain = self.domain_of(block);
        self.link(block, domain * self.lists + bucket, clock);
        self.counts[domain as usize] += 1;
    }

    /// Removes a block from its list.
    pub(crate) fn remove(&mut self, block: BlockId) {
        self.unlink(block);
        self.links[block.index()].bucket = NO_LIST;
        let domain = self.domain_of(block);
        self.counts[domain as usize] -= 1;
    }

    /// Moves a block to the end of a list. The list may be the one that already holds the block.
    pub(crate) fn relist(&mut self, block: BlockId, bucket: u32, clock: u32) {
        self.unlink(block);
        self.link(block, self.domain_of(block) * self.lists + bucket, clock);
    }

    /// Adds a block at the end of a list. `bucket` numbers the lists of all domains consecutively.
    #[inline]
    fn link(&mut self, block: BlockId, bucket: u32, clock: u32) {
        let b = bucket as usize;
        let tail = self.tails[b];
        self.links[block.index()] = Link { next: NIL, prev: tail, bucket, since: clock };
        if tail == NIL {
            self.heads[b] = block;
            self.nonempty[b / 64] |= 1 << (b % 64);
        } else {
            self.links[tail.index()].next = block;
        }
        self.tails[b] = block;
    }

    #[inline]
    fn unlink(&mut self, block: BlockId) {
        let Link { next, prev, bucket, .. } = self.links[block.index()];
        assert!(bucket != NO_LIST, "block {block} is in no victim list");
        let b = bucket as usize;
        if prev == NIL {
            self.heads[b] = next;
        } else {
            self.links[prev.index()].next = next;
        }
        if next == NIL {
            self.tails[b] = prev;
        } else {
            self.links[next.index()].prev = prev;
        }
        if self.heads[b] == NIL {
            self.nonempty[b / 64] &= !(1 << (b % 64));
        }
    }

    /// Prefetches a block's list links into the CPU cache.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch(&self.links, block.index());
    }

    /// Prefetches the list links of the two blocks that are next to a block in its list.
    #[inline]
    pub(crate) fn prefetch_neighbours(&self, block: BlockId) {
        let Link { next, prev, .. } = self.links[block.index()];
        prefetch(&self.links, next.index());
        prefetch(&self.links, prev.index());
    }

    /// Returns whether the block is in a list.
    pub(crate) fn contains(&self, block: BlockId) -> bool {
        self.links[block.index()].bucket != NO_LIST
    }
}

impl<'a> Victims<'a> {
    /// Returns the lists that are not empty. The list with the fewest valid pages per block comes
    /// first.
    pub fn buckets(self) -> impl Iterator<Item = u32> + 'a {
        let words = (self.index.lists / 64) as usize;
        self.index.nonempty[self.domain * words..][..words].iter().enumerate().flat_map(
            |(i, word)| {
                let mut rest = *word;
                std::iter::from_fn(move || {
                    (rest != 0).then(|| {
                        let bit = rest.trailing_zeros();
                        rest &= rest - 1;
                        i as u32 * 64 + bit
                    })
                })
            },
        )
    }

    /// Returns the blocks of a list in the order in which they entered it. The number with each
    /// block is the drive's number of page programs when the block entered.
    pub fn in_bucket(self, bucket: u32) -> impl Iterator<Item = (BlockId, u32)> + 'a {
        let Self { index, domain } = self;
        let mut at = index.heads[domain * index.lists as usize + bucket as usize];
        std::iter::from_fn(move || {
            (at != NIL).then(|| {
                let link = index.links[at.index()];
                let item = (at, link.since);
                at = link.next;
                item
            })
        })
    }

    /// Returns the list that holds a block; `None` if no list of the domain does.
    pub(crate) fn bucket_of(self, block: BlockId) -> Option<u32> {
        let first = self.domain as u32 * self.index.lists;
        let bucket = self.index.links.get(block.index())?.bucket;
        bucket.checked_sub(first).filter(|bucket| *bucket < self.index.lists)
    }

    /// Returns the number of blocks in all lists.
    pub fn len(self) -> u32 {
        self.index.counts[self.domain]
    }

    /// Returns whether there is no candidate.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_leave_in_the_order_they_came() {
        let mut v = VictimIndex::new(8, 192, 1);
        for (block, bucket) in [(3, 100), (1, 100), (5, 2), (7, 192)] {
            v.insert(BlockId::new(block), bucket, block * 10);
        }
        assert_eq!(v.of(0).buckets().collect::<Vec<_>>(), [2, 100, 192]);
        assert_eq!(
            v.of(0)
                .in_bucket(100)
                .map(|(block, since)| (block.number(), since))
                .collect::<Vec<_>>(),
            [(3, 30), (1, 10)]
        );
        v.remove(BlockId::new(3));
        v.remove(BlockId::new(5));
        assert_eq!(v.of(0).buckets().collect::<Vec<_>>(), [100, 192]);
        assert!(v.contains(BlockId::new(1)) && !v.contains(BlockId::new(3)) && v.of(0).len() == 2);
    }

    #[test]
    fn each_domain_has_lists_of_its_own() {
        let mut v = VictimIndex::new(8, 24, 2);
        for (block, bucket) in [(3, 24), (1, 7), (5, 7), (4, 0)] {
            v.insert(BlockId::new(block), bucket, block * 10);
        }
        let lists = |v: &VictimIndex, domain| {
            v.of(domain)
                .buckets()
                .flat_map(|b| v.of(domain).in_bucket(b))
                .map(|(b, _)| b.number())
                .collect::<Vec<_>>()
        };
        assert_eq!((lists(&v, 0), lists(&v, 1)), (vec![1, 3], vec![4, 5]));
        v.remove(BlockId::new(5));
        assert_eq!((v.of(0).len(), v.of(1).len(), lists(&v, 1)), (2, 1, vec![4]));
    }
}
