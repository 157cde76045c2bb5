//! Bonds: several ports of a card that programs see as one function.
//!
//! As with a real bonded card, one RDMA device stands for all ports: it has the PCI address of the first
//! member, a name of its own, and the members are not listed any more.

use crate::config::{Bad, bad, checked_name, ipv4, pci};
use crate::file::Bond;
use crate::function::{BondMember, FunctionKind};
use crate::topology::{CardPlan, FunctionPlan, Ipv4};
use toml::Spanned;

/// Replaces the members of each bond by one function.
pub(crate) fn apply(bonds: &[Spanned<Bond>], card: &mut CardPlan) -> Result<(), Bad> {
    for entry in bonds {
        let bond = entry.get_ref();
        let places = places(bond, card)?;
        let members: Vec<_> = places.iter().map(|&at| card.functions[at].clone()).collect();
        let first = places[0];
        let joined = FunctionPlan {
            ibdev: checked_name(&bond.ibdev, "RDMA device name", 63)?,
            iface: checked_name(&bond.iface, "interface name", 15)?,
            iface_index: None,
            real: false,
            ipv4: bond.ipv4.as_ref().map_or(Ok(Ipv4::Made), ipv4)?,
            rate: members.iter().map(|member| member.rate).sum(),
            bond: members.iter().map(member).collect(),
            ..members[0].clone()
        };
        card.functions[first] = joined;
        let mut at = 0;
        card.functions.retain(|_| {
            at += 1;
            at - 1 == first || !places.contains(&(at - 1))
        });
    }
    Ok(())
}

fn member(function: &FunctionPlan) -> BondMember {
    BondMember { pci: function.pci, ibdev: function.ibdev.clone(), iface: function.iface.clone() }
}

/// Where the members stand in the card's list, after checking that they can be bonded.
fn places(bond: &Bond, card: &CardPlan) -> Result<Vec<usize>, Bad> {
    let mut places: Vec<usize> = Vec::new();
    for text in bond.members.get_ref() {
        let pci = pci(text)?;
        let found = card
            .functions
            .iter()
            .position(|function| function.kind == FunctionKind::Pf && function.stands_for(pci))
            .ok_or_else(|| bad(text, format!("{pci} is no `pf` of this card")))?;
        if places.contains(&found) || !card.functions[found].bond.is_empty() {
            return Err(bad(text, format!("{pci} is bonded already")));
        }
        if places.first().is_some_and(|&first| card.functions[first].side != card.functions[found].side) {
            return Err(bad(text, format!("{pci} is on the other side than the first member")));
        }
        places.push(found);
    }
    if places.len() < 2 {
        return Err(bad(&bond.members, format!("a bond needs at least 2 members, not {}", places.len())));
    }
    Ok(places)
}
