//! Anchors and what their aliases cost.
//!
//! The hosts' parser refuses an anchor once its uses, multiplied along the deepest chain of anchors inside it, exceed a
//! limit. The same account is kept here, so that nothing is served that they refuse.

use std::collections::HashMap;

use serde_json::Value;

/// The most uses of one anchor, the definition included, multiplied along the chain of anchors inside it.
pub(super) const ALIAS_WEIGHT_MAX: usize = 100;

/// What a node holds, as far as aliases to it care.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// Whether a scalar is in it.
    pub(super) scalar: bool,
    /// The anchors that aliases in it refer to.
    pub(super) aliases: Vec<usize>,
    /// How deeply collections are nested in it after the expansion of its aliases, itself included; 0 for a scalar.
    pub(super) depth: usize,
}

impl Contents {
    /// Adds what a child holds.
    pub(super) fn absorb(&mut self, child: Self) {
        self.scalar |= child.scalar;
        self.aliases.extend(child.aliases);
        self.depth = self.depth.max(child.depth);
    }
}

/// A node with an anchor.
#[derive(Debug)]
pub(super) struct Anchor {
    /// What it is.
    pub(super) value: Value,
    /// How many nodes it has after the expansion of its own aliases.
    pub(super) nodes: usize,
    /// How many bytes of text it has after the same.
    pub(super) text_bytes: usize,
    contents: Contents,
    uses: usize,
    weight: usize,
}

impl Anchor {
    /// A node that is complete.
    pub(super) fn new(value: Value, nodes: usize, text_bytes: usize, contents: Contents) -> Self {
        Self { value, nodes, text_bytes, contents, uses: 1, weight: 0 }
    }

    /// How deeply collections are nested in it.
    pub(super) fn depth(&self) -> usize {
        self.contents.depth
    }
}

/// The anchors that are complete, by the parser's number.
#[derive(Debug, Default)]
pub(super) struct Anchors(HashMap<usize, Anchor>);

/// Why an alias is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It stands within the node that it refers to.
    Cycle,
    /// It is one use too many.
    Weight,
}

impl Anchors {
    /// Adds a complete node.
    pub(super) fn define(&mut self, id: usize, anchor: Anchor) {
        self.0.insert(id, anchor);
    }

    /// Counts one more alias to `id` and gives the node.
    pub(super) fn resolve(&mut self, id: usize) -> Result<&Anchor, Refusal> {
        let anchor = self.0.get(&id).ok_or(Refusal::Cycle)?;
        let weight = match anchor.weight {
            0 => self.weigh(&anchor.contents),
            known => known,
        };
        let anchor = self.0.get_mut(&id).ok_or(Refusal::Cycle)?;
        anchor.weight = weight;
        anchor.uses += 1;
        if anchor.uses.saturating_mul(weight) > ALIAS_WEIGHT_MAX {
            return Err(Refusal::Weight);
        }
        Ok(anchor)
    }

    fn weigh(&self, contents: &Contents) -> usize {
        let inner = contents.aliases.iter().filter_map(|id| self.0.get(id));
        let aliases = inner.map(|anchor| anchor.uses.saturating_mul(anchor.weight)).max();
        aliases.unwrap_or(0).max(usize::from(contents.scalar))
    }
}
