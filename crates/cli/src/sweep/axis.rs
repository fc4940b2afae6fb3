//! Swept keys. A key has a list of values.

use vpass_lab::compare::sweep::Swept;

/// Key of a sweep, with the values that the key takes one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Name of the key, such as `start.pec`.
    pub(crate) key: String,
    /// Values of the key, as text that `--set` accepts.
    pub(crate) values: Vec<String>,
}

impl Axis {
    /// Parses a text of the form `KEY=a,b,c`. A value in brackets or quotes may hold commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = "KEY=VALUE,VALUE is expected, such as start.pec=0,1000,2000";
        let Some((key, values)) = text.split_once('=') else { return Err(expected.into()) };
        let values = parts(values);
        if key.trim().is_empty() || values.iter().any(|value| value.trim().is_empty()) {
            return Err(expected.into());
        }
        if let Some(twice) = (1..values.len()).find(|n| values[..*n].contains(&values[*n])) {
            return Err(format!(
                "the value {} is given twice; give each value once",
                values[twice]
            ));
        }
        Ok(Self { key: key.trim().into(), values })
    }
}

/// Splits a text at its commas. Commas inside brackets or quotes do not split the text.
fn parts(text: &str) -> Vec<String> {
    let (mut all, mut depth, mut is_quoted) = (vec![String::new()], 0i32, false);
    for c in text.chars() {
        match c {
            '"' | '\'' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth -= 1,
            _ => {}
        }
        match all.last_mut() {
            Some(_) if c == ',' && depth == 0 && !is_quoted => all.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    all.iter().map(|part| part.trim().to_owned()).collect()
}

/// Returns a point for every combination of the keys' values. From point to point, the value of the
/// last key changes fastest.
pub(crate) fn grid(axes: &[Axis]) -> Vec<Swept> {
    axes.iter().fold(vec![vec![]], |points, axis| {
        let with = |point: &Swept, value: &String| {
            let mut point = point.clone();
            point.push((axis.key.clone(), value.clone()));
            point
        };
        points
            .iter()
            .flat_map(|point| axis.values.iter().map(move |value| with(point, value)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_at_commas_outside_of_brackets() {
        let axis = Axis::parse("timing.sense_us=[40, 60, 90],50").unwrap();
        assert_eq!(axis.values, ["[40, 60, 90]", "50"]);
        for wrong in ["start.pec", "=1", "a.b=", "a.b=1,,2", "a.b=1,1"] {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let axes = ["a.b=1,2", "c.d=x,y,z"].map(|text| Axis::parse(text).unwrap());
        let points = grid(&axes);
        assert_eq!(points.len(), 6);
        let pair = |n: usize| (points[n][0].1.as_str(), points[n][1].1.as_str());
        assert_eq!([pair(0), pair(1), pair(5)], [("1", "x"), ("1", "y"), ("2", "z")]);
    }
}
