//! Tests of the stored cases: their results, and what they cover.

use super::*;

/// File of features, a line for each. Each of them is in at least [`LEAST`] cases.
const COVERED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/covered.txt");
const LEAST: u32 = 10;

#[test]
fn a_tenth_of_the_cases_leaves_what_is_recorded() {
    let differences = differences(&outcomes(EVERY));
    assert!(
        differences.is_empty(),
        "{}\n`vpass-conform play --case N` prints the map, the counts and the completions of case N, \
         with --events its events. `make record-cases` takes the digests again.",
        differences.join("\n")
    );
}

#[test]
fn the_cases_cover_each_technique_and_feature() {
    let mut found = BTreeMap::<String, u32>::new();
    for case in Case::all() {
        case.features().expect("a drive").into_iter().for_each(|name| {
            *found.entry(name).or_default() += 1;
        });
    }
    let rare = |name: &&str| found.get(*name).is_none_or(|cases| *cases < LEAST);
    let covered = fs::read_to_string(COVERED).expect("the file is in the repository");
    let rare: Vec<&str> = covered.lines().filter(rare).collect();
    assert!(covered.lines().count() > 40 && rare.is_empty(), "rare: {rare:?}");
}

#[test]
fn one_more_request_moves_the_digests() {
    let case = &Case::all()[0];
    let mut other = case.clone();
    other.rows[other.warm_up].5 += 1;
    let [one, again, moved] = [case, case, &other].map(|case| line(0, &outcome(case, false)));
    assert_eq!(one, again);
    assert_ne!(one, moved);
    let [mut one, mut two] = [(); 2].map(|()| digest::Digest::new(true));
    one.row(&["host"], &[1, 2]);
    two.row(&["host"], &[2, 1]);
    assert_ne!(one.word(), two.word());
    assert_eq!(one.log(), "host 1 2\n");
}
