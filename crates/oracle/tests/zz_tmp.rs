#![allow(clippy::all, clippy::pedantic, clippy::print_stdout, missing_docs)]
use vpass_oracle::swarm::Case;
#[test]
fn clean() {
    let n = |k: &str, d: u64| std::env::var(k).map_or(d, |v| v.parse().unwrap());
    let (from, count) = (n("FROM", 0), n("COUNT", 300));
    std::panic::set_hook(Box::new(|_| {}));
    let mut bad = 0;
    for seed in from..from + count {
        if let Err(e) = Case::new(seed).run() {
            bad += 1;
            if bad < 40 {
                println!("case {seed}: {}", e.chars().take(600).collect::<String>());
            }
        }
    }
    println!("{bad} of {count} bad");
}
#[cfg(feature = "seeded-bugs")]
#[test]
fn bugs() {
    let names = std::env::var("BUGS").unwrap_or_default();
    let n = |k: &str, d: u64| std::env::var(k).map_or(d, |v| v.parse().unwrap());
    std::panic::set_hook(Box::new(|_| {}));
    for bug in vpass_core::bugs::Bug::ALL {
        if !names.split(',').any(|x| x == format!("{bug:?}")) {
            continue;
        }
        let mut hit = None;
        for seed in n("FROM", 0)..n("COUNT", 600) {
            let mut case = Case::new(seed).with(bug);
            if let Ok(t) = std::env::var("BATTERY") {
                case = case.under(vpass_core::reclaim::technique(&t).unwrap());
            }
            if let Err(e) = case.run() {
                hit = Some((seed, e));
                break;
            }
        }
        println!("{bug:?}: {}", hit.map_or("NOT FOUND".into(), |(s, e)| format!("{s}: {}", e.chars().take(420).collect::<String>())));
    }
}
