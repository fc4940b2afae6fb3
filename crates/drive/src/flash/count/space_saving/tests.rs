//! Tests of Space-Saving counters.

use super::*;

fn entries(s: &SpaceSaving) -> Vec<(usize, u32, u32)> {
    s.of(BlockId::new(1)).entries().map(|(w, e)| (w, e.count.count(), e.error.count())).collect()
}

/// The block has three entries. The reads are of wordlines 5 5 0 23, then 7, then 5 9, each with
/// weight 1.
#[test]
fn a_wordline_without_an_entry_takes_the_lowest() {
    let mut s = SpaceSaving::new(3, 24, 3);
    let read = |s: &mut SpaceSaving, wordlines: &[u32]| {
        for wordline in wordlines {
            s.count(BlockId::new(1), WordlineInBlock::new(*wordline), Quarters::from_count(1));
        }
    };
    read(&mut s, &[5, 5, 0, 23]);
    assert_eq!(
        (entries(&s), s.of(BlockId::new(1)).min().count()),
        (vec![(5, 2, 0), (0, 1, 0), (23, 1, 0)], 1)
    );
    read(&mut s, &[7]);
    assert_eq!(
        entries(&s),
        [(5, 2, 0), (7, 2, 1), (23, 1, 0)],
        "0 had the lowest count and the lower place"
    );
    read(&mut s, &[5, 9]);
    assert_eq!(
        (entries(&s), s.of(BlockId::new(1)).min().count()),
        (vec![(5, 3, 0), (7, 2, 1), (9, 2, 1)], 2)
    );
    s.reset(BlockId::new(1));
    assert_eq!((entries(&s), s.of(BlockId::new(1)).min().count()), (vec![], 0));
}

#[test]
fn segments_remember_when_they_began() {
    let mut s = SpaceSaving::new(3, 17, 2);
    (0..17).for_each(|w| {
        s.begin_wordline(BlockId::new(1), WordlineInBlock::new(w), Quarters::from_count(100 + w))
    });
    // Seventeen wordlines are six segments of three. The last segment is shorter.
    assert_eq!(
        s.of(BlockId::new(1)).begun_at(),
        (&[100, 103, 106, 109, 112, 115, 0, 0].map(Quarters::from_count), 3)
    );
}

#[test]
fn counting_each_wordline_once_is_counting_them_one_by_one() {
    for k in [1, 2, 3, 31, 32, 33, 64, 256] {
        for (smaller, larger) in [(0, 4), (4, 8), (60, 64), (64, 64)] {
            let doses: Vec<Quarters> = (0..300u32)
                .map(|w| Quarters::from_count(if w * 37 % 100 < 40 { larger } else { smaller }))
                .collect();
            let (mut each, mut one_by_one) =
                (SpaceSaving::new(2, 300, k), SpaceSaving::new(2, 300, k));
            each.count_each(BlockId::new(1), &doses);
            WordlineInBlock::range(0..300)
                .filter(|w| doses[w.index()] > Quarters::ZERO)
                .for_each(|w| one_by_one.count(BlockId::new(1), w, doses[w.index()]));
            // Later reads also give the same order.
            (0..500).for_each(|n| {
                for s in [&mut each, &mut one_by_one] {
                    s.count(BlockId::new(1), WordlineInBlock::new(n * 7 % 300), Quarters::UNIT);
                }
            });
            assert_eq!(entries(&each), entries(&one_by_one), "{k} entries, {smaller} and {larger}");
        }
    }
}

/// The test counts batches of reads, some of frequently read wordlines, once in their order and
/// once after settling.
#[test]
fn what_is_settled_does_not_depend_on_the_order() {
    for (k, wordlines) in [(1, 300), (2, 300), (3, 5), (32, 30), (32, 300), (64, 300), (64, 66)] {
        let (mut in_order, mut settled) =
            (SpaceSaving::new(2, 300, k), SpaceSaving::new(2, 300, k));
        let (mut random, mut in_bulk, mut one_by_one) = (7u64, 0, 0);
        for _ in 0..200 {
            let mut doses = vec![Quarters::ZERO; 300];
            let mut reads = vec![];
            for _ in 0..97 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
                let (wordline, dose) = (
                    (unit.powi(5) * f64::from(wordlines)) as u32,
                    Quarters::from_count([2, 3, 7][(random >> 33) as usize % 3]),
                );
                reads.push((wordline, dose));
                doses[wordline as usize] += dose;
            }
            for (wordline, dose) in &reads {
                in_order.count(BlockId::new(1), WordlineInBlock::new(*wordline), *dose);
            }
            settled.settle(BlockId::new(1), &mut doses);
            for (wordline, dose) in reads {
                let is_left = doses[wordline as usize] > Quarters::ZERO;
                (one_by_one, in_bulk) =
                    (one_by_one + u32::from(is_left), in_bulk + u32::from(!is_left));
                if is_left {
                    settled.count(BlockId::new(1), WordlineInBlock::new(wordline), dose);
                }
            }
            assert_eq!(entries(&settled), entries(&in_order), "{k} entries");
        }
        assert!(k < 32 || in_bulk > 0, "{k} entries settle nothing of {one_by_one}");
        assert!(one_by_one > 0, "{k} entries: nothing was left");
    }
}

/// Checks the guarantees of Space-Saving against exact counts, with weights and any number of
/// entries.
#[test]
fn counts_bound_the_truth_from_both_sides() {
    for k in [1, 2, 3, 31, 32, 33, 64, 256] {
        let mut s = SpaceSaving::new(2, 300, k);
        let (mut truth, mut total, mut random, mut min) = (vec![0u32; 300], 0, 0u64, 0);
        for step in 0..40_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let unit = (random >> 40) as f64 / (1u64 << 24) as f64;
            let (wordline, dose) =
                ((unit * unit * unit * 300.0) as u32, [2, 3, 7][(random >> 33) as usize % 3]);
            s.count(BlockId::new(1), WordlineInBlock::new(wordline), Quarters::from_count(dose));
            truth[wordline as usize] += dose;
            total += dose;
            if step % 97 != 0 {
                continue;
            }
            let t = s.of(BlockId::new(1));
            let mut bounds = vec![(0, t.min().count()); 300];
            t.entries()
                .for_each(|(w, e)| bounds[w] = ((e.count - e.error).count(), e.count.count()));
            assert!(
                bounds.iter().zip(&truth).all(|((low, high), exact)| low <= exact && exact <= high),
                "{k} entries"
            );
            assert_eq!(t.entries().map(|(_, e)| e.count).sum::<Quarters>().count(), total);
            assert!(t.min().count() <= total / k && t.min().count() >= min);
            min = t.min().count();
        }
    }
}
