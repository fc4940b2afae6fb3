//! Tests of the whole page: its required content, its forbidden content, and its size.

use super::*;
use crate::testing::{folder, json, json_with_lives};
use serde_json::json as value;
use std::fmt::Write;

/// Name of a technique that would end a tag, an attribute or a script if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script>\" onload='x' \u{1}\u{202e}&amp;</p>";

fn made(json: &Value) -> String {
    page(&[folder(json)]).unwrap()
}

#[test]
fn the_page_has_its_parts_in_order_and_the_same_bytes_each_time() {
    let html = made(&json_with_lives());
    let ids = [
        "class=\"cards\"",
        "class=\"keys\"",
        "id=\"dose\"",
        "id=\"life\"",
        "id=\"cdf\"",
        "id=\"time\"",
        "id=\"pe\"",
        "id=\"cost\"",
        "id=\"table\"",
        "id=\"warn\"",
        "id=\"conf\"",
    ];
    let places: Vec<usize> = ids.map(|id| html.find(id).unwrap_or_else(|| panic!("{id}"))).into();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(html, made(&json_with_lives()));
    assert!(html.len() < 200_000, "{}", html.len());
}

#[test]
fn the_policy_allows_exactly_this_style_and_this_script() {
    let html = made(&json());
    let between = |from: &str, to: &str| {
        let start = html.find(from).unwrap() + from.len();
        let end = html[start..].find(to).unwrap();
        html[start..start + end].to_owned()
    };
    for (text, kind) in [
        (between("<style>", "</style>"), "style-src"),
        (between("</script><script>", "</script>"), "script-src"),
    ] {
        let digest = STANDARD.encode(Sha256::digest(text.as_bytes()));
        assert!(html.contains(&format!("{kind} 'sha256-{digest}'")), "{kind}");
    }
    assert!(!html.contains("unsafe-inline"));
}

#[test]
fn the_markup_asks_for_nothing_and_has_no_inline_style() {
    let html = made(&json());
    let markup = html.replace(STYLE, "").replace(SCRIPT, "");
    for bad in ["style=", "http://", "https://", " onclick", " onload", "@import", "prototype"] {
        assert!(!markup.contains(bad), "{bad}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
}

#[test]
fn hostile_names_stay_text() {
    let mut json = json();
    json["workload"] = HOSTILE.into();
    json["drive"] = HOSTILE.into();
    json["techniques"][1]["reclaim"] = HOSTILE.into();
    json["techniques"][1]["label"] = HOSTILE.into();
    json["techniques"][1]["warnings"] = value!([HOSTILE]);
    json["verdict"] = value!([HOSTILE]);
    let clean = made(&self::json());
    let html = made(&json);
    for tag in ["<script", "</script", "<p ", "</p>"] {
        let (of_clean, of_hostile) = (clean.matches(tag).count(), html.matches(tag).count());
        // The hostile page has one more warning. A warning adds a list item, but no paragraph and
        // no script.
        assert_eq!(of_hostile, of_clean, "{tag}");
    }
    // In the data, quotes are escaped as in JSON, and `<` is written as \u003c.
    let (markup, data) = html.split_once("id=\"data\">").unwrap();
    let data = data.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    assert!(data["names"][1].as_str().unwrap().starts_with("<script>alert(1)</script>\""));
    assert!(!markup.contains("alert(1)</script>") && !markup.contains("\" onload='x'"));
    assert!(!html.contains('\u{1}') && !html.contains('\u{202e}'));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn parts_without_files_say_why() {
    let html = made(&json());
    assert!(html.contains("This chart is absent: the folder has no dose.csv."));
    assert!(html.contains("This chart is absent: the folder has no read.hlog"));
    assert!(html.contains("The chart of the read tail is absent: the folder has no latency.csv."));
    assert!(html.contains("The command line is absent"));
}

#[test]
fn only_results_make_a_page() {
    let empty = Folder::of_files("nothing", []);
    let why = page(&[empty]).unwrap_err().to_string();
    assert!(why.starts_with("nothing has no results; a folder that"), "{why}");
    for file in ["compare.json", "summary.json", "life.json", "sweep.json"] {
        let wrong = Folder::of_files("odd", [(file.to_owned(), b"{}".to_vec())]);
        let why = page(&[wrong]).unwrap_err().to_string();
        assert!(why.starts_with(&format!("odd/{file}: missing field `")), "{why}");
    }
}

#[test]
fn many_techniques_are_in_the_table_and_six_in_the_charts() {
    let mut json = json();
    let block = json["techniques"][1].clone();
    for n in 0..7 {
        let mut more = block.clone();
        more["reclaim"] = format!("other-{n}").into();
        more["label"] = more["reclaim"].clone();
        json["techniques"].as_array_mut().unwrap().push(more);
    }
    let html = made(&json);
    assert!(html.contains("The charts show 6 of 10 techniques"));
    assert!(html.contains("id=\"k5\"") && !html.contains("id=\"k6\""));
    assert_eq!(html.matches(">other-6</th>").count(), 1, "a column of the table");
}

/// Adds files of doses to the folder of a technique. There are two blocks of nine wordlines, each
/// with a limit of 1,000. In the first block, `worst` is the dose of wordline 3, and the others
/// have half this dose. In the second block, a wordline with 80 % of this dose is alone.
fn put_doses(folder: &mut Folder, name: &str, worst: f64) {
    let mut dose = String::from(
        "block,at_s,at_host_read_pages,pec_cycles,wordline,group,alpha,guard_levels,reads,dose,\
         limit,valid_pages,lost_pages\n",
    );
    for (block, most, others) in [(206, worst, 0.5 * worst), (261, 0.8 * worst, 1.0)] {
        for wordline in 0..9 {
            let dosed = if wordline == 3 { most } else { others };
            let _ = writeln!(dose, "{block},1,9,1500,{wordline},all,9,0,10,{dosed},1000,3,0");
        }
    }
    // The summaries have the exact ratios, which are up to 1 % of the limit above the stored doses.
    let exact = [worst, 0.8 * worst].map(|dose| dose / 1000.0 + 0.006);
    let blocks = format!(
        "block,worst_ratio,wordlines_past_limit\n206,{},{}\n261,{},0\n",
        exact[0],
        u8::from(exact[0] > 1.0),
        exact[1]
    );
    let map = format!(
        "rank,block,bin,first_wordline,worst_ratio\n1,206,0,0,{}\n2,261,0,0,{}\n",
        worst / 1000.0,
        0.8 * worst / 1000.0
    );
    let files = [("dose.csv", dose), ("dose_map.csv", map), ("dose_blocks.csv", blocks)];
    let old = folder.folder(name).unwrap();
    let kept = old.files().map(|file| (file.to_owned(), old.file(file).unwrap().to_vec()));
    let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    let files: Vec<_> = kept.chain(files).collect();
    folder.put(name, Folder::of_files(format!("results/{name}"), files));
}

#[test]
fn the_section_about_doses_has_one_number_for_the_worst_wordline() {
    let mut json = json_with_lives();
    // A reclaim job began at a slightly higher dose than the stored one.
    json["techniques"][2]["runs"][0]["threshold_used"] = 0.886.into();
    let mut folder = folder(&json);
    for (name, worst) in [("none", 1190.0), ("straw-wl", 880.0)] {
        put_doses(&mut folder, name, worst);
    }
    let html = page(&[folder]).unwrap();
    let section = html.split_once("<section id=\"dose\"").unwrap().1;
    let section = section.split_once("</section>").unwrap().0.replace('\u{a0}', " ");
    let plain = ["<b>", "</b>", "<code>", "</code>"]
        .iter()
        .fold(section, |text, tag| text.replace(tag, ""));
    assert!(plain.contains("worst wordline at 88 % of its limit"), "{plain}");
    assert!(plain.contains("the worst wordline is at 88 %\""), "{plain}");
    // The explained block is the worst one, and the table has its number.
    assert!(plain.contains("Under straw-wl, wordline 3 of block 206 is at 88 % of its limit"));
    let first_row = plain.split("straw-wl</th>").nth(1).unwrap();
    for cell in ["206", "88 %"] {
        assert!(first_row.split("</tr>").next().unwrap().contains(cell), "{cell}: {first_row}");
    }
    assert!(!plain.contains("89 %"), "{plain}");
}
