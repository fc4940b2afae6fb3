//! Format of a finished part on disk: the digest of the body, followed by the body.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Encodes a part. Returns `None` if decoding would not restore exactly the same part.
pub(super) fn encoded<T: Serialize + DeserializeOwned>(part: &T) -> Option<Vec<u8>> {
    let body = body(part)?;
    let again = self::body(&rmp_serde::from_slice::<T>(&body).ok()?)?;
    (again == body).then(|| [&Sha256::digest(&body)[..], &body].concat())
}

fn body<T: Serialize>(part: &T) -> Option<Vec<u8>> {
    rmp_serde::to_vec_named(part).ok()
}

/// Decodes a part. Returns `None` if the bytes are incomplete or damaged.
pub(super) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (digest, body) = bytes.split_at_checked(32)?;
    (Sha256::digest(body)[..] == *digest).then(|| rmp_serde::from_slice(body).ok())?
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::{Unwatched, unwatched};
    use crate::results::Summary;
    use crate::run::execute;
    use crate::setup::{Base, Gear, Named, Setup};

    fn summary(drive: &str, workload: &str, gear: Gear, set: &[&str], chosen: Chosen) -> Summary {
        let base =
            Base { gear, set: set.iter().map(|set| (*set).into()).collect(), ..Base::new(drive) };
        let plan =
            RunPlan::new(&Setup::new(base, Named::Workload(workload.into())), chosen, &unwatched)
                .unwrap();
        // The batches are kept beside the summary.
        Summary { batches: None, ..execute(&plan, &Unwatched).unwrap().summary }
    }

    #[test]
    fn a_summary_is_read_back_as_it_was() {
        let refreshed = Chosen { refresh: Some("ida"), ..Chosen::default() };
        let striped = Chosen { parity: "raid5", ..Chosen::default() };
        let rated = [
            "workload.requests=3000",
            "workload.rate=1000",
            "workload.queue_depth=",
            "start.age=1d",
        ];
        let few = ["workload.requests=3000"];
        let mut infinite = summary("tiny", "uniform-read", Gear::Timed, &few, Chosen::default());
        infinite.oracle.as_mut().unwrap().worst_dose_ratio = f64::INFINITY;
        infinite.write_amplification = Some(0.1 + 0.2);
        for summary in [
            infinite,
            summary(
                "tiny",
                "random-70-30",
                Gear::Untimed,
                &few,
                Chosen { reclaim: "none", ..Chosen::default() },
            ),
            summary("aged-tlc", "random-70-30", Gear::Timed, &rated, refreshed),
            summary(
                "tiny",
                "random-70-30",
                Gear::Timed,
                &["workload.requests=3000", "drive.spare=0.4", "parity.stripe=3"],
                striped,
            ),
        ] {
            let again: Summary = decoded(&encoded(&summary).unwrap()).unwrap();
            assert_eq!(format!("{again:?}"), format!("{summary:?}"));
            assert_eq!(
                crate::as_json::text(&again).unwrap(),
                crate::as_json::text(&summary).unwrap()
            );
        }
    }

    #[test]
    fn an_incomplete_part_is_not_read() {
        type Of = Result<(Vec<f64>, String), String>;
        let part: Of = Ok((vec![0.1f64, f64::NAN, -0.0], "\0\u{c8}".into()));
        let bytes = encoded(&part).unwrap();
        let read = |bytes: &[u8]| decoded::<Of>(bytes).map(|read| format!("{read:?}"));
        assert_eq!(read(&bytes), Some(format!("{part:?}")));
        let mut flipped = bytes.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert_eq!(
            (read(&flipped), read(&bytes[..bytes.len() - 1]), read(&[])),
            (None, None, None)
        );
    }

    #[test]
    fn a_part_that_is_not_read_back_exactly_is_not_kept() {
        #[derive(Serialize, Deserialize)]
        struct Forgets {
            #[serde(skip_serializing_if = "is_seven", default)]
            n: u8,
        }
        #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires it")]
        fn is_seven(n: &u8) -> bool {
            *n == 7
        }
        assert!(encoded(&Forgets { n: 6 }).is_some() && encoded(&Forgets { n: 7 }).is_none());
    }
}
