//! Sentences that compare a paper's numbers with our numbers.

use crate::model::Claim;
use crate::sentences::list;

/// Verdicts on the numbers of a paper. Each entry has the beginning of the verdict, the verb for
/// one number, and the verb for several numbers.
const VERDICTS: [(&str, &str, &str); 4] = [
    ("agrees", "agrees", "agree"),
    ("direction only", "agrees in direction only", "agree in direction only"),
    ("differs", "differs", "differ"),
    ("disagrees", "disagrees", "disagree"),
];

/// Returns how many numbers of the paper have each verdict, such as "Of the paper's 19 claims, 1
/// agrees, 16 agree in direction only and 2 disagree".
pub fn headline(claims: &[Claim]) -> String {
    let of = |begin: &str| claims.iter().filter(|c| c.verdict.starts_with(begin)).count();
    let judged = VERDICTS.map(|(begin, one, several)| (of(begin), one, several));
    let known: usize = judged.iter().map(|(n, ..)| n).sum();
    let without = (claims.len() - known, "has no number here", "have no number here");
    let parts: Vec<String> = judged
        .into_iter()
        .chain([without])
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, several)| format!("{n} {}", if n == 1 { one } else { several }))
        .collect();
    match (claims.len(), known) {
        (0, _) => "Figures of the recipe, without claims of the paper".into(),
        (_, 0) => "This recipe produced no number to compare with a claim of the paper".into(),
        (n, _) => format!("Of the paper's {n} claims, {}", list(&parts)),
    }
}

/// Explains how to read the chart of the paper's numbers.
pub fn others() -> &'static str {
    "The line through 1 is the paper's number; a dot is our number divided by the paper's. If the \
     paper gives only a direction, no dot is drawn: \"direction only\" then means that our result \
     has the same direction."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(verdict: &str, here: Option<f64>) -> Claim {
        let (source, what) = (String::new(), String::new());
        Claim { source, what, paper: Some(1.0), here, tolerance: None, verdict: verdict.into() }
    }

    #[test]
    fn claims_are_counted_by_verdict() {
        let claims = [
            claim("agrees", Some(1.0)),
            claim("agrees, by calibration", Some(1.0)),
            claim("differs", Some(2.0)),
            claim("no number", None),
        ];
        assert_eq!(
            headline(&claims),
            "Of the paper's 4 claims, 2 agree, 1 differs and 1 has no number here"
        );
        let claims = ["direction only", "disagrees", "direction only"].map(|v| claim(v, None));
        assert_eq!(
            headline(&claims),
            "Of the paper's 3 claims, 2 agree in direction only and 1 disagrees"
        );
        assert!(
            headline(&[claim("no number", None)]).starts_with("This recipe produced no number")
        );
        assert!(headline(&[]).ends_with("without claims of the paper"));
    }
}
