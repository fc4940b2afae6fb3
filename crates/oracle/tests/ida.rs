//! Random drives that merge wordlines where they refresh them: are the oracle and the drive of one mind, under every reclaim technique?

use vpass_core::slots::reclaim::RECLAIM;
use vpass_oracle::swarm::Case;

/// Cases in which data ages, of which three in ten are refreshed so.
fn cases() -> impl Iterator<Item = Case> {
    (1..).map(Case::new).filter(|case| case.ages())
}

#[test]
fn the_oracle_has_nothing_to_say_under_any_reclaim_technique() {
    for technique in RECLAIM {
        let mut merged = 0;
        for case in cases().take(60) {
            let summary = case.under(technique).run().unwrap_or_else(|said| panic!("{}: {said}", technique.name));
            merged += u32::from(summary.what.contains("refresh ida"));
            if merged == 2 {
                break;
            }
        }
        assert_eq!(merged, 2, "{}", technique.name);
    }
}

/// Each bug of merges shows in some case, and by what it does to merged wordlines.
#[test]
#[cfg(feature = "seeded-bugs")]
fn bugs_of_merges_are_found() {
    use vpass_core::bugs::Bug;
    let bugs = [
        (Bug::CorruptedLeft, "was taken for good|was corrupted"),
        (Bug::AgeRestartsInPart, "and was not adjusted"),
        (Bug::AdjustsWithoutRoom, "past its limit|lost|uncorrectable"),
        (Bug::MergedReadTooFast, "has the page at"),
        (Bug::MergedDoseInFull, "dose|asked"),
        (Bug::MergeForgetsDose, "for disturbed by"),
    ];
    for (bug, words) in bugs {
        let mut found = (1..6000).filter(|seed| Case::new(*seed).ages()).filter_map(|seed| {
            let said = Case::new(seed).with(bug).run().err()?;
            Some((seed, said))
        });
        let (seed, said) = found.next().unwrap_or_else(|| panic!("{bug:?}: a bug that nobody finds"));
        assert!(words.split('|').any(|words| said.contains(words)), "{bug:?} in case {seed}: {said}");
        assert!(Case::new(seed).run().is_ok(), "case {seed} finds something without a bug");
    }
}
