//! Tests of combinations of `[error]`, `[ecc]` and `[disturb]` that are refused, with their
//! sentences.

use super::{Asked, made, simple};
use crate::base::span::{DAY, HOUR, Span};
use crate::config::{DisturbModel, DriveConfig, EccConfig, ErrorConfig, ErrorLaw, ErrorRow};

#[track_caller]
fn refused(change: impl FnOnce(&mut DriveConfig), words: &[&str]) {
    let mut config = simple();
    change(&mut config);
    let sentence = config.resolve().expect_err("it cannot be").to_string();
    for word in words {
        assert!(sentence.contains(word), "{word} is not in: {sentence}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    refused(
        |c| c.error.e = 0.0085,
        &["[error]", "group good", "LSB", "first level of [ecc] decodes up to 8.50e-3"],
    );
    refused(|c| c.error.base_by_kind = vec![1.0, 1.0, 6.0], &["page kind MSB"]);
    refused(|c| c.error.base_by_group = vec![1.0, 6.0], &["group worst", "after 0 P/E cycles"]);
    refused(
        |c| (c.error.a, c.error.k) = (1e-5, 1.0),
        &["after 1000 P/E cycles", "drive.rated_pec = 1000"],
    );
    refused(
        |c| (c.error.a, c.error.k, c.start.pec) = (6e-6, 1.0, 1500),
        &["after 1500 P/E cycles", "start.pec = 1500"],
    );
    // The error rate 0.0015 + 4.6e-6 x 1,500 is decoded at 1,500 cycles, but not at 1,600, the next
    // row that a policy sees.
    refused(
        |c| (c.error.a, c.error.k, c.start.pec) = (4.6e-6, 1.0, 1501),
        &["after 1600 P/E cycles", "start.pec = 1501"],
    );
    refused(|c| c.ecc.cap = vec![0.0085, 0.0085, 0.01, 0.02, 0.03], &["ecc.cap", "does not rise"]);
    refused(
        |c| c.ecc.retry_decode_us = vec![20.0; 3],
        &["ecc.retry_decode_us has 3 numbers for 4 retries"],
    );
    refused(
        |c| c.ecc.retry_sense_us = vec![20.0; 5],
        &["ecc.retry_sense_us has 5 numbers for 4 retries"],
    );
    refused(|c| c.ecc.cap = vec![], &["ecc.retry_decode_us has 4 numbers for 0 retries"]);
    refused(|c| c.ecc = EccConfig::default(), &["error.model", "ecc.cap"]);
    refused(|c| c.ecc.corrects = vec![3], &["both given"]);
    refused(|c| (c.ecc.cap, c.ecc.corrects) = (vec![], vec![3]), &["ecc.corrects", "ecc.codeword"]);
    refused(
        |c| c.error.base_by_group = vec![1.0],
        &["error.base_by_group has 1 numbers", "each wordline group is expected, 2 in total"],
    );
    refused(
        |c| c.error.temperature_c = Some(125.5),
        &["error.temperature_c = 125.5 is outside -40 to 125"],
    );
    refused(|c| c.error.temperature_c = Some(f64::NAN), &["error.temperature_c"]);
    refused(|c| c.error.reference_c = -41.0, &["error.reference_c"]);
    refused(|c| c.error.noise = true, &["error.noise", "ecc.codeword"]);
    refused(
        |c| c.error.longest_age.0 = 0,
        &["error.longest_age = \"0\" must be above 0 and at most 10y"],
    );
    refused(|c| c.error.longest_age.0 = 3651 * DAY, &["error.longest_age"]);
    refused(|c| c.disturb.model = DisturbModel::None, &["error.model", "disturb.model"]);
}

/// A P/E count that no block reaches causes no refusal, whatever the table's next row has.
#[test]
fn wear_that_a_drive_does_not_reach_refuses_nothing() {
    let mut config = simple();
    (config.error.a, config.error.k, config.start.pec) = (4.6e-6, 1.0, 1500);
    assert!(config.resolve().is_ok());
}

#[test]
fn a_table_without_a_row_or_group_of_disturbs_is_refused() {
    let row = |pec| ErrorRow { pec, base: vec![1e-3; 2], retention: vec![vec![1e-3, 2e-3]; 2] };
    let table = |c: &mut DriveConfig, rows: &[u32]| {
        c.error.model = ErrorLaw::Table;
        c.error.ages = vec![Span(DAY), Span(30 * DAY)];
        c.error.table = rows.iter().map(|pec| row(*pec)).collect();
    };
    refused(
        |c| table(c, &[0]),
        &["error.table has rows at 0 P/E cycles; rows at the P/E cycles of disturb.table \
            (0, 1000) are expected"],
    );
    refused(|c| table(c, &[]), &["error.table is empty"]);
    let changed = |change: fn(&mut ErrorConfig)| {
        move |c: &mut DriveConfig| {
            table(c, &[0, 1000]);
            change(&mut c.error);
        }
    };
    refused(
        changed(|e| e.table[1].base.truncate(1)),
        &["error.table, pec = 1000: base has 1 entries for 2 groups"],
    );
    refused(
        changed(|e| e.table[0].retention.truncate(1)),
        &["pec = 0: retention has 1 entries for 2 groups"],
    );
    refused(
        changed(|e| e.table[0].retention[1].truncate(1)),
        &["retention has 1 numbers for 2 ages"],
    );
    refused(changed(|e| e.table[0].retention[1] = vec![2e-3, 1e-3]), &["must not fall with age"]);
    refused(changed(|e| e.ages.reverse()), &["error.ages must ascend"]);
    let mut good = simple();
    table(&mut good, &[0, 1000]);
    let (_, limits, aged) = made(good);
    let of = Asked { group: 1, kind: 0, level: 0, step: aged.ages().step(20 * HOUR) };
    let share = aged.truth(&limits, 0, of) as f64 / limits.truth(1, 0).limit.in_1024ths() as f64;
    assert!((share - (0.0085 - 0.001 - 0.001) / (0.0085 - 0.001)).abs() < 1e-6, "{share}");
}
