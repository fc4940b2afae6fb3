//! Choice of a technique for a slot: a name in the list, or a card.

use std::fmt;

use super::card::{Card, InSlot};

/// Technique that a run chooses for a slot.
pub enum Choice<P: InSlot + ?Sized + 'static> {
    /// Name of a technique in the list.
    Named(String),
    /// Card of a technique, which need not be in the list.
    Given(&'static Card<P>),
}

impl<P: InSlot + ?Sized> Choice<P> {
    /// Returns the card of the chosen technique; `None` if no technique in the list has the chosen
    /// name.
    pub fn card(&self) -> Option<&'static Card<P>> {
        match self {
            Self::Named(name) => P::listed().named(name),
            Self::Given(card) => Some(card),
        }
    }

    /// Returns the name of the technique.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Given(card) => card.name,
        }
    }
}

impl<P: InSlot + ?Sized> Clone for Choice<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Named(name) => Self::Named(name.clone()),
            Self::Given(card) => Self::Given(card),
        }
    }
}

impl<P: InSlot + ?Sized> fmt::Debug for Choice<P> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self.name())
    }
}

impl<P: InSlot + ?Sized> fmt::Display for Choice<P> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.name().fmt(f)
    }
}

impl<P: InSlot + ?Sized> From<&str> for Choice<P> {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl<P: InSlot + ?Sized> From<String> for Choice<P> {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl<P: InSlot + ?Sized> From<&Self> for Choice<P> {
    fn from(choice: &Self) -> Self {
        choice.clone()
    }
}

impl<P: InSlot + ?Sized> From<&'static Card<P>> for Choice<P> {
    fn from(card: &'static Card<P>) -> Self {
        Self::Given(card)
    }
}
