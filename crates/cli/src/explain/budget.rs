//! Error budget of the weakest page at each P/E count, as text.

use std::fmt::Write;

use vpass_drive::base::span::Span;
use vpass_lab::explain::{ErrorBudget, Left, PageBudget};
use vpass_lab::numbers::{count, days, digits, microseconds};

use crate::table::Table;

/// Returns two tables. The first table has the terms of the error rate: a base, a term for age and
/// a term for reads. The second table has the dose (read disturbance) that a page endures at each
/// age.
pub(super) fn words(budget: &ErrorBudget, colour: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "  RBER = base + age term + slope x dose; each row shows the weakest page (fewest reads \
         with fresh data); --json prints all pages"
    );
    if budget.acceleration.to_bits() != 1f64.to_bits() {
        let _ = writeln!(
            text,
            "  at error.temperature_c, data ages {} times as fast as at error.reference_c",
            digits(budget.acceleration)
        );
    }
    text.push_str(&terms(budget, colour));
    text.push('\n');
    text.push_str(&left(budget, colour));
    for page in weakest(budget).into_iter().filter(|page| !is_decoded(page)) {
        let first = budget.levels.first().map_or(0.0, |level| level.cap);
        let _ = writeln!(
            text,
            "  at {} P/E cycles, fresh data has RBER {}, but a first read (without retries) \
             decodes only up to RBER {}: vpass rejects a drive that can reach this P/E count",
            count(page.pec.into()),
            rber(page.base),
            rber(first)
        );
    }
    let _ = writeln!(
        text,
        "  without refresh, data older than {} is lost (error.longest_age)",
        budget.longest_age
    );
    text
}

/// Returns the weakest page at each P/E count. The fresh data of this page endures the smallest
/// dose (read disturbance).
fn weakest(budget: &ErrorBudget) -> Vec<&PageBudget> {
    let mut pages: Vec<&PageBudget> = vec![];
    for page in &budget.pages {
        let fresh = |page: &PageBudget| {
            page.levels.first().map_or(f64::NEG_INFINITY, |level| level.dose[0])
        };
        match pages.last_mut() {
            Some(last) if last.pec == page.pec => {
                if fresh(page) < fresh(last) {
                    *last = page;
                }
            }
            _ => pages.push(page),
        }
    }
    pages
}

/// Returns whether the first read decodes fresh data of this page, without a retry.
fn is_decoded(page: &PageBudget) -> bool {
    page.slope > 0.0
}

fn name(age: Span) -> String {
    if age.is_zero() { "fresh".into() } else { format!("at {age}") }
}

fn terms(budget: &ErrorBudget, colour: bool) -> String {
    let ages = budget.ages.iter().filter(|age| !age.is_zero());
    let head = ["P/E cycles", "group", "page kind", "base", "slope"].map(str::to_owned);
    let mut table =
        Table::new(head.into_iter().chain(ages.map(|age| format!("age adds {}", name(*age)))));
    for page in weakest(budget) {
        let added = page
            .retention
            .iter()
            .zip(&budget.ages)
            .filter(|(_, age)| !age.is_zero())
            .map(|(rate, _)| rber(*rate));
        let words = [
            count(page.pec.into()),
            page.group.clone(),
            page.page_kind.into(),
            rber(page.base),
            rber(page.slope),
        ];
        table.row(words.into_iter().chain(added));
    }
    table.render(colour)
}

fn left(budget: &ErrorBudget, colour: bool) -> String {
    let head = ["P/E cycles", "retries", "up to RBER", "takes"].map(str::to_owned);
    let ages = budget.ages.iter().map(|age| format!("dose left {}", name(*age)));
    let mut table = Table::new(head.into_iter().chain(ages).chain(["ends at".into()]));
    for page in weakest(budget).into_iter().filter(|page| is_decoded(page)) {
        for (level, left) in budget.levels.iter().zip(&page.levels) {
            let takes = level
                .takes_us
                .iter()
                .find(|(kind, _)| *kind == page.page_kind)
                .map_or(0.0, |(_, us)| *us);
            let words = [
                count(page.pec.into()),
                left.retries.to_string(),
                rber(level.cap),
                microseconds(takes),
            ];
            table.row(
                words
                    .into_iter()
                    .chain(left.dose.iter().map(|dose| dose_words(*dose)))
                    .chain([end(left)]),
            );
        }
    }
    table.render(colour)
}

fn rber(rate: f64) -> String {
    format!("{rate:.2e}")
}

fn dose_words(dose: f64) -> String {
    if dose < 0.0 { "none".into() } else { digits(dose) }
}

/// Returns, as text, the age at which an unread page needs more retries than the drive allows.
fn end(left: &Left) -> String {
    left.ends_days.map_or_else(|| "never".into(), days)
}
