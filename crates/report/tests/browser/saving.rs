//! Tests of files that the buttons of a figure save: drawings for papers, pictures, and numbers.

use crate::chromium::Browser;
use crate::made::{self, LABELS};
use crate::opened;

fn text(browser: &mut Browser, figure: &str, kind: &str) -> String {
    let button = format!("#{figure} button[data-save={kind}]");
    String::from_utf8(browser.saved(&button, &format!("vpass-{figure}.{kind}"))).unwrap()
}

/// Returns the heading and the rows of a CSV file. Labels with quotes are restored.
fn rows(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heading = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.deserialize().map(Result::unwrap).collect();
    (heading, rows)
}

#[test]
fn a_drawing_needs_nothing_of_the_page() {
    let Some(mut browser) = opened() else { return };
    for figure in ["dose-block", "dose-maps", "cdf", "time", "life", "pe", "cost"] {
        let svg = text(&mut browser, figure, "svg");
        for part in ["var(", "class=", "%\"", "<button", "Numbers", "NaN", "undefined"] {
            assert!(!svg.contains(part), "{figure} has {part}: {svg}");
        }
        // The label is text, so the drawing does not run it as a script.
        let check = format!(
            "(d => [d.querySelector('parsererror') === null, d.documentElement.tagName, \
             d.querySelectorAll('script').length, d.documentElement.textContent.includes({:?})])\
             (new DOMParser().parseFromString({svg:?}, 'image/svg+xml'))",
            LABELS[2]
        );
        assert_eq!(browser.value(&check), serde_json::json!([true, "svg", 0, true]), "{figure}");
        if let Some(folder) = std::env::var_os("VPASS_SCREENSHOTS") {
            std::fs::write(std::path::Path::new(&folder).join(format!("{figure}.svg")), svg)
                .unwrap();
        }
    }
    // A technique that is hidden on the page is not in the drawing.
    let with = text(&mut browser, "cdf", "svg").matches("<path").count();
    browser.value("document.querySelector('#k1').click()");
    let without = text(&mut browser, "cdf", "svg").matches("<path").count();
    assert!(with - without >= 1, "{with} and {without} curves");
}

#[test]
fn bars_of_a_drawing_have_the_lengths_of_the_doses() {
    let Some(mut browser) = opened() else { return };
    let svg = text(&mut browser, "dose-block", "svg");
    // Heights of all bars in pixels. The bars of doses come first, then the bars of reads.
    let attribute = |rect: &str, name: &str| -> f64 {
        let (_, rest) = rect.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{rect}"));
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let bars: Vec<(f64, f64)> = svg
        .split("<rect")
        .skip(2)
        .map(|rect| (attribute(rect, "width"), attribute(rect, "height")))
        .collect();
    assert_eq!(bars.len(), 128);
    let worst = bars[made::WORST].1;
    for (w, (width, height)) in bars.iter().take(64).enumerate() {
        let share = made::dose(2, 0, w) / made::dose(2, 0, made::WORST);
        assert!((height - share * worst).abs() < 0.1, "{w}: {height}");
        assert!(*width > 1.0, "{width}");
    }
}

#[test]
fn a_picture_has_twice_the_pixels_of_the_drawing() {
    let Some(mut browser) = opened() else { return };
    let svg = text(&mut browser, "dose-maps", "svg");
    let png = browser.saved("#dose-maps button[data-save=png]", "vpass-dose-maps.png");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let (width, height) = (number(16), number(20));
    let expected = format!("viewBox=\"0 0 {} {}\"", width / 2, height / 2);
    assert!(svg.contains(&expected), "{expected}: {}", &svg[..200]);
    if let Some(folder) = std::env::var_os("VPASS_SCREENSHOTS") {
        std::fs::write(std::path::Path::new(&folder).join("saved.png"), png).unwrap();
    }
}

#[test]
fn numbers_of_the_chosen_block_are_those_of_the_files() {
    let Some(mut browser) = opened() else { return };
    let (heading, rows) = rows(&text(&mut browser, "dose-block", "csv"));
    assert_eq!(
        heading.join(" "),
        "technique block wordline group guard_levels reads dose limit \
                                   valid_pages lost_pages"
    );
    assert_eq!(rows.len(), 64);
    for (w, row) in rows.iter().enumerate() {
        let expected = [
            LABELS[2].to_owned(),
            made::block(0).to_string(),
            w.to_string(),
            made::GROUPS[w % 4].to_owned(),
            "0".into(),
            made::reads(w).to_string(),
            made::dose(2, 0, w).to_string(),
            made::limit(w).to_string(),
            made::valid_pages(w).to_string(),
            "0".into(),
        ];
        assert_eq!(row[..], expected);
    }
}

#[test]
fn numbers_of_the_maps_are_those_of_the_files_to_half_a_percent() {
    let Some(mut browser) = opened() else { return };
    let (heading, rows) = rows(&text(&mut browser, "dose-maps", "csv"));
    assert_eq!(heading.join(" "), "technique rank block first_wordline share_of_limit state");
    // Seven of eight wordlines hold data.
    assert_eq!(rows.len(), 3 * made::BLOCKS * 56);
    for row in rows {
        let technique = LABELS.iter().position(|label| *label == row[0]).unwrap();
        let [rank, block, w]: [usize; 3] = std::array::from_fn(|i| row[i + 1].parse().unwrap());
        assert_eq!(block, made::block(rank - 1));
        let share = made::dose(technique, rank - 1, w) / made::limit(w);
        let (is_past, said) = (share > 1.0, row[4].parse().unwrap_or(f64::INFINITY));
        assert_eq!((row[4].as_str() == "above 1", row[5].as_str() == "past"), (is_past, is_past));
        assert!(is_past || (share - said).abs() <= 0.006, "{row:?}: {share}");
    }
}

#[test]
fn numbers_of_latencies_are_those_of_the_histogram() {
    let Some(mut browser) = opened() else { return };
    let (heading, rows) = rows(&text(&mut browser, "cdf", "csv"));
    assert_eq!(heading[0], "percentile");
    assert_eq!(heading[3], format!("{}_us", LABELS[2]));
    for row in rows {
        let percentile: f64 = row[0].parse().unwrap();
        // No read is slower than the last of 100,000 reads.
        let known = row[1..].iter().enumerate().filter(|(_, us)| !us.is_empty());
        assert!(percentile > 99.998 || known.clone().count() == 3, "{row:?}");
        for (i, us) in known {
            let [usual, slow] = made::latencies(i);
            let expected = if percentile <= 99.8 { usual } else { slow };
            let us: f64 = us.parse().unwrap();
            // The histogram keeps three digits.
            assert!((us / expected - 1.0).abs() < 0.002, "p{percentile}: {us}, {expected}");
        }
    }
}
