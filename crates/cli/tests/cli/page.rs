//! Tests of the report page: `--html` beside a command, `vpass report` of folders, and refusals.

use std::fs;

use crate::common::{Room, argv, small_run, vpass};

/// Small comparison of two techniques on the tiny drive.
const COMPARE: &str = "compare --seeds 1 --drive tiny --workload random-70-30 \
    --set workload.requests=3000 --reclaim block,straw-wl";

/// Checks that a file is a complete page that loads nothing, and returns its text.
#[track_caller]
fn page(path: &str) -> String {
    let html = fs::read_to_string(path).unwrap();
    assert!(html.starts_with("<!doctype html>\n") && html.ends_with("</script></body></html>\n"));
    assert!(html.contains("default-src 'none'") && !html.contains("unsafe-inline"));
    html
}

#[test]
fn a_page_beside_a_comparison_leaves_no_folder_and_is_that_of_its_results() {
    let room = Room::new();
    let (alone, beside, out) =
        (room.text("alone.html"), room.text("beside.html"), room.text("out"));
    let done = vpass(&[&argv(COMPARE)[..], &["--html", &alone]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains(&format!("the page with charts and tables of the results is {alone}")),
        "{}",
        done.stderr
    );
    assert_eq!(room.names(), ["alone.html"], "no hidden folder stays");
    let done = vpass(&[&argv(COMPARE)[..], &["--html", &beside, "--out", &out]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let again = room.text("again.html");
    let report = vpass(&["report", &out, "--output", &again]);
    assert_eq!((report.code, report.stdout.as_str(), report.stderr.as_str()), (0, "", ""));
    let html = page(&again);
    assert_eq!(html, page(&beside));
    // The pages differ only in the options of their command lines.
    let without_command = |html: &str| {
        let (before, rest) = html.split_once("<section id=\"conf\"").unwrap();
        before.to_owned() + rest.split_once("</section>").unwrap().1
    };
    assert_eq!(without_command(&page(&alone)), without_command(&html));
    assert!(html.contains(">block</code>") || html.contains(">block</th>"));
    assert!(html.contains("drive <b>tiny</b>"));
}

#[test]
fn a_run_has_a_page_with_one_technique_and_two_runs_stand_side_by_side() {
    let room = Room::new();
    let one = room.text("one.html");
    let a = room.text("a");
    let done = small_run(&["--html", &one, "--out", &a]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(page(&one).contains("<em><code>block</code></em> keeps all data"));
    let b = room.text("b");
    assert_eq!(small_run(&["--reclaim", "straw-wl", "--out", &b]).code, 0);
    let both = room.text("both.html");
    let done = vpass(&["report", &a, &b, "--output", &both]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let html = page(&both);
    assert!(html.contains("id=\"k1\"") && !html.contains("id=\"k2\""));
}

#[test]
fn an_existing_file_is_replaced_only_on_request() {
    let room = Room::new();
    room.file("page.html", "mine");
    let place = room.text("page.html");
    let done = small_run(&["--html", &place]);
    done.refuses(2, &["page.html exists; --force replaces it"]);
    assert_eq!(fs::read_to_string(&place).unwrap(), "mine");
    assert_eq!(small_run(&["--html", &place, "--force"]).code, 0);
    page(&place);
    assert_eq!(room.names(), ["page.html"]);
}

#[test]
fn a_cut_file_and_a_folder_given_twice_are_refused() {
    let room = Room::new();
    let (out, page) = (room.text("out"), room.text("page.html"));
    assert_eq!(vpass(&[&argv(COMPARE)[..], &["--out", &out]].concat()).code, 0);
    let beside = format!("{out}/.");
    vpass(&["report", &out, &beside, "--output", &page]).refuses(2, &["out", "the same files"]);
    vpass(&["report", &out, &out, "--output", &page]).refuses(2, &["out is given twice"]);
    let series = room.path("out/block/series.csv");
    let whole = fs::read(&series).unwrap();
    fs::write(&series, &whole[..200]).unwrap();
    vpass(&["report", &out, "--output", &page])
        .refuses(2, &["out/block/series.csv: the file is incomplete"]);
    assert_eq!(room.names(), ["out"]);
}
