//! Raw bit error rate (RBER) of a page without reads: the rate of fresh data, and the rate that age
//! adds.
//!
//! ```text
//! power law   base = (e + a PEC^k) x group x kind      retention = b PEC^m t^n x group      PEC at least 100
//! bch         base = 0      retention as `bch` has it
//! table       straight numbers, linear over P/E cycles and over the logarithm of the age; below the first age that age's
//! ```
//!
//! With `error.temperature_c` data ages `exp(Ea / kB (1 / T_ref - 1 / T))` times as fast
//! (Arrhenius).

use libm::{exp, log, pow};

use crate::base::span::{DAY, HOUR, Span};
use crate::base::units::Ns;
use crate::config::{Combine, DriveConfig, ErrorConfig, ErrorLaw, ErrorRow, TimeUnit};

use super::bch::Bch;

/// Boltzmann's constant, in eV/K.
const BOLTZMANN: f64 = 8.62e-5;
const KELVIN: f64 = 273.15;
/// Smallest P/E count of the power law, which was fitted to worn flash. At 0 cycles, data would not
/// age at all under this law.
const LEAST_PEC: u32 = 100;

/// Error rates by P/E count, age, group and page kind.
#[derive(Clone, Debug)]
pub struct Rates {
    config: ErrorConfig,
    bch: Option<Bch>,
    independent: bool,
    acceleration: f64,
}

/// Terms of a law at a P/E count, computed once.
#[derive(Clone, Copy, Debug)]
pub struct Worn {
    pec: u32,
    /// RBER of fresh data before the factors of group and kind; 0 if a table gives it.
    base: f64,
    /// Factor of each age; under `bch`, the age in ns that data endures.
    aged: f64,
}

/// Terms of a law at an age, computed once.
#[derive(Clone, Copy, Debug)]
pub struct Aged {
    /// Age at the temperature of the law, in ns.
    age: f64,
    /// Growth of the error rate under a power law; 0 under other laws.
    grown: f64,
}

impl Rates {
    /// Returns the rates of a checked configuration; `None` without error rates.
    pub fn of(config: &DriveConfig) -> Option<Self> {
        let error = &config.error;
        let acceleration = error
            .temperature_c
            .map_or(1.0, |celsius| acceleration(error.activation_ev, error.reference_c, celsius));
        (error.model != ErrorLaw::None).then(|| Self {
            config: error.clone(),
            bch: Bch::of(config),
            independent: error.model == ErrorLaw::Bch && config.bch.combine == Combine::Independent,
            acceleration,
        })
    }

    /// Returns the speed at which data ages, relative to ageing at the reference temperature.
    pub fn acceleration(&self) -> f64 {
        self.acceleration
    }

    /// Returns whether age does not reduce the errors that reads may add, until age alone uses up
    /// the limit.
    pub fn is_independent(&self) -> bool {
        self.independent
    }

    /// Returns the terms of the law at a P/E count, for every group, kind and age.
    pub fn worn(&self, pec: u32) -> Worn {
        let (c, worn) = (&self.config, pec.max(LEAST_PEC));
        let (base, aged) = match &self.bch {
            Some(bch) => (0.0, bch.age(worn)),
            None if c.model == ErrorLaw::Table => (0.0, 0.0),
            None => (c.e + c.a * pow(f64::from(worn), c.k), c.b * pow(f64::from(worn), c.m)),
        };
        Worn { pec, base, aged }
    }

    /// Returns the terms of the law at an age, for every P/E count.
    pub fn aged(&self, age: Ns) -> Aged {
        let c = &self.config;
        let age = age as f64 * self.acceleration;
        let unit = if c.time_unit == TimeUnit::Hours { HOUR } else { DAY };
        let grown = if c.model == ErrorLaw::PowerLaw { pow(age / unit as f64, c.n) } else { 0.0 };
        Aged { age, grown }
    }

    /// Returns the RBER of a fresh page.
    pub fn base(&self, pec: u32, group: usize, kind: usize) -> f64 {
        self.base_at(&self.worn(pec), group, kind)
    }

    /// Returns the RBER of a fresh page of a worn block.
    pub fn base_at(&self, worn: &Worn, group: usize, kind: usize) -> f64 {
        let c = &self.config;
        let of_group = if c.model == ErrorLaw::Table {
            self.at(worn.pec, &|row| row.base[group])
        } else {
            worn.base
        };
        of_group * factor(&c.base_by_group, group) * factor(&c.base_by_kind, kind)
    }

    /// Returns the RBER that this age adds. Data younger than an hour has no age by definition
    /// ([`super::ages`]), and is not looked up here.
    pub fn retention(&self, pec: u32, group: usize, age: Ns) -> f64 {
        self.retention_at(&self.worn(pec), group, &self.aged(age))
    }

    /// Returns the RBER that an age adds in a worn block.
    pub fn retention_at(&self, worn: &Worn, group: usize, aged: &Aged) -> f64 {
        let c = &self.config;
        let of_group = if let Some(bch) = &self.bch {
            bch.retention_of(worn.aged, aged.age as Ns)
        } else if c.model == ErrorLaw::Table {
            self.at(worn.pec, &|row| at_age(&c.ages, &row.retention[group], aged.age))
        } else {
            worn.aged * aged.grown
        };
        of_group * factor(&c.retention_by_group, group)
    }

    /// Interpolates a number linearly between the table's rows. Beyond the last row, it continues
    /// to grow at the last rate, and never falls.
    fn at(&self, pec: u32, value: &dyn Fn(&ErrorRow) -> f64) -> f64 {
        let rows = &self.config.table;
        let next = rows.partition_point(|row| row.pec < pec);
        if next == 0 || rows.len() == 1 {
            return value(&rows[0]);
        }
        let above = next.min(rows.len() - 1);
        let (from, to) = (&rows[above - 1], &rows[above]);
        let share = f64::from(pec - from.pec) / f64::from(to.pec - from.pec);
        let mixed = value(from) + share * (value(to) - value(from));
        if next == rows.len() { mixed.max(value(to)) } else { mixed }
    }
}

/// Returns the speed of a process with this activation energy, relative to the reference
/// temperature (Arrhenius).
pub fn acceleration(activation_ev: f64, reference_c: f64, celsius: f64) -> f64 {
    exp(activation_ev / BOLTZMANN * (1.0 / (reference_c + KELVIN) - 1.0 / (celsius + KELVIN)))
}

fn factor(factors: &[f64], of: usize) -> f64 {
    factors.get(of).copied().unwrap_or(1.0)
}

/// Interpolates linearly over the logarithm of the age. Below the first age, its value applies.
/// Beyond the last age, the line through the last two ages applies.
fn at_age(ages: &[Span], rates: &[f64], age: f64) -> f64 {
    let next = ages.partition_point(|known| (known.0 as f64) < age);
    if next == 0 || ages.len() == 1 {
        return rates[0];
    }
    let to = next.min(ages.len() - 1);
    let ln = |i: usize| log(ages[i].0 as f64);
    let share = (log(age) - ln(to - 1)) / (ln(to) - ln(to - 1));
    rates[to - 1] + share * (rates[to] - rates[to - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the law of 72-layer TLC, with t in hours.
    fn tlc() -> ErrorConfig {
        ErrorConfig {
            model: ErrorLaw::PowerLaw,
            e: 1.48e-3,
            a: 3.9e-10,
            k: 2.05,
            b: 6.28e-5,
            m: 0.14,
            n: 0.54,
            ..ErrorConfig::default()
        }
    }

    fn rates(config: ErrorConfig) -> Rates {
        Rates { acceleration: 1.0, bch: None, independent: false, config }
    }

    fn close(is: f64, should_be: f64, within: f64) {
        assert!((is / should_be - 1.0).abs() < within, "{is} for {should_be}");
    }

    /// Returns the days until the remaining errors under a cap are used up.
    fn days_to(rates: &Rates, cap: f64, pec: u32) -> f64 {
        let left = (cap - rates.base(pec, 0, 0)) / rates.retention(pec, 0, HOUR);
        left.powf(1.0 / 0.54) / 24.0
    }

    #[test]
    fn the_power_law_is_the_power_law() {
        let tlc = rates(tlc());
        close(tlc.base(1000, 0, 0), 1.48e-3 + 3.9e-10 * 1000f64.powf(2.05), 1e-12);
        close(
            tlc.retention(1000, 0, 100 * HOUR),
            6.28e-5 * 1000f64.powf(0.14) * 100f64.powf(0.54),
            1e-12,
        );
        // New flash counts like flash with 100 cycles.
        close(tlc.base(0, 0, 0), tlc.base(100, 0, 0), 1e-15);
        close(tlc.base(99, 0, 0), tlc.base(100, 0, 0), 1e-15);
        close(tlc.retention(0, 0, HOUR), tlc.retention(100, 0, HOUR), 1e-15);
        let days = rates_in_days();
        close(
            tlc.retention(500, 0, 30 * DAY) / days.retention(500, 0, 30 * DAY),
            24f64.powf(0.54),
            1e-12,
        );
    }

    fn rates_in_days() -> Rates {
        rates(ErrorConfig { time_unit: TimeUnit::Days, ..tlc() })
    }

    /// For this kind of flash, the published first retries come after 17, 14 and 10 days, at 0, 200
    /// and 500 cycles.
    #[test]
    fn the_first_retries_come_after_as_many_days_as_registered() {
        let tlc = rates(tlc());
        let days = [0, 200, 500].map(|pec| days_to(&tlc, 0.0045, pec).round() as u32);
        assert_eq!(days, [16, 14, 10]);
        let in_days = days_to(&rates_in_days(), 0.0045, 0);
        close(in_days, 24.0 * days_to(&tlc, 0.0045, 0), 1e-9);
    }

    /// For 55 C against 40 C at 1.1 eV: 1.1 / 8.62e-5 x (1 / 313.15 - 1 / 328.15) = 1.8627, which
    /// is 6.44 times as fast.
    #[test]
    fn heat_ages_data_faster() {
        close(acceleration(1.1, 40.0, 55.0), 1.862_738_5f64.exp(), 1e-6);
        close(acceleration(1.1, 40.0, 40.0), 1.0, 1e-15);
        close(acceleration(0.0, 40.0, 125.0), 1.0, 1e-15);
        assert!(acceleration(1.1, 40.0, 25.0) < 0.14 && acceleration(1.1, 40.0, -40.0) > 0.0);
        let hot = Rates { acceleration: 10.0, bch: None, independent: false, config: tlc() };
        close(hot.retention(300, 0, 3 * DAY), rates(tlc()).retention(300, 0, 30 * DAY), 1e-12);
    }
}
