//! Tests of the part about doses: maps, the chosen block, its keys and its address.

use serde_json::{Value, json};

use crate::chromium::Browser;
use crate::made::{self, LABELS, WORST};
use crate::{attribute, made_page, opened, text_of};

/// Expression for the dose per percent of height in the upper chart, from two ticks of its axis.
/// Percentages count from the top.
const SCALE: &str = "(() => {
    const ticks = [...document.querySelectorAll('#dtop > text.end')].map(t =>
        [parseFloat(t.getAttribute('y')), t.textContent]);
    const value = text => parseFloat(text) * (text.endsWith('k') ? 1000 : 1);
    const [low, high] = [ticks[0], ticks.at(-1)];
    return (value(high[1]) - value(low[1])) / (low[0] - high[0]);
})()";

/// Returns the bars of a chart: the wordline, the colour or the class, and the height in percent.
fn heights(browser: &mut Browser, chart: &str) -> Vec<(usize, String, f64)> {
    let bars = format!(
        "[...document.querySelectorAll('{chart} [data-w]')].map(b => \
         [Number(b.dataset.w), b.getAttribute('fill') ?? b.getAttribute('class'), \
         parseFloat(b.getAttribute('height'))])"
    );
    let bars = browser.value(&bars);
    let bar = |b: &Value| {
        let class = b[1].as_str().unwrap().to_owned();
        (b[0].as_u64().unwrap() as usize, class, b[2].as_f64().unwrap())
    };
    bars.as_array().unwrap().iter().map(bar).collect()
}

#[test]
fn bars_and_line_have_the_doses_and_limits_of_the_files() {
    let Some(mut browser) = opened() else { return };
    // The third technique has the longest life, and its worst wordline stands out.
    let heading = text_of(&mut browser, "#dt");
    let expected = format!(
        "{}, block 7 at its worst moment (after 12.5 s, 9,000 page reads of the host, P/E 1,501)",
        LABELS[2]
    );
    assert_eq!(heading, expected);
    let unit = browser.value(SCALE).as_f64().unwrap();
    let bars = heights(&mut browser, "#dtop");
    assert_eq!(bars.len(), 64);
    for (w, class, height) in bars {
        let (dose, limit) = (made::dose(2, 0, w), made::limit(w));
        assert!((height * unit - dose).abs() < 0.01 * 70_000.0, "{w}: {height} x {unit}, {dose}");
        let step = format!("var(--h{})", (10.0 * dose / limit).floor());
        let expected = if made::valid_pages(w) > 0 { step.as_str() } else { "gone" };
        assert_eq!(class, expected, "{w}");
    }
    let most = f64::from(made::reads(19));
    for (w, class, height) in heights(&mut browser, "#dbot") {
        let share = 100.0 * f64::from(made::reads(w)) / most;
        assert!((height - share).abs() < 0.01, "{w}: {height}, {share}");
        let beside = w + 1 == WORST || w == WORST + 1;
        assert_eq!(class.contains("hot"), beside, "{w}");
    }
    // The line of limits has one step per wordline. Its heights are in thousandths from the top.
    let path = attribute(&mut browser, "#dtop .lim", "d");
    let steps: Vec<f64> = path
        .split(['M', 'V', 'H'])
        .skip(1)
        .step_by(2)
        .map(|step| step.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(steps.len(), 64);
    for (w, from_top) in steps.into_iter().enumerate() {
        let limit = (1000.0 - from_top) / 10.0 * unit;
        assert!((limit - made::limit(w)).abs() < 700.0, "{w}: {limit}");
    }
}

#[test]
fn the_readout_says_what_the_worst_wordline_endured() {
    let Some(mut browser) = opened() else { return };
    let said = attribute(&mut browser, "#dw", "aria-valuetext");
    assert_eq!(
        said,
        "wordline 20; group best; 3 pages of data; dose 63,000 of 70,000: 90 %; itself read 0 \
         times, its neighbours 3,044 and 2,986 times; a read of a neighbour adds 9.0, a read \
         elsewhere 1"
    );
    browser.value("document.querySelector('#dw').focus()");
    browser.press("ArrowRight");
    let said = attribute(&mut browser, "#dw", "aria-valuetext");
    assert!(
        said.starts_with("wordline 21; group good; 3 pages of data; dose 5,400 of 60,000: 9.0 %"),
        "{said}"
    );
    // Wordline 23 holds no data.
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let said = text_of(&mut browser, "#dread");
    assert!(said.contains("wordline 23") && said.contains("without data"), "{said}");
}

#[test]
fn keys_and_clicks_on_a_map_choose_a_block() {
    let Some(mut browser) = opened() else { return };
    let heading = |browser: &mut Browser, start: &str| {
        browser
            .wait_for(&format!("document.querySelector('#dt').textContent.startsWith({start:?})"));
    };
    browser.value("document.querySelector('.map[data-t=\"1\"] .box').focus()");
    browser.press("ArrowRight");
    heading(&mut browser, "block, block 10 ");
    assert_eq!(attribute(&mut browser, ".map[data-t=\"1\"] .box", "aria-valuenow"), "2");
    assert_eq!(
        attribute(&mut browser, ".map[data-t=\"1\"] .box", "aria-valuetext"),
        "block 10, worst wordline at 15 %"
    );
    assert_eq!(browser.value("location.hash"), "#dose=block,10");
    browser.press("End");
    let last = format!("block, block {} ", made::block(made::BLOCKS - 1));
    heading(&mut browser, &last);
    browser.press("ArrowRight");
    heading(&mut browser, &last);
    // The chosen column has a frame. The other maps have no frame.
    let frames = "[...document.querySelectorAll('.map .sel')].map(s => s.childElementCount)";
    assert_eq!(browser.value(frames), json!([0, 1, 0]));
    // Clicks on a column of the first map.
    let place = browser.value(
        "(() => { const i = document.querySelector('.map img'); \
         i.scrollIntoView({block: 'center'}); const b = i.getBoundingClientRect(); \
         return [b.left, b.width, b.top + b.height / 2]; })()",
    );
    let of = |i: usize| place[i].as_f64().unwrap();
    browser.point(of(0) + of(1) * 4.5 / 40.0, of(2), true);
    heading(&mut browser, &format!("none, block {} ", made::block(4)));
    // This block has lost data, and a dose far past the limit.
    let said = attribute(&mut browser, "#dw", "aria-valuetext");
    assert!(said.contains("3 pages of data lost; dose 193,200 of 70,000: 276 %"), "{said}");
    browser.value("document.querySelector('#pn').click()");
    heading(&mut browser, &format!("none, block {} ", made::block(5)));
    // The address names the block, and an address with a block shows this block.
    let page = made_page(64);
    browser.go_to(&page, &format!("#dose=block,{}", made::block(7)));
    heading(&mut browser, &format!("block, block {} ", made::block(7)));
    browser.go_to(&page, "#dose=block,999999");
    heading(&mut browser, LABELS[2]);
    assert!(browser.noted.iter().all(|event| event["method"] == "Network.requestWillBeSent"));
}

#[test]
fn a_large_block_has_a_window_that_follows_the_slider() {
    let Some(mut browser) = Browser::open(&made_page(1000)) else { return };
    browser.wait_for("document.querySelector('#dtop')");
    let shown = |browser: &mut Browser| {
        let bars = heights(browser, "#dtop");
        (bars[0].0, bars.len())
    };
    // Wordline 20 of 1,000 is at 2 % of the block. In the window of 128 wordlines, it is also at
    // about 2 %.
    assert_eq!(shown(&mut browser), (17, 128));
    let labels = "[...document.querySelectorAll('#dbot > text.mid')].map(t => t.textContent)";
    assert_eq!(browser.value(labels)[0], "17");
    browser.value("document.querySelector('#dw').focus()");
    browser.press("End");
    assert_eq!(shown(&mut browser), (872, 128));
    assert!(text_of(&mut browser, "#dread").starts_with("wordline 999"));
    let part = text_of(&mut browser, "#dplot .xlab2");
    assert!(part.ends_with("872 to 999 of 1,000"), "{part}");
    // A bin of the map shows the worst of its eight wordlines. A map has at most 128 bins.
    let size = "(i => [i.naturalWidth, i.naturalHeight])(document.querySelector('.map img'))";
    assert_eq!(browser.value(size), json!([40, 125]));
}

#[test]
fn maps_have_the_colours_of_the_doses() {
    let Some(mut browser) = opened() else { return };
    let pixels = "(() => {
        const image = document.querySelector('.map img');
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        const pen = canvas.getContext('2d');
        pen.drawImage(image, 0, 0);
        const at = (x, y) => [...pen.getImageData(x, y, 1, 1).data].slice(0, 3);
        return [at(0, 20), at(39, 20), at(0, 7), at(0, 8)];
    })()";
    // The pixels are: past the limit, at 66 % of the limit, without data, and at 30 % of the limit.
    let colours = browser.value(pixels);
    assert_eq!(colours[0], json!([0xe5, 0x39, 0x1b]));
    assert_eq!(colours[2], json!([255, 255, 255]));
    // A ratio of 0.3 is level 59 of 199. Level 59 lies at 0.668 of the way from the third to the
    // fourth colour of the style sheet.
    assert_eq!(colours[3], json!([145, 204, 201]));
    let dark = |colour: &Value| {
        colour.as_array().unwrap().iter().map(|c| c.as_u64().unwrap()).sum::<u64>()
    };
    assert!(dark(&colours[1]) < dark(&colours[3]), "{colours}");
}
