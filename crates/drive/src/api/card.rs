//! Description of a technique as data: name, guarantee, needs, parameters and constructor. All
//! slots use the same description.

use std::fmt;
use std::ops::Deref;

use super::asked::Asked;
use super::reclaim::Technique;
use super::refresh::RefreshTechnique;
use super::seed::Seed;
use crate::base::span::Span;
use crate::config::keys::Range;
use crate::config::{ConfigError, DriveConfig, Number, Params};

/// Card of a technique. The type `P` is the trait that all techniques of its slot implement.
pub struct Card<P: InSlot + ?Sized + 'static> {
    /// Description without the constructor.
    pub about: About,
    /// Constructor of the technique.
    pub new: New<P>,
}

/// Constructor of a technique. It takes the technique's arguments, the configuration of the drive,
/// and a seed for random draws.
pub enum New<P: InSlot + ?Sized + 'static> {
    /// Constructor function of a technique that belongs to vpass.
    Listed(fn(&Args, &DriveConfig, Seed) -> Box<P>),
    /// Closure that constructs a technique made at run time. A panic of such a technique ends the
    /// run with an error that names it.
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

/// Description of a technique. The technique need not be constructed to read its description.
pub struct About {
    /// Name on the command line. The name fits into the sentence "protected by ...".
    pub name: &'static str,
    /// Summary of one line for lists.
    pub summary: &'static str,
    /// Short reference to the technique's publication; empty if there is none.
    pub paper: &'static str,
    /// Degree to which the technique protects data. If a protected page is lost, tests report a
    /// bug.
    pub protects: Protection,
    /// Whether the technique writes some data to streams of its own. These streams need more spare
    /// blocks. The technique must first find out which data belongs in them.
    pub keeps_apart: bool,
    /// Whether the technique gives wordlines guard levels. A wordline with guard levels holds fewer
    /// pages and has a larger limit.
    pub lowers_density: bool,
    /// Requirements of the technique.
    pub needs: Needs,
    /// Whether the technique draws random numbers.
    pub draws: bool,
    /// Effect on the technique if reads are drawn in bulk.
    pub in_bulk: InBulk,
    /// Parameters of the technique.
    pub params: &'static [Param],
    /// Function that changes the drive's flash for the run; `None` except for counterfactual
    /// techniques.
    pub nature: Option<fn(&mut DriveConfig)>,
    /// Techniques that a run uses in other slots together with this one, unless the run names
    /// others.
    pub parts: Option<Parts>,
    /// Check that refuses drives on which the technique cannot work. The requirements in
    /// [`Self::needs`] are checked elsewhere.
    pub refuses: Option<Refusal>,
    /// Function that checks whether the given parameters fit together. It may also fill in a
    /// missing parameter.
    pub settles: Option<Settling>,
}

/// Function that refuses unsuitable drives. Its error is a sentence that names the wrong key.
pub type Refusal = fn(&DriveConfig) -> Result<(), ConfigError>;

/// Function that checks whether the given parameters fit together. The function may fill in a
/// missing parameter.
pub type Settling = fn(&mut Params) -> Result<(), ConfigError>;

/// Techniques that a run uses in other slots together with a parity technique.
pub struct Parts {
    /// Reclaim technique.
    pub reclaim: &'static Technique,
    /// Refresh technique.
    pub refresh: &'static RefreshTechnique,
    /// Function that computes the refresh period. It returns `None` if the period does not follow
    /// from the drive's limits.
    pub period: fn(&DriveConfig) -> Option<Span>,
}

/// Degree to which a technique protects data from reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// No protection.
    None,
    /// Unsafe: the technique is meant to protect data, but its reserve is too small.
    Unsafe,
    /// Protection from all reads, except reads that deceive the technique's estimates.
    Deceivable,
    /// Protection from all reads.
    Sound,
}

/// Effect of the fluid gear on a technique. The fluid gear draws the number of reads of a block at
/// random. It simulates a single read only when a block reaches its alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBulk {
    /// No effect: the technique uses only alarms and counts that do not depend on the order of
    /// reads.
    Exact,
    /// Drawn order: the technique's counters depend on the order of reads. The reads that were
    /// drawn together get a random order, and all orders are equally likely. The bounds of the
    /// counters hold in every order.
    OrderDrawn,
    /// Mean clock: the technique uses a clock that counts host page operations. In the fluid gear,
    /// this clock advances by the expected number of reads.
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

    /// Returns a note about the effect, for lists of techniques. The note is empty if there is no
    /// effect.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::OrderDrawn => {
                "; in the fluid gear, counters see the reads in random order; the bounds of the \
                 counters still hold"
            }
            Self::MeanClock => {
                "; in the fluid gear, the technique's clock counts expected reads; everything else \
                 is exact"
            }
        }
    }
}

/// Requirements of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Whether the technique needs a table of limits on a drive where reads disturb data.
    pub limits: bool,
    /// Whether the technique needs Space-Saving counters for the wordlines of each block. The drive
    /// keeps these counters only if they are needed.
    pub counters: bool,
    /// Whether the technique needs a drive with read retries. The table `[ecc]` must then configure
    /// them.
    pub retries: bool,
}

/// Parameter of a technique: a number that a drive file may set. If several techniques share a
/// parameter, they also share one alias for it.
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
    /// Smallest and largest accepted value.
    pub range: (f64, f64),
    /// Values that tests use for randomly generated drives.
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
    /// Whole numbers, such as 3.
    Whole,
    /// Real numbers, such as 0.25.
    Real,
}

/// Values of a technique's parameters.
pub struct Args<'a> {
    about: &'a About,
    given: &'a Params,
}

/// Trait of all techniques of one slot. It says which slot this is.
pub trait InSlot {
    /// Name of the slot's table in a drive file.
    const TABLE: &'static str;

    /// Returns the parameters that the configuration gives in the slot's table.
    fn given(config: &DriveConfig) -> &Params;

    /// Returns a mutable reference to the parameters in the slot's table.
    fn given_mut(config: &mut DriveConfig) -> &mut Params;
}

impl About {
    /// Default description, with the properties that most techniques share.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        paper: "",
        protects: Protection::None,
        keeps_apart: false,
        lowers_density: false,
        needs: Needs { limits: false, counters: false, retries: false },
        draws: false,
        in_bulk: InBulk::Exact,
        params: &[],
        nature: None,
        parts: None,
        refuses: None,
        settles: None,
    };

    /// Returns whether pages may be lost although the technique is used. Only a sound technique
    /// excludes this.
    pub fn may_lose(&self) -> bool {
        self.protects != Protection::Sound
    }

    /// Returns whether the technique has this parameter.
    pub fn has(&self, param: &Param) -> bool {
        self.params.contains(param)
    }

    /// Returns whether the technique is counterfactual: no real drive could give its results.
    pub fn is_counterfactual(&self) -> bool {
        self.nature.is_some()
    }

    /// Refuses a drive on which the technique cannot work.
    ///
    /// # Errors
    /// Returns a sentence that names the wrong key.
    pub fn check(&self, config: &DriveConfig) -> Result<(), ConfigError> {
        self.refuses.map_or(Ok(()), |refuses| refuses(config))
    }

    /// Returns the configuration of a drive on which this technique runs.
    pub fn drive(&self, mut config: DriveConfig) -> DriveConfig {
        if let Some(change) = self.nature {
            change(&mut config);
        }
        config
    }
}

impl<P: InSlot + ?Sized> Card<P> {
    /// Returns the technique's name if the technique belongs to vpass; `None` if it was made at run
    /// time. Code that recognises techniques by name must use this method.
    pub fn listed_name(&self) -> Option<&'static str> {
        matches!(self.new, New::Listed(_)).then_some(self.name)
    }

    /// Creates the technique. `config` is the configuration of the drive, and `seed` is the run's
    /// seed.
    pub fn make(&self, config: &DriveConfig, seed: u64) -> Box<P> {
        let (args, seed) = (self.args(config), Seed::new(seed, P::TABLE, self.name));
        match self.new {
            New::Listed(new) => new(&args, config, seed),
            New::Given(new) => new(&args, config, seed),
        }
    }

    /// Creates the technique as [`Self::make`] does, for a caller that asks it as the drive does.
    pub fn asked(&self, config: &DriveConfig, seed: u64) -> Asked<P> {
        match self.new {
            New::Listed(_) => Asked::listed(self.name, self.make(config, seed)),
            New::Given(_) => Asked::given(self.name, || self.make(config, seed)),
        }
    }

    /// Returns the values of the technique's parameters on a drive of this configuration.
    pub fn args<'a>(&'a self, config: &'a DriveConfig) -> Args<'a> {
        Args { about: &self.about, given: P::given(config) }
    }

    /// Returns the key of a parameter for messages. If the alias has the same value as the
    /// technique, this is the alias. Otherwise, it is the key in the technique's own table.
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

    /// Sets a parameter of this technique in a resolved configuration. The parameters of other
    /// techniques do not change.
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

/// Two cards are equal if they make the same technique. Cards with equal names can still be
/// different.
impl<P: InSlot + ?Sized> PartialEq for Card<P> {
    fn eq(&self, other: &Self) -> bool {
        match (self.new, other.new) {
            // Names are compared instead of addresses, because a list is a constant and may have
            // several addresses.
            (New::Listed(_), New::Listed(_)) => self.name == other.name,
            (New::Given(one), New::Given(other)) => std::ptr::addr_eq(one, other),
            _ => false,
        }
    }
}

/// A card equals a name if vpass has the technique under this name.
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

    /// Returns the value of a whole parameter, or `otherwise` if the user gave no value.
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

    /// Returns the parameter's value for a technique. The user's value for the technique comes
    /// first, then the user's value for the alias, and then the default.
    pub fn value(&self, given: &Params, technique: &str) -> f64 {
        self.given(given, technique).unwrap_or(self.default)
    }

    /// Returns the value that the user gave for a technique. If the user gave no such value, the
    /// method returns the value of the alias.
    fn given(&self, given: &Params, technique: &str) -> Option<f64> {
        let of_alias = || self.alias.and_then(|alias| given.get(None, alias));
        given.get(Some(technique), self.key).or_else(of_alias).map(Number::value)
    }

    /// Returns a value in the form in which drive files contain it.
    pub fn number(&self, value: f64) -> Number {
        match self.kind {
            Kind::Whole => Number::Whole(value as i64),
            Kind::Real => Number::Real(value),
        }
    }
}
