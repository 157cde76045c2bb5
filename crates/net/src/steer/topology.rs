//! Rules of a topology file.

use super::{Action, Classifier, HashFields, Match, Rules};
use softdpu_card::SteerRule;
use std::sync::Arc;

/// The rules of a function, compiled; none where the topology has none.
pub(crate) fn of(rules: &[SteerRule]) -> Option<Arc<Classifier>> {
    if rules.is_empty() {
        return None;
    }
    let rules = rules.iter().fold(Rules::new(), |all, rule| all.rule(when(rule), then(rule)));
    // What could be wrong was refused when the file was read; a cause is in the log.
    rules.compile().ok().map(Arc::new)
}

fn when(rule: &SteerRule) -> Match {
    let mut when = Match::any();
    if let Some(mac) = rule.dst_mac {
        when = when.dst_mac(mac);
    }
    if let Some(mac) = rule.src_mac {
        when = when.src_mac(mac);
    }
    if let Some(kind) = rule.ether_type {
        when = when.ether_type(kind);
    }
    if let Some(vlan) = rule.vlan {
        when = when.vlan(vlan);
    }
    if let Some((address, bits)) = rule.src {
        when = when.src(address, bits);
    }
    if let Some((address, bits)) = rule.dst {
        when = when.dst(address, bits);
    }
    if let Some(number) = rule.protocol {
        when = when.protocol(number);
    }
    if let Some(port) = rule.src_port {
        when = when.src_port(port);
    }
    if let Some(port) = rule.dst_port {
        when = when.dst_port(port);
    }
    when
}

fn then(rule: &SteerRule) -> Action {
    let to = match &rule.queues[..] {
        [] => Action::drop(),
        queues => Action::queues(queues, HashFields::ALL),
    };
    to.mark(rule.mark).tag(rule.tag)
}
