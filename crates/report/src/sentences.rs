//! Sentences of the page, each a function of the numbers. They are markup: names are escaped.

pub mod absent;
pub mod cost;
pub mod latency;
pub mod life;
pub mod paper;
pub mod verdict;
pub mod wear;

/// Returns names as a list: "a", "a and b", "a, b and c".
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
