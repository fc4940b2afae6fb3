//! Calls whose output shows the names that programs read, from `calls.txt`.

/// Short names in `calls.txt`, with the arguments that replace them.
pub(crate) const SHORT: [(&str, &str); 2] = [
    ("PARITY", "--set drive.capacity=256MiB --set drive.spare=0.75 --set parity.stripe=3"),
    ("LIFE", "--drive tiny --workload zipf-read --set workload.rate=10000 --set drive.rated_pec=5"),
];

/// Call, with its title.
pub(crate) type Call = (&'static str, &'static str);

fn all() -> impl Iterator<Item = Call> {
    let lines = include_str!("calls.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

/// Returns the calls that print names, with their titles in the snapshot.
pub(crate) fn of_names() -> Vec<Call> {
    all().filter(|(title, _)| !title.starts_with("exit ")).collect()
}

/// Returns calls with their exit codes and cases.
pub(crate) fn of_codes() -> Vec<(&'static str, Call)> {
    let codes = all().filter_map(|(title, call)| Some((title.strip_prefix("exit ")?, call)));
    codes
        .map(|(title, call)| {
            let (code, case) = title.split_once(", ").expect("a code and a case");
            (code, (case, call))
        })
        .collect()
}
