//! Sentences about a paper's numbers beside ours.

use crate::model::Claim;

/// Returns how many numbers agree.
pub fn headline(claims: &[Claim]) -> String {
    let of = |begin: &str| claims.iter().filter(|c| c.verdict.starts_with(begin)).count();
    let with_number = claims.iter().filter(|c| c.here.is_some()).count();
    match with_number {
        0 if claims.is_empty() => "Figures of the recipe, without numbers of the paper".into(),
        0 => "No number of the paper has one of ours beside it".into(),
        n => format!("{} of {n} numbers of the paper agree with ours", of("agrees")),
    }
}

/// Returns the other verdicts, with their counts.
pub fn others(claims: &[Claim]) -> String {
    let mut counted: Vec<(&str, usize)> = vec![];
    for claim in claims {
        match counted.iter_mut().find(|(verdict, _)| *verdict == claim.verdict) {
            Some((_, n)) => *n += 1,
            None => counted.push((&claim.verdict, 1)),
        }
    }
    let parts: Vec<String> = counted
        .iter()
        .map(|(verdict, n)| format!("{}: {n}", crate::svg::escape(verdict)))
        .collect();
    format!(
        "Verdicts: {}. The line through 1 is the paper's number; a dot is ours over the paper's.",
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(verdict: &str, here: Option<f64>) -> Claim {
        let (source, what) = (String::new(), String::new());
        Claim { source, what, paper: Some(1.0), here, tolerance: None, verdict: verdict.into() }
    }

    #[test]
    fn numbers_that_agree_are_counted_among_those_that_we_have() {
        let claims = [
            claim("agrees", Some(1.0)),
            claim("agrees, by calibration", Some(1.0)),
            claim("differs", Some(2.0)),
            claim("no number", None),
        ];
        assert_eq!(headline(&claims), "2 of 3 numbers of the paper agree with ours");
        let said = others(&claims);
        assert!(said.starts_with(
            "Verdicts: agrees: 1, agrees, by calibration: 1, differs: 1, no number: 1."
        ));
        assert!(headline(&claims[3..]).starts_with("No number"));
        assert!(headline(&[]).ends_with("without numbers of the paper"));
    }
}
