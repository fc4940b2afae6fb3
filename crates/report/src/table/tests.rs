//! Tests of tables in all their forms.

use super::*;

fn latencies() -> Table {
    let mut table = Table::new(["", "p50", "slowest read", "lost"]);
    table.row(["read", "1.5 us", "9 ms", "0"]);
    table.row(["write", "12.5 us", "10 ms", "1"]);
    table
}

#[test]
fn sentences_are_wrapped_at_words() {
    assert_eq!(wrapped_at("  one two three four", 2, 11), "  one two\n  three\n  four");
    assert_eq!(wrapped_at("one two", 0, 7), "one two");
    assert_eq!(wrapped_at("extraordinary one", 0, 5), "extraordinary\none");
}

#[test]
fn columns_line_up() {
    let wide = "              p50   slowest read   lost\n  \
        read     1.5 us           9 ms      0\n  \
        write   12.5 us          10 ms      1\n";
    assert_eq!(latencies().numbers(false, None), wide);
    assert_eq!(latencies().numbers(false, Some(41)), wide);
}

#[test]
fn what_is_too_wide_is_wrapped_in_its_heading_then_cut() {
    let mut table = latencies();
    let wrapped = "                  slowest\n             \
        p50     read  lost\n  \
        read    1.5 us     9 ms     0\n  \
        write  12.5 us    10 ms     1\n";
    assert_eq!(table.part(&[0, 1, 2, 3], NARROW_GAP, true, false), wrapped);
    // The first three columns need 5 + 2 + 7 + 2 + 7 characters, which fit into 23. The last column
    // does not fit.
    assert_eq!(table.parts(23), [vec![0, 1, 2], vec![0, 3]]);
    table.cut_before(vec![2]);
    assert_eq!(table.parts(23), [vec![0, 1], vec![0, 2, 3]]);
    assert_eq!(table.parts(29), [vec![0, 1, 2, 3]], "all columns fit");
    assert_eq!(table.parts(3), [vec![0, 1], vec![0, 2], vec![0, 3]], "no two columns fit");
}

#[test]
fn long_words_are_wrapped_and_names_are_not() {
    let mut table = Table::default();
    table.row(["life", "time of this workload until the rated cycles"]);
    assert_eq!(
        table.words(false, Some(40)),
        "  life  time of this workload until the\n        rated cycles\n"
    );
    assert_eq!(table.words(false, None), "  life  time of this workload until the rated cycles\n");
}

#[test]
fn colours_change_no_width() {
    let mut table = Table::new(["x", "y"]);
    table.painted_row(vec![("a".into(), Look::Plain), ("1".into(), Look::Good)]);
    let painted = table.numbers(true, None);
    assert!(painted.contains('\x1b'), "{painted:?}");
    let bare: String = painted
        .split('\x1b')
        .enumerate()
        .map(|(i, t)| if i == 0 { t } else { t.split_once('m').unwrap().1 })
        .collect();
    assert_eq!(bare, table.numbers(false, None));
}

#[test]
fn markdown_has_a_rule_and_no_stray_stars() {
    let mut table = Table::new(["", "p50"]);
    table.row(["read", "1.5 us*"]);
    assert_eq!(table.markdown(), "|  | p50 |\n| --- | ---: |\n| read | 1.5 us\\* |\n");
}

#[test]
fn the_page_gets_cells_with_roles_and_no_markup_of_others() {
    let mut table = Table::new(["technique", "p50"]);
    table.painted_row(vec![("<b>".into(), Look::Plain), ("1.5".into(), Look::Good)]);
    let html = table.classed_html("Reads & writes", |column| format!("s{column}"));
    assert_eq!(
        html,
        "<div class=\"scroll\" tabindex=\"0\"><table><caption>Reads &amp; writes</caption><thead>\
         <tr><th scope=\"col\" class=\"s0\">technique</th><th scope=\"col\" class=\"s1\">p50</th>\
         </tr></thead><tbody><tr><th scope=\"row\" class=\"s0\">&lt;b&gt;</th>\
         <td class=\"best s1\">1.5</td></tr></tbody></table></div>"
    );
}

#[test]
fn sentences_between_tables_wrap_and_tables_stay() {
    let text =
        "Title\n  a sentence that is too long for a line\n  a  1.5  2.5  3.5  4.5  5.5\nend\n";
    assert_eq!(
        wrapped_lines_at(text, 20),
        "Title\n  a sentence that is\n    too long for a\n    line\n  \
         a  1.5  2.5  3.5  4.5  5.5\nend\n"
    );
    assert_eq!(wrapped_lines_at(text, 80), text);
}
