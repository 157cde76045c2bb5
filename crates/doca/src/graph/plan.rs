//! The order of a graph's nodes: numbers and arrows.

/// Nodes by number, and which come after which.
#[derive(Debug, Default)]
pub(super) struct Plan {
    after: Vec<Vec<u32>>,
    before: Vec<u32>,
}

impl Plan {
    /// One more node; its number.
    pub(super) fn add(&mut self) -> u32 {
        self.after.push(Vec::new());
        self.before.push(0);
        self.before.len() as u32 - 1
    }

    /// Nodes.
    pub(super) fn len(&self) -> usize {
        self.before.len()
    }

    /// The nodes that `node` comes before, each once per arrow.
    pub(super) fn after(&self, node: u32) -> &[u32] {
        self.after.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// How many arrows lead to each node.
    pub(super) fn before(&self) -> &[u32] {
        &self.before
    }

    /// Nodes that nothing comes before.
    pub(super) fn roots(&self) -> impl Iterator<Item = u32> {
        self.before.iter().zip(0..).filter(|(before, _)| **before == 0).map(|(_, node)| node)
    }

    /// `from` comes before `to`. False, and nothing changes, when that would close a circle.
    pub(super) fn link(&mut self, from: u32, to: u32) -> bool {
        if self.leads_to(to, from) {
            return false;
        }
        if let (Some(after), Some(before)) =
            (self.after.get_mut(from as usize), self.before.get_mut(to as usize))
        {
            after.push(to);
            *before += 1;
        }
        true
    }

    /// Is there a way from one node to the other (or are they the same)?
    fn leads_to(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![false; self.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if let Some(seen) = seen.get_mut(node as usize)
                && !core::mem::replace(seen, true)
            {
                open.extend_from_slice(self.after(node));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_refused_and_change_nothing() {
        let mut plan = Plan::default();
        let [a, b, c, d] = [0; 4].map(|_| plan.add());
        assert!(plan.link(a, b) && plan.link(b, c) && plan.link(a, d) && plan.link(d, c));
        for (from, to) in [(a, a), (b, a), (c, a), (c, b), (c, d)] {
            assert!(!plan.link(from, to), "{from} {to}");
        }
        assert!(plan.link(b, d));
        assert_eq!(plan.before(), [0, 1, 2, 2]);
        assert_eq!(plan.roots().collect::<Vec<_>>(), [a]);
        assert_eq!(plan.after(a), [b, d]);
    }

    /// A ladder has a number of ways that doubles with each rung; they are not walked one by one.
    #[test]
    fn a_tall_ladder_takes_no_time() {
        let mut plan = Plan::default();
        let first = plan.add();
        let mut at = first;
        for _ in 0..200 {
            let (left, right, top) = (plan.add(), plan.add(), plan.add());
            assert!(plan.link(at, left) && plan.link(at, right));
            assert!(plan.link(left, top) && plan.link(right, top));
            at = top;
        }
        assert!(!plan.link(at, first));
        assert_eq!(plan.roots().count(), 1);
    }
}
