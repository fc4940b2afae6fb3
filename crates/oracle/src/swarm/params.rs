//! Parameters of techniques, drawn from the values in their descriptions, slot by slot and in the
//! order of the lists. Shared parameters come first, because their part of a limit decides how
//! large limits must be.

use vpass_drive::api::card::{About, Param};
use vpass_drive::config::Params;
use vpass_techniques::slot;

use super::balanced::Balanced;
use crate::dice::Dice;

/// Draws the parameters that several techniques of a slot share, unless they have been drawn
/// already.
pub(super) fn draw_shared(dice: &mut Dice, table: &str, mut params: Params) -> Params {
    let slot = slot(table).expect("a slot of the list");
    let is_shared =
        |param: &Param| param.alias.is_some_and(|alias| slot.sharing(alias).count() > 1);
    for (about, param) in slot.params().filter(|(_, param)| is_shared(param)) {
        draw(dice, about, param, &mut params);
    }
    params
}

/// Draws all parameters that have not been drawn yet. Parameters with an alias, or named in
/// `in_turn`, use the case's random numbers one after another. Each other parameter has a list of
/// its own, so a new one changes nothing else in a case.
pub(super) fn draw_apart(
    (balanced, dice): (&Balanced, &mut Dice),
    table: &str,
    in_turn: &[(&str, &str)],
    mut params: Params,
) -> Params {
    for (about, param) in slot(table).expect("a slot of the list").params() {
        if param.alias.is_some() || in_turn.contains(&(about.name, param.key)) {
            draw(dice, about, param, &mut params);
        } else if params.get(Some(about.name), param.key).is_none() {
            let drawn = balanced.pick(&format!("{table}.{}.{}", about.name, param.key), param.draw);
            params.set(Some(about.name), param.key, param.number(drawn));
        }
    }
    params
}

fn draw(dice: &mut Dice, about: &About, param: &Param, params: &mut Params) {
    let (technique, key) = place(about, param);
    if params.get(technique, key).is_none() {
        params.set(technique, key, param.number(dice.pick(param.draw)));
    }
}

/// Returns the name of a parameter. An alias stands for all techniques that share it.
fn place<'a>(about: &'a About, param: &'a Param) -> (Option<&'a str>, &'a str) {
    match param.alias {
        Some(alias) => (None, alias),
        None => (Some(about.name), param.key),
    }
}
