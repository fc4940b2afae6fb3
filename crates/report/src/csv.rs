//! Text of CSV files.

use csv::WriterBuilder;

/// Returns rows of cells as CSV text. The first row is the heading.
pub fn text(rows: &[Vec<String>]) -> String {
    let mut writer = WriterBuilder::new().flexible(true).from_writer(vec![]);
    let written =
        rows.iter().try_for_each(|row| writer.write_record(row.iter().map(|text| plain(text))));
    let bytes = written.ok().and_then(|()| writer.into_inner().ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// Returns a text as the content of a cell. If a spreadsheet might take the text for a formula, the
/// cell begins with an apostrophe.
fn plain(text: &str) -> String {
    let is_formula = text.starts_with(['=', '@', '\t'])
        || (text.starts_with(['+', '-']) && text.parse::<f64>().is_err());
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_stay_text() {
        let cells = ["a \"b\", c", "two\nlines", "plain", "-1.5", "=1+1"].map(str::to_owned);
        let expected = "\"a \"\"b\"\", c\",\"two\nlines\",plain,-1.5,'=1+1\n";
        assert_eq!(text(&[cells.into()]), expected);
    }
}
