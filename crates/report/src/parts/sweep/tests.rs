use serde_json::{Value, json};
use vpass_lab::results::Summary;

use crate::folder::Folder;
use crate::page::page;
use crate::testing::{json_of, of_technique};

/// Makes a comparison of the techniques `none` and `block`, in which `block` wins. Each technique
/// is given by its read wear in percent and its number of lost pages.
fn comparison(none: (f64, u64), block: (f64, u64)) -> Value {
    let run = |name: &str, (wear, lost): (f64, u64)| {
        let run = of_technique(name, lost, 10, 0, [1.0, 1.0]);
        Summary { read_wear: Some(wear), ..run }
    };
    let mut json = json_of(vec![run("none", none), run("block", block)]);
    json["winners"] = json!({"read_wear": ["block"]});
    json
}

fn made(json: &Value) -> Result<String, String> {
    let file = ("sweep.json".to_owned(), json.to_string().into_bytes());
    page(&[Folder::of_files("wear", [file])]).map_err(|failure| failure.to_string())
}

/// Makes a sweep of one key with three points. At the second point, `none` loses data. The third
/// point is refused.
fn of_one_key() -> Value {
    let point = |pec: &str, comparison: Value, refused: Value| {
        let swept = json!({"start.pec": pec});
        json!({"swept": swept, "comparison": comparison, "refused": refused, "stopped": []})
    };
    json!({
        "schema": 1, "vpass": "0.1.0", "swept": ["start.pec"], "seeds": 1,
        "points": [
            point("0", comparison((0.0, 0), (2.0, 0)), json!([])),
            point("1500", comparison((0.0, 9), (8.0, 0)), json!([])),
            point("9999", Value::Null, json!([{"label": null, "why": "it is <worn>"}])),
        ],
    })
}

#[test]
fn one_key_makes_a_line_for_each_technique() {
    let html = made(&of_one_key()).unwrap();
    assert!(html.contains("<h2 id=\"sweep-read-wear-h\">Read wear over start.pec</h2>"));
    // The axis of the key extends to the value 9999 of the refused point. The value 1500 lies at
    // 0.15 of the axis. The y axis ends at 8 %.
    assert!(html.contains("class=\"ln s1\"") && html.contains("d=\"M0 750L150 0\""), "block");
    assert!(html.contains("class=\"ln s0\"") && html.contains("d=\"M0 1000L150 1000\""), "none");
    let hollow = html.matches("fill=\"var(--card)\"><title>none: 0.00\u{a0}%, loses data").count();
    assert_eq!(hollow, 1, "one result lost data");
    assert!(html.contains("fill=\"var(--t1)\"><title>block: 8.00\u{a0}%</title>"), "kept data");
    assert_eq!(html.matches("<circle class=\"s1\"").count(), 2);
    let warning = "<b>none</b> lost data at 1 of 2 points, 9 pages in total.";
    assert!(html.contains(warning) && !html.contains("cannot win.</li>"), "{warning}");
    assert!(html.contains("start.pec = 9999: the point was refused: it is &lt;worn&gt;"));
    assert!(html.contains("<code>block</code> at 2 of 3 points"));
    assert!(html.contains("0,none,0,,0\\n0,block,2,,0\\n1500,none,0,,9\\n"), "CSV");
}

/// Tests a sweep of two keys. The colours range from the smallest to the largest value among
/// techniques that kept their data.
#[test]
fn two_keys_make_a_heat_map_for_each_technique() {
    let mut json = of_one_key();
    json["swept"] = json!(["start.pec", "page"]);
    let mut points = vec![];
    for (pec, page, wear) in [("0", "4KiB", 1.0), ("0", "16KiB", 2.0), ("9", "4KiB", 3.0)] {
        points.push(json!({
            "swept": {"start.pec": pec, "page": page},
            "comparison": comparison((wear, 5), (10.0 * wear, 0)),
            "refused": [],
            "stopped": [],
        }));
    }
    json["points"] = points.into();
    let html = made(&json).unwrap();
    let cell = |name: &str, text: &str| {
        let end = format!("<title>{name}: {text}</title>");
        let at = html.find(&end).unwrap_or_else(|| panic!("{end}"));
        html[..at].rsplit_once("<rect").unwrap().1.to_owned()
    };
    let [low, middle, high] =
        [("0", "4KiB", "10.0"), ("0", "16KiB", "20.0"), ("9", "4KiB", "30.0")].map(
            |(pec, page, wear)| {
                cell(&format!("start.pec = {pec}, page = {page}"), &format!("{wear}\u{a0}%"))
            },
        );
    for (cell, colour) in [(&low, "h0"), (&middle, "h5"), (&high, "h9")] {
        assert!(cell.contains(&format!("fill=\"var(--{colour})\" stroke")), "{colour}: {cell}");
    }
    let lost = cell("start.pec = 9, page = 4KiB", "3.00\u{a0}%, loses data");
    assert!(lost.contains("fill=\"var(--hx)\"") && !lost.contains("stroke"), "{lost}");
    // In the map, the row of 4KiB is the lower row, and the column of 9 is the right column.
    assert!(high.contains("x=\"50.5%\" y=\"51.5%\""), "{high}");
    assert!(html.contains("start.pec = 9, page = 16KiB: –"), "a point that was not swept");
    assert_eq!(html.matches(">lost</text>").count(), 3);
}

#[test]
fn a_sweep_of_three_keys_has_a_table_and_says_why_there_is_no_chart() {
    let mut json = of_one_key();
    json["swept"] = json!(["start.pec", "a", "b"]);
    for point in json["points"].as_array_mut().unwrap() {
        let pec = point["swept"]["start.pec"].clone();
        point["swept"] = json!({"start.pec": pec, "a": "1", "b": "2"});
    }
    let html = made(&json).unwrap();
    assert!(
        html.contains(
            "These charts are absent: 3 keys are swept, but a chart shows only one or two."
        )
    );
    assert!(html.contains("id=\"table\"") && !html.contains("id=\"sweep-read-wear\""));
}

#[test]
fn a_file_without_points_is_refused() {
    let refused = |change: fn(&mut Value)| {
        let mut json = of_one_key();
        change(&mut json);
        made(&json).unwrap_err()
    };
    let without = refused(|json| json["points"] = json!([]));
    assert!(without.contains("wear/sweep.json: no point has results"), "{without}");
    let nothing = refused(|json| {
        for point in json["points"].as_array_mut().unwrap() {
            point["comparison"] = Value::Null;
        }
    });
    assert!(nothing.contains("wear/sweep.json: no point has results"), "{nothing}");
    let later = refused(|json| json["schema"] = 2.into());
    assert!(later.contains("`schema` is 2"), "{later}");
}
