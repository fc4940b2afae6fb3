//! Tests of the page in a browser: what its charts show, what its controls do, what it saves, and
//! that it sends no requests. Without chromium, these tests say so and pass.
//!
//! If `VPASS_SCREENSHOTS=DIR` is set, the tests write pictures of the page in every look into this
//! folder.

mod chromium;
mod doses;
mod looks;
mod made;
mod saving;

use chromium::Browser;
use made::LABELS;
use serde_json::Value;
use vpass_report::page::page;

/// Returns the page of the results that [`made`] makes.
fn made_page(wordlines: usize) -> String {
    page(&[made::results(wordlines)]).unwrap_or_else(|e| panic!("{e}"))
}

/// Opens the page of blocks with 64 wordlines, and waits until the chosen block is drawn.
fn opened() -> Option<Browser> {
    let mut browser = Browser::open(&made_page(64))?;
    browser.wait_for("document.querySelector('#dtop')");
    Some(browser)
}

/// Returns the text of the first element that matches a selector.
fn text_of(browser: &mut Browser, selector: &str) -> String {
    let text = browser.text(&format!("document.querySelector({selector:?}).textContent"));
    text.replace('\u{a0}', " ")
}

/// Returns an attribute of the first element that matches a selector.
fn attribute(browser: &mut Browser, selector: &str, name: &str) -> String {
    let expression = format!("document.querySelector({selector:?}).getAttribute({name:?})");
    browser.text(&expression).replace('\u{a0}', " ")
}

#[test]
fn the_page_asks_for_nothing_and_complains_of_nothing() {
    let Some(mut browser) = opened() else { return };
    let urls = |browser: &Browser, begin: &str| {
        let url = |event: &Value| event["params"]["request"]["url"].as_str().map(str::to_owned);
        browser.noted.iter().filter_map(url).filter(|url| url.starts_with(begin)).count()
    };
    // The page loads only its own file and pictures inside it, and the browser has no complaint.
    let (files, inside) = (urls(&browser, "file:///"), urls(&browser, "data:"));
    assert_eq!((files, browser.noted.len()), (1, files + inside), "{:#?}", browser.noted);
    // The page has two scripts: the data and the code. A label with a script tag does not become a
    // third script.
    assert_eq!(browser.value("document.scripts.length"), 2);
    let policy = attribute(&mut browser, "meta[http-equiv]", "content");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(browser.value("document.querySelectorAll('[style]').length"), 0);
}

#[test]
fn labels_and_groups_appear_as_they_are() {
    let Some(mut browser) = opened() else { return };
    let options = "[...document.querySelectorAll('#pt option')].map(o => o.textContent)";
    assert_eq!(browser.value(options), serde_json::json!(LABELS));
    let heading = text_of(&mut browser, "#dt");
    assert!(heading.starts_with(LABELS[2]), "{heading}");
    browser.value(
        "(w => { w.value = 19; w.dispatchEvent(new Event('input')); })\
         (document.querySelector('#dw'))",
    );
    let said = attribute(&mut browser, "#dw", "aria-valuetext");
    assert!(said.contains("group <b>worst</b>;"), "{said}");
}

#[test]
fn a_chip_hides_a_technique_in_every_chart_by_mouse_and_by_key() {
    let Some(mut browser) = opened() else { return };
    let shown =
        "[...document.querySelectorAll('.s1')].filter(e => e.getClientRects().length).length";
    let others =
        "[...document.querySelectorAll('.s2')].filter(e => e.getClientRects().length).length";
    let (before, beside) = (browser.value(shown), browser.value(others));
    // A technique is drawn at least in maps, life, two charts of latency, wear and cost.
    assert!(before.as_u64().unwrap() >= 6, "{before}");
    browser.value("document.querySelector('label:has(#k1)').click()");
    assert_eq!((browser.value(shown), browser.value(others)), (0.into(), beside));
    browser.value("document.querySelector('#k1').focus()");
    browser.press(" ");
    assert_eq!(browser.value(shown), before);
}

#[test]
fn the_crosshair_reads_latencies_by_slider_and_by_pointer() {
    let Some(mut browser) = opened() else { return };
    // The usual latency applies to 998 of 1,000 reads, so p99.9 is the slow latency.
    browser.value("document.querySelector('#cdf .scrub').focus()");
    browser.press("End");
    let said = attribute(&mut browser, "#cdf .scrub", "aria-valuetext");
    for (label, slow) in LABELS.iter().zip(["5.00 ms", "10.0 ms", "15.0 ms"]) {
        assert!(said.contains(&format!("{label} {slow}")), "{said}");
    }
    let at_pointer = |browser: &mut Browser, share: f64| {
        let place = "(() => { const p = document.querySelector('#cdf .plot'); \
                     p.scrollIntoView({block: 'center'}); const b = p.getBoundingClientRect(); \
                     return [b.left, b.width, b.top + b.height / 2]; })()";
        let place = browser.value(place);
        let of = |i: usize| place[i].as_f64().unwrap();
        browser.point(of(0) + share * of(1), of(2), false);
        text_of(browser, "#cdf .read")
    };
    let left = at_pointer(&mut browser, 0.02);
    assert!(left.contains("100 µs") && left.contains("200 µs"), "{left}");
    let right = at_pointer(&mut browser, 0.98);
    assert!(right.contains("5.00 ms") && right.contains("10.0 ms"), "{right}");
    // Both crosshairs of the part about time are at the place of the slider.
    browser.value("document.querySelector('#time .scrub').focus()");
    browser.press("End");
    let lines = "[...document.querySelectorAll('#time .cross')]\
                 .map(l => parseFloat(l.getAttribute('x1')) > 95)";
    assert_eq!(browser.value(lines), serde_json::json!([true, true]));
    let said = attribute(&mut browser, "#time .scrub", "aria-valuetext");
    assert!(said.contains("2,000 pages/s") && said.contains("500 pages/s"), "{said}");
}
