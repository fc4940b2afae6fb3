//! Tests of other looks of the page: dark, narrow, printed, and without scripts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::chromium::Browser;
use crate::{made_page, opened};

const GROUND: &str = "getComputedStyle(document.body).backgroundColor";
/// Expression for the colour of a pixel in the first map. Its wordline is past its limit.
const FIRST_PIXEL: &str = "(async () => {
    const image = document.querySelector('.map img');
    await image.decode();
    const pen = document.createElement('canvas').getContext('2d');
    pen.drawImage(image, 0, -20);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
})()";

const LIGHT: [&str; 2] = ["rgb(247, 247, 245)", "[229,57,27]"];
const DARK: [&str; 2] = ["rgb(14, 17, 20)", "[255,90,54]"];

/// Waits until the background and the pictures have these colours. `past` is the colour of a
/// wordline past its limit.
fn wait_for_colours(browser: &mut Browser, [ground, past]: [&str; 2]) {
    browser.wait_for(&format!("{GROUND} === {ground:?}"));
    browser.wait_for(&format!("{FIRST_PIXEL}.then(c => JSON.stringify(c) === {past:?})"));
}

#[test]
fn colours_follow_the_system_and_the_button() {
    let Some(mut browser) = opened() else { return };
    wait_for_colours(&mut browser, LIGHT);
    browser.picture("light.png");
    browser.show_as("screen", "dark");
    wait_for_colours(&mut browser, DARK);
    browser.picture("dark.png");
    browser.value("document.querySelector('#theme').click()");
    wait_for_colours(&mut browser, LIGHT);
    browser.show_as("screen", "light");
    browser.value("document.querySelector('#theme').click()");
    wait_for_colours(&mut browser, DARK);
    // A printed page is light, even if the button selects the dark theme.
    browser.show_as("print", "light");
    wait_for_colours(&mut browser, ["rgb(255, 255, 255)", LIGHT[1]]);
}

#[test]
fn paper_has_no_controls_and_keeps_figures_whole() {
    let Some(mut browser) = opened() else { return };
    browser.show_as("print", "dark");
    wait_for_colours(&mut browser, ["rgb(255, 255, 255)", LIGHT[1]]);
    let controls = "[...document.querySelectorAll('button, select, .scrub, .read, summary')]\
                    .filter(e => e.getClientRects().length).length";
    assert_eq!(browser.value(controls), 0);
    // The chosen block is a figure, so it is printed.
    assert_eq!(browser.value("document.querySelector('#dtop').getClientRects().length"), 1);
    browser.picture("print.png");
    let options = json!({"printBackground": true, "paperWidth": 8.27, "paperHeight": 11.69});
    let answer = browser.ask("Page.printToPDF", &options);
    let pdf = STANDARD.decode(answer["data"].as_str().expect("a document")).expect("base64");
    assert!(pdf.starts_with(b"%PDF-"));
    if let Some(folder) = std::env::var_os("VPASS_SCREENSHOTS") {
        std::fs::write(std::path::Path::new(&folder).join("print.pdf"), pdf).unwrap();
    }
}

#[test]
fn nothing_is_wider_than_a_phone() {
    let Some(mut browser) = opened() else { return };
    browser.resize(400, 900);
    // Tables and command lines can scroll. Everything else must end at the edge of the window.
    let wide = "[...document.querySelectorAll('body *')].filter(e => \
                e.getBoundingClientRect().right > 400.5 && \
                !e.closest('.scroll, .keys, pre, .vis, svg')).map(e => e.outerHTML.slice(0, 120))";
    assert_eq!(browser.value(wide), json!([]));
    assert_eq!(browser.value("document.documentElement.scrollWidth"), 400);
    browser.picture("phone.png");
    browser.value("document.querySelectorAll('details').forEach(d => { d.open = true; })");
    browser.wait_for("document.querySelector('#dnum table')");
    assert_eq!(browser.value("document.documentElement.scrollWidth"), 400);
}

#[test]
fn without_scripts_no_control_is_left_over() {
    let Some(mut browser) = opened() else { return };
    browser.ask("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.go_to(&made_page(64), "");
    let controls = "[...document.querySelectorAll('button, select, .scrub, .read, .detail')]\
                    .filter(e => e.getClientRects().length).length";
    assert_eq!(browser.value(controls), 0);
    let maps = "[...document.querySelectorAll('.map img')].filter(i => i.naturalWidth).length";
    browser.wait_for(&format!("{maps} === 3"));
    assert_eq!(browser.value("document.querySelectorAll('#cdf path.ln').length"), 3);
    // The check boxes work without scripts.
    browser.value("document.querySelector('#k1').click()");
    let shown =
        "[...document.querySelectorAll('.s1')].filter(e => e.getClientRects().length).length";
    assert_eq!(browser.value(shown), 0);
    browser.picture("no-scripts.png");
}
