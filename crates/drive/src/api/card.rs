//! Description of a technique as data: name, guarantee, needs, parameters and constructor. All
//! slots use the same description.

use std::fmt;
use std::ops::Deref;

use super::brought::List;
use super::fault;
use super::seed::Seed;
use crate::base::span::Span;
use crate::config::keys::Range;
use crate::config::{ConfigError, DriveConfig, Number, Params};

/// Technique of the slot whose techniques have the trait `P`.
pub struct Card<P: InSlot + ?Sized + 'static> {
    /// Description without the constructor.
    pub about: About,
    /// Constructor of the technique.
    pub new: New<P>,
}

/// Constructor from arguments, for a drive of this configuration. The seed decides its random
/// draws.
pub enum New<P: InSlot + ?Sized + 'static> {
    /// Function of a technique in the list of its slot.
    Listed(fn(&Args, &DriveConfig, Seed) -> Box<P>),
    /// Closure of a technique that was made at run time. The drive checks its answers.
    Given(&'static Constructor<P>),
}

impl<P: InSlot + ?Sized> Clone for New<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: InSlot + ?Sized> Copy for New<P> {}

/// Closure that makes a technique.
pub type Constructor<P> = dyn Fn(&Args, &DriveConfig, Seed) -> Box<P> + Send + Sync;

/// Description of a technique that is available without constructing it.
pub struct About {
    /// Name on the command line. It reads well in "protected by ...".
    pub name: &'static str,
    /// Summary of one line for lists.
    pub summary: &'static str,
    /// Publication of the technique, in short; empty if there is none.
    pub paper: &'static str,
    /// Degree of protection of data. If a page is lost in spite of this protection, tests report a
    /// bug.
    pub protects: Protection,
    /// Whether the technique keeps data separate in its own streams. These streams need more spare
    /// blocks. The technique must first find out which data belongs there.
    pub keeps_apart: bool,
    /// Whether the technique gives wordlines guard levels, which means fewer page kinds and larger
    /// limits.
    pub lowers_density: bool,
    /// Requirements of the technique.
    pub needs: Needs,
    /// Effect of reads in bulk on the technique.
    pub in_bulk: InBulk,
    /// Parameters of the technique.
    pub params: &'static [Param],
    /// Change of the drive's flash for the run. Only counterfactual techniques have one.
    pub nature: Option<fn(&mut DriveConfig)>,
    /// Whether parity depends on wear under the technique.
    pub goes_by_wear: bool,
    /// Techniques of other slots that belong to the technique, if a run names none.
    pub parts: Option<Parts>,
    /// Refusal of drives on which the technique cannot work, in addition to [`Self::needs`].
    pub refuses: Option<Refusal>,
    /// Check of the given parameters against each other. It may fill in a parameter that was not
    /// given.
    pub settles: Option<Settling>,
}

/// Function that refuses a drive, with a sentence that has the key.
pub type Refusal = fn(&DriveConfig) -> Result<(), ConfigError>;

/// Function that checks given parameters against each other. It may fill in one that was not given.
pub type Settling = fn(&mut Params) -> Result<(), ConfigError>;

/// Techniques of other slots that belong to a technique.
pub struct Parts {
    /// Name of the reclaim technique.
    pub reclaim: &'static str,
    /// Name of the refresh technique.
    pub refresh: &'static str,
    /// Period of the refresh technique; `None` if it does not follow from the drive's limits.
    pub period: fn(&DriveConfig) -> Option<Span>,
}

/// Degree to which a technique protects data from reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No protection.
    None,
    /// Intended protection, with a reserve that is too small.
    Unsafe,
    /// Protection from all reads, except those that deceive its estimates.
    Deceivable,
    /// Protection from all reads.
    Sound,
}

/// Effect on a technique if reads are drawn as numbers and only those that reach an alarm are
/// served (the fluid gear).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBulk {
    /// No effect: it uses alarms, and counts of the drive that do not depend on the order of reads.
    Exact,
    /// Drawn order: its counters depend on the order of reads. This order is drawn between two
    /// draws of a block, and all orders are equally likely. Their bounds hold in every order.
    OrderDrawn,
    /// Mean clock: it uses a clock of the host's page operations, which counts the expected number
    /// of reads so far.
    MeanClock,
}

impl InBulk {
    /// Returns the name of the effect.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::OrderDrawn => "order_drawn",
            Self::MeanClock => "mean_clock",
        }
    }

    /// Returns a note for lists; empty if the technique is exact.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::OrderDrawn => {
                "; in the fluid gear, counters see the reads in random order; their bounds still \
                 hold"
            }
            Self::MeanClock => {
                "; in the fluid gear, the technique's clock counts expected reads; all else is \
                 exact"
            }
        }
    }
}

/// Requirements of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Whether the technique needs a table of limits if reads disturb data.
    pub limits: bool,
    /// Whether the technique needs Space-Saving counters of each block's wordlines. The drive keeps
    /// them only for such a technique.
    pub counters: bool,
    /// Whether the technique depends on retries of reads, so that `[ecc]` must have them.
    pub retries: bool,
}

/// Number that a drive file may give a technique. A parameter that several techniques share has one
/// alias in all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Key of the parameter in the technique's table.
    pub key: &'static str,
    /// Kind of number: whole or real.
    pub kind: Kind,
    /// Unit; empty if there is none.
    pub unit: &'static str,
    /// Default value.
    pub default: f64,
    /// First and last value.
    pub range: (f64, f64),
    /// Values that random drives use.
    pub draw: &'static [f64],
    /// Meaning for users.
    pub meaning: &'static str,
    /// Source of the default value.
    pub source: &'static str,
    /// Alias: another key for the parameter, in the slot's own table.
    pub alias: Option<&'static str>,
}

/// Kinds of numbers of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers: 1, 2, 3.
    Whole,
    /// Real numbers: 0.25.
    Real,
}

/// Numbers that a technique was given.
pub struct Args<'a> {
    about: &'a About,
    given: &'a Params,
}

/// Slot to which a type of techniques belongs.
pub trait InSlot {
    /// Table of the slot in a drive file.
    const TABLE: &'static str;

    /// Returns the techniques that vpass brings for this slot.
    fn listed() -> &'static List<Self>;

    /// Returns a technique whose answers are checked. A wrong answer or a panic ends the run with a
    /// [`Fault`](super::fault::Fault) that names the technique.
    fn checked(technique: Box<Self>, name: &'static str) -> Box<Self>;

    /// Returns the parameters given in this table.
    fn given(config: &DriveConfig) -> &Params;

    /// Returns the parameters given in this table, so that they can be changed.
    fn given_mut(config: &mut DriveConfig) -> &mut Params;
}

impl About {
    /// Properties that most techniques have in common.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        paper: "",
        protects: Protection::None,
        keeps_apart: false,
        lowers_density: false,
        needs: Needs { limits: false, counters: false, retries: false },
        in_bulk: InBulk::Exact,
        params: &[],
        nature: None,
        goes_by_wear: false,
        parts: None,
        refuses: None,
        settles: None,
    };

    /// Returns whether data may be lost under the technique. A drive may allow this.
    pub fn may_lose(&self) -> bool {
        self.protects != Protection::Sound
    }

    /// Returns whether it has this parameter.
    pub fn has(&self, param: &Param) -> bool {
        self.params.contains(param)
    }

    /// Returns whether its results are not those of a real drive.
    pub fn is_counterfactual(&self) -> bool {
        self.nature.is_some()
    }

    /// Refuses a drive on which the technique cannot work.
    ///
    /// # Errors
    /// Returns a sentence with the key.
    pub fn check(&self, config: &DriveConfig) -> Result<(), ConfigError> {
        self.refuses.map_or(Ok(()), |refuses| refuses(config))
    }

    /// Returns the drive under this technique.
    pub fn drive(&self, mut config: DriveConfig) -> DriveConfig {
        if let Some(change) = self.nature {
            change(&mut config);
        }
        config
    }
}

impl<P: InSlot + ?Sized> Card<P> {
    /// Returns the name if the technique is in the list of its slot; `None` if it was made at run
    /// time. Whoever knows a technique by its name must ask for this name.
    pub fn listed_name(&self) -> Option<&'static str> {
        matches!(self.new, New::Listed(_)).then_some(self.name)
    }

    /// Creates the technique for a drive of this configuration, in a run with this seed.
    pub fn make(&self, config: &DriveConfig, seed: u64) -> Box<P> {
        let (args, seed) = (self.args(config), Seed::new(seed, P::TABLE, self.name));
        match self.new {
            New::Listed(new) => new(&args, config, seed),
            New::Given(new) => {
                let made =
                    fault::guarded(P::TABLE, self.name, "making it", || new(&args, config, seed));
                P::checked(made, self.name)
            }
        }
    }

    /// Returns the numbers of the technique on a drive of this configuration.
    pub fn args<'a>(&'a self, config: &'a DriveConfig) -> Args<'a> {
        Args { about: &self.about, given: P::given(config) }
    }

    /// Returns the key by which a user knows a parameter of the technique. It is the alias if the
    /// alias also has the technique's number.
    pub fn path(&self, config: &DriveConfig, param: &Param) -> String {
        let (given, own) = (P::given(config), param.value(P::given(config), self.name));
        let alias = param.alias.filter(|alias| {
            given.get(None, alias).is_some_and(|number| number.is_same(Number::Real(own)))
        });
        match alias {
            Some(alias) => format!("{}.{alias}", P::TABLE),
            None => format!("{}.{}.{}", P::TABLE, self.name, param.key),
        }
    }

    /// Sets a parameter of the technique. Other techniques of a resolved configuration keep their
    /// numbers.
    pub fn set(&self, config: &mut DriveConfig, param: &Param, value: f64) {
        let given = P::given_mut(config);
        given.set(Some(self.name), param.key, param.number(value));
        if let Some(alias) = param.alias.filter(|alias| {
            given.get(None, alias).is_some_and(|number| !number.is_same(Number::Real(value)))
        }) {
            given.remove(None, alias);
        }
    }
}

impl<P: InSlot + ?Sized> fmt::Debug for Card<P> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self.name)
    }
}

impl<P: InSlot + ?Sized> fmt::Display for Card<P> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// Two cards are equal if they make the same technique. Two cards of one name may differ.
impl<P: InSlot + ?Sized> PartialEq for Card<P> {
    fn eq(&self, other: &Self) -> bool {
        match (self.new, other.new) {
            // A list is a constant, which may have several addresses.
            (New::Listed(_), New::Listed(_)) => self.name == other.name,
            (New::Given(one), New::Given(other)) => std::ptr::addr_eq(one, other),
            _ => false,
        }
    }
}

/// A card equals a name if it is the card of the list with this name.
impl<P: InSlot + ?Sized> PartialEq<str> for Card<P> {
    fn eq(&self, name: &str) -> bool {
        self.listed_name() == Some(name)
    }
}

impl<P: InSlot + ?Sized> Deref for Card<P> {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl Args<'_> {
    /// Returns the value of a real parameter.
    pub fn real(&self, param: &Param) -> f64 {
        debug_assert_eq!(param.kind, Kind::Real, "{}", param.key);
        self.value(param)
    }

    /// Returns the value of a whole parameter.
    pub fn whole(&self, param: &Param) -> u32 {
        debug_assert_eq!(param.kind, Kind::Whole, "{}", param.key);
        self.value(param) as u32
    }

    /// Returns the value of a whole parameter, or `otherwise` if none was given.
    pub fn whole_or(&self, param: &Param, otherwise: u32) -> u32 {
        debug_assert_eq!(param.kind, Kind::Whole, "{}", param.key);
        let given = param.given(self.given, self.about.name);
        given.map_or(otherwise, |value| value as u32)
    }

    /// Returns whether the technique has this parameter.
    pub fn has(&self, param: &Param) -> bool {
        self.about.has(param)
    }

    fn value(&self, param: &Param) -> f64 {
        debug_assert!(
            self.has(param),
            "`{}` is not a parameter of `{}`",
            param.key,
            self.about.name
        );
        param.value(self.given, self.about.name)
    }
}

impl Param {
    /// Returns the accepted values.
    pub fn values(&self) -> Range {
        match (self.kind, self.range) {
            (Kind::Whole, (low, high)) => Range::Whole(low as u64, high as u64),
            (Kind::Real, (low, high)) => Range::Real(low, high),
        }
    }

    /// Returns the parameter's value for a technique. If the user gave no value for the technique,
    /// the value of the alias counts, and after that the default.
    pub fn value(&self, given: &Params, technique: &str) -> f64 {
        self.given(given, technique).unwrap_or(self.default)
    }

    /// Returns the value that the user gave for a technique. If there is none, returns the value
    /// that the user gave for the alias.
    fn given(&self, given: &Params, technique: &str) -> Option<f64> {
        let of_alias = || self.alias.and_then(|alias| given.get(None, alias));
        given.get(Some(technique), self.key).or_else(of_alias).map(Number::value)
    }

    /// Returns a value as it is written in a file.
    pub fn number(&self, value: f64) -> Number {
        match self.kind {
            Kind::Whole => Number::Whole(value as i64),
            Kind::Real => Number::Real(value),
        }
    }
}
