//! Checks the rows of every text format against `rows.txt`. Its texts have the shape of published
//! tools and collections. Columns that the user gives (`--columns`) are included.

use crate::common;

use common::{all_said, read_all};
use vpass_workload::traces::{BlkAction, Format, MissingClock};

#[test]
fn rows_are_those_of_the_record() {
    let mut count = 0;
    for case in include_str!("rows.txt").split("\n\n") {
        let lines_with = |begin: &str| -> Vec<&str> {
            case.lines().filter_map(|line| line.strip_prefix(begin)).collect()
        };
        let head = lines_with("== ")[0];
        let (name, words) = head.split_once(' ').unwrap_or((head, ""));
        let mut options = all_said(None);
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                None if word == "as" => options.format = Format::chosen(Some(name), None).unwrap(),
                None if word == "at-once" => options.clock = MissingClock::Ignore,
                Some(("action", "D")) => options.blk_action = Some(BlkAction::D),
                Some(("action", "C")) => options.blk_action = Some(BlkAction::C),
                Some(("columns", list)) => {
                    options.format = Format::chosen(None, Some(list)).unwrap();
                    assert_eq!(options.format.unwrap().given_columns(), Some(list));
                }
                _ => panic!("{word} is not an option of the record"),
            }
        }
        let line = |line: &str| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n";
        let text: String = lines_with("|").into_iter().map(line).collect();
        let text = text.replace("\\r", "\r").replace("\\t", "\t");
        let (file, rows) =
            read_all(text.as_bytes(), &options).unwrap_or_else(|e| panic!("{case}\n{e}"));
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                let device = file.device_name(row.device);
                format!("{} {device} {} {} {:?}", row.at_ns, row.offset, row.bytes, row.op)
            })
            .collect();
        assert_eq!(file.format().name, name, "{case}");
        assert_eq!(rows, lines_with("> "), "{case}");
        count += 1;
    }
    assert!(count > 30, "the record is cut");
}
