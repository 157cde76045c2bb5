//! Which ends of a card are wired to each other; the rule stands with [`Plug`].

use crate::build;
use crate::function::{FunctionKind, Side};
use crate::port::Plug;
use crate::profile::Mode;
use crate::topology::CardPlan;
use std::collections::BTreeMap;

/// A wire that cannot be: the function that asks for it, and why.
pub(crate) type Impossible = (usize, String);

/// The end that each end of the card is wired to. `first` is the number of the card's first function.
pub(crate) fn wires(card: &CardPlan, first: u16) -> Result<BTreeMap<Plug, Plug>, Impossible> {
    let names = names(card, first);
    let mut wires = BTreeMap::new();
    for (at, plan) in card.functions.iter().enumerate() {
        let Some(name) = &plan.wire else { continue };
        let from = Plug { number: first + at as u16, is_representor: false };
        let Some((_, to)) = names.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            return Err((
                at,
                format!("`{name}` is no port of this card; those that are: {}", known.join(", ")),
            ));
        };
        for (end, other) in [(from, *to), (*to, from)] {
            if wires.insert(end, other).is_some_and(|before| before != other) {
                let name = names.iter().find(|(_, plug)| *plug == end).map_or("", |(name, _)| name);
                return Err((at, format!("port `{name}` is wired twice")));
            }
        }
    }
    rest(card, first, &names, &mut wires);
    Ok(wires)
}

/// Wires what the topology says nothing about.
fn rest(card: &CardPlan, first: u16, names: &[(String, Plug)], wires: &mut BTreeMap<Plug, Plug>) {
    let mut join = |a: Plug, b: Plug| {
        if !wires.contains_key(&a) && !wires.contains_key(&b) {
            wires.insert(a, b);
            wires.insert(b, a);
            return true;
        }
        false
    };
    for &(_, plug) in names.iter().filter(|(_, plug)| plug.is_representor) {
        join(plug, Plug { is_representor: false, ..plug });
    }
    for side in [Side::Dpu, Side::Host] {
        let mut waiting = None;
        for (number, plan) in (first..).zip(&card.functions) {
            let plug = Plug { number, is_representor: false };
            if plan.side != side || plan.kind != FunctionKind::Pf {
                continue;
            }
            waiting = match waiting {
                Some(other) if join(other, plug) => None,
                _ => Some(plug),
            };
        }
    }
    for &(_, plug) in names {
        join(plug, plug);
    }
}

/// Every end of the card by the name of its interface.
fn names(card: &CardPlan, first: u16) -> Vec<(String, Plug)> {
    let functions = (first..)
        .zip(&card.functions)
        .map(|(number, plan)| (plan.iface.clone(), Plug { number, is_representor: false }));
    let mut names: Vec<_> = functions.collect();
    if card.mode == Mode::Dpu {
        let shown = build::representors(card, first).into_iter();
        names.extend(
            shown.map(|(_, r)| (r.iface().to_owned(), Plug { number: r.vhca_id(), is_representor: true })),
        );
    }
    names
}
