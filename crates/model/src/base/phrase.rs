//! Text in which options of a run are data. A dialect words them, because only the caller knows how
//! its user names an option: `--gear untimed` on a command line, `gear="untimed"` in Python.
//!
//! Without a dialect, options have neutral words: `gear=untimed`.

use std::borrow::Cow;
use std::fmt::{self, Debug, Display};

use crate::base::named::named;

named! {
    /// Option of a run or of another task. A name has `_` between its words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Opt {
        /// P/E cycles of further drives.
        Ages = "ages",
        /// Direction of the requests of a trace without directions.
        AssumeOp = "assume_op",
        /// Rate of a trace without times.
        AssumeRate = "assume_rate",
        /// Event of a blktrace text that counts as a request.
        BlkAction = "blk_action",
        /// Columns of a trace in the text of another tool.
        Columns = "columns",
        /// Whether the files of a trace follow each other.
        Concat = "concat",
        /// Drive.
        Drive = "drive",
        /// Endurance of a data sheet, in drive writes per day.
        Dwpd = "dwpd",
        /// Failures to inject.
        Fail = "fail",
        /// Treatment of addresses beyond the drive.
        Fit = "fit",
        /// Format of a trace.
        Format = "format",
        /// Gear.
        Gear = "gear",
        /// File with hints of the host.
        Hints = "hints",
        /// Host link of a data sheet.
        Interface = "interface",
        /// Whether the recordings in a file of a trace follow each other.
        JoinRecordings = "join_recordings",
        /// Language model.
        Model = "model",
        /// Devices of a trace that are used.
        Only = "only",
        /// Level of the oracle.
        Oracle = "oracle",
        /// Results folder.
        Out = "out",
        /// Parity technique.
        Parity = "parity",
        /// Queue depth.
        QueueDepth = "queue_depth",
        /// Random reads per second of a data sheet.
        RandomReadIops = "random_read_iops",
        /// Random writes per second of a data sheet.
        RandomWriteIops = "random_write_iops",
        /// Refresh technique.
        Refresh = "refresh",
        /// Number of passes.
        Repeat = "repeat",
        /// Rung of the ladder of accuracy.
        Rung = "rung",
        /// Sample of the drive.
        Sample = "sample",
        /// First seed.
        Seed = "seed",
        /// Number of seeds.
        Seeds = "seeds",
        /// Sequential read rate of a data sheet.
        SequentialRead = "sequential_read",
        /// Sequential write rate of a data sheet.
        SequentialWrite = "sequential_write",
        /// Values of keys.
        Set = "set",
        /// Whether lines of a trace that cannot be read are skipped.
        SkipBadLines = "skip_bad_lines",
        /// Speed of a trace.
        Speed = "speed",
        /// Whether requests of a trace must be in order.
        Strict = "strict",
        /// Endurance of a data sheet, in terabytes written.
        Tbw = "tbw",
        /// Unit of a trace's times.
        TimeUnit = "time_unit",
        /// Files of a trace.
        Trace = "trace",
        /// UBER that ends a life.
        Uber = "uber",
        /// Condition that ends a repeated run.
        Until = "until",
        /// Requests before counting begins.
        WarmUp = "warm_up",
        /// Workload.
        Workload = "workload",
        /// Years that end a life.
        Years = "years",
    }
}

impl Opt {
    /// Returns the option with a value.
    pub fn to(self, value: impl Display) -> Part {
        Part::Choice(self, value.to_string())
    }
}

/// Returns a setting of a key of a drive or workload file, such as `bch.target=uber`. Without a
/// value, the setting clears the key.
pub fn set(key: &str, value: impl Display) -> Part {
    Part::Setting(format!("{key}={value}"))
}

/// Part of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words that are the same for all callers.
    Text(Cow<'static, str>),
    /// Name of an option.
    Option(Opt),
    /// Option with a value.
    Choice(Opt, String),
    /// Setting of a key: `KEY=VALUE`, or text that should be one.
    Setting(String),
}

impl From<&'static str> for Part {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<fmt::Arguments<'_>> for Part {
    fn from(text: fmt::Arguments<'_>) -> Self {
        text.to_string().into()
    }
}

impl From<Opt> for Part {
    fn from(option: Opt) -> Self {
        Self::Option(option)
    }
}

/// Words of a caller for options and settings.
pub trait Dialect: Debug + Sync {
    /// Returns the name of an option.
    fn option(&self, option: Opt) -> String;

    /// Returns an option with its value.
    fn choice(&self, option: Opt, value: &str) -> String;

    /// Returns a setting `KEY=VALUE`.
    fn setting(&self, setting: &str) -> String;
}

/// Compares the words for one option.
impl PartialEq for dyn Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.choice(Opt::QueueDepth, "1") == other.choice(Opt::QueueDepth, "1")
    }
}

/// Dialect of callers without words of their own. It names options in backticks: `gear=untimed`.
#[derive(Clone, Copy, Debug)]
pub struct Neutral;

impl Dialect for Neutral {
    fn option(&self, option: Opt) -> String {
        format!("`{}`", option.name())
    }

    fn choice(&self, option: Opt, value: &str) -> String {
        format!("`{}={value}`", option.name())
    }

    fn setting(&self, setting: &str) -> String {
        format!("`{setting}`")
    }
}

/// Text made of parts. Its `Display` has neutral words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase(Vec<Part>);

impl<T: Into<Part>> From<T> for Phrase {
    fn from(part: T) -> Self {
        Self(vec![part.into()])
    }
}

impl Phrase {
    /// Adds words, a part or another phrase.
    pub fn push(&mut self, more: impl Into<Self>) {
        for part in more.into().0 {
            match (self.0.last_mut(), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.to_mut().push_str(&more),
                (_, part) => self.0.push(part),
            }
        }
    }

    /// Returns the options and settings that the text names.
    pub fn named(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(|part| !matches!(part, Part::Text(_)))
    }

    /// Returns the text in the words of a dialect.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let word = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Option(option) => dialect.option(*option),
            Part::Choice(option, value) => dialect.choice(*option, value),
            Part::Setting(setting) => dialect.setting(setting),
        };
        self.0.iter().map(word).collect()
    }

    /// Returns the phrase with an upper-case first letter, if it begins with words.
    #[must_use]
    pub fn capitalised(mut self) -> Self {
        if let Some(Part::Text(text)) = self.0.first_mut() {
            let mut rest = text.chars();
            let first = rest.next().into_iter().flat_map(char::to_uppercase);
            *text = first.chain(rest).collect::<String>().into();
        }
        self
    }

    /// Returns the first part; `None` if the phrase is empty.
    pub fn first(&self) -> Option<&Part> {
        self.0.first()
    }
}

impl Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_dialect(&Neutral))
    }
}

/// Compares the neutral words.
impl PartialEq<&str> for Phrase {
    fn eq(&self, words: &&str) -> bool {
        self.in_dialect(&Neutral) == *words
    }
}

/// Makes a [`Phrase`] of pieces: literals, which may capture variables as in `format!`, and
/// expressions that are words, options, settings or phrases.
#[macro_export]
macro_rules! phrase {
    (@of $phrase:ident) => {};
    (@of $phrase:ident $text:literal $(, $($rest:tt)*)?) => {
        $phrase.push(format!($text));
        $($crate::phrase!(@of $phrase $($rest)*);)?
    };
    (@of $phrase:ident $piece:expr $(, $($rest:tt)*)?) => {
        $phrase.push($piece);
        $($crate::phrase!(@of $phrase $($rest)*);)?
    };
    ($($pieces:tt)+) => {{
        let mut phrase = $crate::base::phrase::Phrase::default();
        $crate::phrase!(@of phrase $($pieces)+);
        phrase
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_options_as_data_and_neutral_words() {
        let name = "tiny";
        let inner = phrase!["use ", Opt::Gear.to("untimed"), " or ", set("bch.target", "uber")];
        let phrase = phrase!["{name}: ", inner, ", without {{ }}", String::from(" {name}")];
        let words = "tiny: use `gear=untimed` or `bch.target=uber`, without { } {name}";
        assert_eq!(phrase.to_string(), words);
        let named: Vec<&Part> = phrase.named().collect();
        assert_eq!(named, [&Opt::Gear.to("untimed"), &set("bch.target", "uber")]);
    }

    #[test]
    fn adjacent_words_are_one_part() {
        assert_eq!(phrase!["a", "b", String::from("c")], Phrase::from("abc"));
    }
}
