//! Description of a technique as data: name, guarantee, needs, parameters and constructor. All
//! slots use the same description.

use std::ops::Deref;

use super::seed::Seed;
use crate::config::keys::Range;
use crate::config::{DriveConfig, Number, Params};

/// A technique of a slot whose techniques are `P`s.
pub struct Card<P: InSlot + ?Sized + 'static> {
    /// All but its constructor.
    pub about: About,
    /// Makes one, of its arguments, for a drive of this configuration; what it draws by chance
    /// follows from the seed.
    pub new: fn(&Args, &DriveConfig, Seed) -> Box<P>,
}

/// What is to be known of a technique without making one.
pub struct About {
    /// Name on the command line; reads well in "protected by ...".
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The work that it comes from, in short; empty where there is none.
    pub paper: &'static str,
    /// How far it protects data. Whoever tests it takes a page lost in spite of that for a bug.
    pub protects: Protection,
    /// It keeps data apart in streams of its own, which want more spare blocks, and finds out first
    /// which.
    pub keeps_apart: bool,
    /// It gives wordlines guard levels: fewer page kinds, larger limits.
    pub lowers_density: bool,
    /// What it cannot do without.
    pub needs: Needs,
    /// What becomes of it where reads come in bulk.
    pub in_bulk: InBulk,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes the drive's flash another for the run; none but a counterfactual technique does.
    pub nature: Option<fn(&mut DriveConfig)>,
}

/// How far a technique protects data from reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Not at all.
    None,
    /// It means to, but reserves less than it would take.
    Unsafe,
    /// From all reads but those that deceive its estimates.
    Deceivable,
    /// From all reads.
    Sound,
}

/// What becomes of a technique where reads are numbers drawn by chance, and only those that ring an
/// alarm are served (the fluid gear).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBulk {
    /// Nothing else than where they are served one by one: it goes by alarms, and by counts of the
    /// drive's that do not depend on the order of reads.
    Exact,
    /// Its counters depend on the order of reads: between two draws of a block that order is drawn,
    /// each as likely. Their bounds hold in every order.
    OrderDrawn,
    /// It goes by a clock of the host's page operations, whose reads are those expected by now, in
    /// the mean.
    MeanClock,
}

impl InBulk {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::OrderDrawn => "order_drawn",
            Self::MeanClock => "mean_clock",
        }
    }

    /// What is to be known of it, for lists; nothing where it is exact.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::OrderDrawn => {
                "; in the fluid gear, counters see the reads in random order; their bounds still \
                 hold"
            }
            Self::MeanClock => {
                "; in the fluid gear, its clock counts expected reads; everything else is exact"
            }
        }
    }
}

/// What a technique cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// A table of limits, where reads disturb.
    pub limits: bool,
    /// Space-Saving counters of each block's wordlines; the drive keeps them for such a technique
    /// alone.
    pub counters: bool,
    /// Retries of reads, by which it goes: `[ecc]` must have them.
    pub retries: bool,
}

/// A number that a drive file may give a technique. One that several techniques share has the same
/// alias in all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Its key in the technique's table.
    pub key: &'static str,
    /// Whole numbers or any.
    pub kind: Kind,
    /// Unit; empty where it has none.
    pub unit: &'static str,
    /// What it is where nobody says so.
    pub default: f64,
    /// First and last value.
    pub range: (f64, f64),
    /// Values that random drives take.
    pub draw: &'static [f64],
    /// What it means to a user.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// Another key for it, in the slot's own table.
    pub alias: Option<&'static str>,
}

/// The numbers that a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 1, 2, 3.
    Whole,
    /// 0.25.
    Real,
}

/// The numbers that a technique was given.
pub struct Args<'a> {
    about: &'a About,
    given: &'a Params,
}

/// A slot, as the type of its techniques.
pub trait InSlot {
    /// Its table in a drive file.
    const TABLE: &'static str;

    /// The parameters that were given there.
    fn given(config: &DriveConfig) -> &Params;

    /// The same, to be changed.
    fn given_mut(config: &mut DriveConfig) -> &mut Params;
}

impl About {
    /// What most techniques have in common.
    pub(crate) const PLAIN: Self = Self {
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
    };

    /// Whether data may be lost under it, if the drive says so.
    pub fn may_lose(&self) -> bool {
        self.protects != Protection::Sound
    }

    /// Whether it has this parameter.
    pub fn has(&self, param: &Param) -> bool {
        self.params.contains(param)
    }

    /// Whether its results are those of no real drive.
    pub fn is_counterfactual(&self) -> bool {
        self.nature.is_some()
    }

    /// The drive as it is under this technique.
    pub fn drive(&self, mut config: DriveConfig) -> DriveConfig {
        if let Some(change) = self.nature {
            change(&mut config);
        }
        config
    }
}

impl<P: InSlot + ?Sized> Card<P> {
    /// A technique for a drive of this configuration, in a run of this seed.
    pub fn make(&self, config: &DriveConfig, seed: u64) -> Box<P> {
        (self.new)(&self.args(config), config, Seed::new(seed, P::TABLE, self.name))
    }

    /// The numbers that it has on a drive of this configuration.
    pub fn args<'a>(&'a self, config: &'a DriveConfig) -> Args<'a> {
        Args { about: &self.about, given: P::given(config) }
    }

    /// The key by which a user knows a parameter of it: the alias where that stands for its number,
    /// too.
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

    /// Gives it another number for a parameter. Other techniques of a resolved configuration keep
    /// theirs.
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

impl<P: InSlot + ?Sized> Deref for Card<P> {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl Args<'_> {
    /// A parameter that is no whole number.
    pub fn real(&self, param: &Param) -> f64 {
        debug_assert_eq!(param.kind, Kind::Real, "{}", param.key);
        self.value(param)
    }

    /// A parameter that is a whole number.
    pub fn whole(&self, param: &Param) -> u32 {
        debug_assert_eq!(param.kind, Kind::Whole, "{}", param.key);
        self.value(param) as u32
    }

    /// A parameter that is a whole number, and what it is where nobody says so.
    pub fn whole_or(&self, param: &Param, otherwise: u32) -> u32 {
        debug_assert_eq!(param.kind, Kind::Whole, "{}", param.key);
        let given = param.given(self.given, self.about.name);
        given.map_or(otherwise, |value| value as u32)
    }

    /// Whether the technique has this parameter.
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
    /// The values that are accepted.
    pub fn values(&self) -> Range {
        match (self.kind, self.range) {
            (Kind::Whole, (low, high)) => Range::Whole(low as u64, high as u64),
            (Kind::Real, (low, high)) => Range::Real(low, high),
        }
    }

    /// What it is for a technique: its own number, else that of the alias, else the default.
    pub fn value(&self, given: &Params, technique: &str) -> f64 {
        self.given(given, technique).unwrap_or(self.default)
    }

    /// What somebody has said that it is for a technique: its own number, else that of the alias.
    fn given(&self, given: &Params, technique: &str) -> Option<f64> {
        let of_alias = || self.alias.and_then(|alias| given.get(None, alias));
        given.get(Some(technique), self.key).or_else(of_alias).map(Number::value)
    }

    /// A value as a file would have it.
    pub fn number(&self, value: f64) -> Number {
        match self.kind {
            Kind::Whole => Number::Whole(value as i64),
            Kind::Real => Number::Real(value),
        }
    }
}
