//! Part 7 of the page: the slowest reads and the rewritten pages over simulated time. The two
//! charts share one crosshair.

use serde_json::json;
use vpass_lab::failure::Failure;

use crate::chart::{CROSS, Chart};
use crate::model::Model;
use crate::numbers::{seconds, short, three_digits, trimmed, us};
use crate::scale::{Scale, ends};
use crate::section::{Figure, Section, bold, code, scrubbed, untimed};
use crate::table::Table;
use crate::windows::{Course, WINDOWS};

const TITLE: &str = "Latency and reclaim over time";
const HEIGHT: u32 = 190;
const HEIGHT_OF_REWRITES: u32 = 90;

/// Returns the page section about simulated time.
///
/// # Errors
/// Returns an error for a file that cannot be read.
pub(crate) fn section(model: &Model) -> Result<Section, Failure> {
    let courses: Vec<Option<Course>> =
        model.rows.iter().map(Course::of).collect::<Result<_, _>>()?;
    let Some((_, longest)) = ends(courses.iter().flatten().map(|course| course.seconds)) else {
        let file = "series.csv with simulated seconds";
        return Ok(untimed("time", TITLE, &model.about.gear, "a clock", file));
    };
    let x = Scale::linear(0.0, longest, 6, seconds);
    let has_tails = courses.iter().flatten().any(|c| c.p99_9_us.iter().any(Option::is_some));
    let tails = if has_tails {
        format!(
            "<p class=\"unit\">Read p99.9 in each of 80 equal parts of the run</p>{}",
            tails(model, &courses, &x)
        )
    } else {
        "<p class=\"say\">The chart of the read tail is absent: the folder has no latency.csv.</p>"
            .into()
    };
    let charts = format!(
        "{tails}<p class=\"unit\">Pages per second rewritten because of reads</p>{}",
        rewrites(&courses, &x)
    );
    let of = |value: fn(&Course) -> serde_json::Value| {
        courses.iter().map(|c| c.as_ref().map(value)).collect::<Vec<_>>()
    };
    let data = json!({
        "max": longest,
        "T": of(|c| c.seconds.into()),
        "y": of(|c| json!(c.p99_9_us)),
        "r": of(|c| c.rewrites.iter().map(|r| three_digits(*r)).collect()),
    });
    let lengths: Vec<f64> =
        courses.iter().map(|c| c.as_ref().map_or(f64::NAN, |c| c.seconds)).collect();
    let figure = Figure {
        id: "time",
        title: TITLE,
        say: duration(model, &lengths),
        body: scrubbed("time", &charts, (WINDOWS / 3, WINDOWS - 1), "Time"),
        source: "x: simulated time. Sources: latency.csv (tail), series.csv (rewritten pages)",
        table: table(model, &courses),
    };
    Ok(figure.section(vec![("time", data)]))
}

/// Describes how much simulated time the runs took. `lengths` has the simulated seconds of each
/// technique that charts show.
fn duration(model: &Model, lengths: &[f64]) -> String {
    let safe = model.rows.iter().zip(lengths).filter(|(row, _)| row.kept_data());
    let longest = safe.clone().max_by(|a, b| a.1.total_cmp(b.1));
    let shortest = safe.min_by(|a, b| a.1.total_cmp(b.1));
    match longest.zip(shortest) {
        Some(((slow, long), (fast, short))) if *long > 1.01 * short => format!(
            "The same requests take {} under {} and {} under {}. In the chart, each line ends \
             where its run ends.",
            bold(&seconds(*long)),
            code(&slow.label),
            bold(&seconds(*short)),
            code(&fast.label)
        ),
        Some(((_, long), _)) => format!("The requests take {}.", bold(&seconds(*long))),
        None => "Every technique lost data.".into(),
    }
}

/// Returns the time in a window, in seconds. `part` is 0 at its start and 1 at its end.
fn at(window: usize, part: f64, course: &Course) -> f64 {
    (window as f64 + part) / WINDOWS as f64 * course.seconds
}

/// Returns the chart of the p99.9 of read latency. Bands show the ranges over the seeds.
fn tails(model: &Model, courses: &[Option<Course>], x: &Scale) -> String {
    let known = courses.iter().flatten();
    let y = Scale::log_around(known.flat_map(|c| c.p99_9_us.iter().copied().flatten()), us);
    let mut chart = Chart::new(HEIGHT, x, &y);
    for (i, (row, course)) in model.rows.iter().zip(courses).enumerate() {
        let Some(course) = course else { continue };
        let mut ranges = vec![];
        for (w, range) in course.range_us.iter().enumerate() {
            ranges.extend(range.map(|(low, high)| (at(w, 0.5, course), low, high)));
        }
        chart.band(i, &ranges);
        let points = course.p99_9_us.iter().enumerate().map(|(w, us)| (at(w, 0.5, course), *us));
        chart.line(i, &row.label, &points.collect::<Vec<_>>());
    }
    chart.markup(CROSS);
    let said = "Read p99.9 over simulated time, on a logarithmic axis; the numbers are in the \
        table below";
    chart.svg(false, said)
}

/// Returns the chart of the rewritten pages. The curves of this chart are drawn as steps.
fn rewrites(courses: &[Option<Course>], x: &Scale) -> String {
    let most = ends(courses.iter().flatten().flat_map(|c| c.rewrites.iter().copied()));
    let y = Scale::linear(0.0, 1.05 * most.map_or(1.0, |ends| ends.1), 3, short);
    let mut chart = Chart::new(HEIGHT_OF_REWRITES, x, &y);
    for (i, course) in courses.iter().enumerate() {
        let Some(course) = course else { continue };
        let step =
            |(w, rate): (usize, &f64)| [0.0, 1.0].map(|part| (at(w, part, course), Some(*rate)));
        let steps = course.rewrites.iter().enumerate().flat_map(step);
        chart.line(i, "", &steps.collect::<Vec<_>>());
    }
    chart.markup(CROSS);
    let said = "Number of pages rewritten per second because of reads, over simulated time; the \
        numbers are in the table below";
    chart.svg(true, said)
}

fn table(model: &Model, courses: &[Option<Course>]) -> String {
    let mut table = Table::new([
        "technique",
        "duration",
        "median p99.9 of a window",
        "highest",
        "pages rewritten a second",
    ]);
    for (row, course) in model.rows.iter().zip(courses) {
        let Some(course) = course else { continue };
        let mut tails: Vec<f64> = course.p99_9_us.iter().copied().flatten().collect();
        tails.sort_by(f64::total_cmp);
        let text = |value: Option<&f64>| value.map_or_else(|| "–".into(), |v| us(*v));
        let rate = course.rewrites.iter().sum::<f64>() / WINDOWS as f64;
        table.row([
            row.label.clone(),
            seconds(course.seconds),
            text(tails.get(tails.len() / 2)),
            text(tails.last()),
            trimmed(rate),
        ]);
    }
    table.html("Latency and reclaim over time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use crate::testing::{folder, json};

    #[test]
    fn runs_of_one_length_are_said_once_and_lost_data_does_not_count() {
        let model = crate::testing::compared();
        assert_eq!(duration(&model, &[1.0, 30.0, 30.1]), "The requests take <b>30.1\u{a0}s</b>.");
        assert_eq!(
            duration(&model, &[1.0, 41.4, 30.3]),
            "The same requests take <b>41.4\u{a0}s</b> under <code>block</code> and \
             <b>30.3\u{a0}s</b> under <code>straw-wl</code>. In the chart, each line ends where \
             its run ends."
        );
    }

    #[test]
    fn small_rates_of_rewritten_pages_are_not_rounded_to_zero() {
        // 6,298 pages in 8.45 hours are 0.207 pages per second.
        let mut json = json();
        for technique in json["techniques"].as_array_mut().unwrap() {
            technique["runs"][0]["simulation"]["simulated_s"] = 30_420.0.into();
        }
        let mut folder = folder(&json);
        let series = "simulated_s,programs_reclaim_pages\n30420,6298\n";
        let files = [("series.csv".to_owned(), series.as_bytes().to_vec())];
        folder.put("block", Folder::of_files("results/block", files));
        let section = section(&Model::read(&[folder]).unwrap()).unwrap();
        assert!(section.html.contains(">0.207</td>"), "{}", section.html);
        let rate = section.data[0].1["r"][1][40].as_f64().unwrap();
        assert!((rate - 0.207).abs() < 1e-12, "{rate}");
    }
}
