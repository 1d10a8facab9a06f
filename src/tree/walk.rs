//! The look at one root: level by level, so that nothing recurses and no handle outlives its directory's listing.
//!
//! First comes the root's own tree, in parallel. Then each link to a directory in it is followed with a budget of its
//! own and whole or not at all, so that links to links to links, which double at every step, cost a bounded time and
//! only themselves.
//!
//! With a memory that may be trusted, only what is dirty is listed, and all else is taken over as it is.

use rayon::prelude::*;

use super::dirt::Dirt;
use super::expand::{Expanded, Item, Link, Mode};
use super::limits::{Budgets, PATTERN_ENTRIES};
use super::list::Walk;
use super::memory::Memory;
use super::rules::IGNORE_FILE;
use super::spot::{Budget, OverBudget, Spot, Task, Trust};
use crate::finding::{Code, Finding};

impl Walk<'_> {
    /// Lists all that is at and below `top`.
    pub(super) fn everything(&self, top: Spot, before: Option<&Memory>) -> Memory {
        let zone = top.site.place.zone;
        let memory = before.and_then(|before| before.top.clone());
        let top = Item { task: Task { spot: top, memory, trust: Trust::Nothing }, dirt: None };
        let Ok(mut own) = self.expand(top, &Budget::new(self.budgets.root), Mode::OwnTree) else {
            return Memory::new(Some(zone), None, vec![self.too_many_entries()], before);
        };
        let mut links = std::mem::take(&mut own.links);
        let Budgets { small_link, link, linked, vain, .. } = self.budgets;
        let mut left = Left { served: linked, vain };
        // Where there are so many that not all may be looked at in vain as small ones, those come first for which a share is
        // enough, so that the others cannot use it up. One entry of the share tells that there are more.
        let share = (vain / (links.len() as u64).max(1)).saturating_sub(1);
        if share < small_link {
            links = self.follow_all(links, share, 64, &mut left, &mut own);
            left.vain = vain;
        }
        // The small ones first, so that a few large ones cannot use up what is meant for all.
        for (max, at_a_time) in [(small_link, 64), (link, 4)] {
            links = self.follow_all(links, max, at_a_time, &mut left, &mut own);
        }
        let over_budget = links.iter().map(|(_, link)| self.over_budget(&link.task.spot)).collect();
        Memory::new(Some(zone), own.drafts.finish(self.budgets.small_link), over_budget, before)
    }

    /// Lists what is dirty, and takes over the rest.
    ///
    /// # Errors
    /// A budget is used up, so that all links together decide which of them are followed.
    pub(super) fn dirty(&self, top: Spot, before: &Memory, dirt: &Dirt) -> Result<Memory, OverBudget> {
        let task = Task { spot: top, memory: before.top.clone(), trust: Trust::All };
        let top = Item { task, dirt: Some(dirt) };
        let mut own = self.expand(top, &Budget::new(self.budgets.root), Mode::OwnTree)?;
        for link in std::mem::take(&mut own.links) {
            let ((parent, _), linked, _) = self.follow(link, self.budgets.link);
            own.drafts.attach(parent, linked?.drafts.finish(self.budgets.small_link));
        }
        let top = own.drafts.finish(self.budgets.small_link).ok_or(OverBudget)?;
        let sums = top.sums.rare();
        let vain = sums.large_links.saturating_mul(self.budgets.small_link.saturating_add(1));
        let is_enough_for_all = sums.linked_entries <= self.budgets.linked
            && vain.saturating_add(self.budgets.link) <= self.budgets.vain;
        // Whether there was enough is of no interest where nothing is reached through links.
        if is_enough_for_all || sums.linked_entries == 0 {
            Ok(Memory::new(before.zone, Some(top), Vec::new(), Some(before)))
        } else {
            Err(OverBudget)
        }
    }

    /// Follows links that lead to at most `max` entries each, and gives back the others. What is `at_a_time` bounds how
    /// much is held for those that turn out to be others.
    fn follow_all<'d>(
        &self,
        links: Vec<Link<'d>>,
        max: u64,
        at_a_time: usize,
        left: &mut Left,
        own: &mut Expanded<'d>,
    ) -> Vec<Link<'d>> {
        let mut over = Vec::new();
        let mut links = links.into_iter();
        loop {
            let some: Vec<_> = links.by_ref().take(at_a_time).collect();
            if some.is_empty() {
                return over;
            }
            let max = max.min(left.served).min(left.vain);
            let followed: Vec<_> = some.into_par_iter().map(|link| self.follow(link, max)).collect();
            for (link, expanded, used) in followed {
                match expanded {
                    Ok(linked) if used <= left.served => {
                        left.served -= used;
                        own.drafts.attach(link.0, linked.drafts.finish(self.budgets.small_link));
                    }
                    Ok(_) | Err(OverBudget) => {
                        left.vain = left.vain.saturating_sub(used);
                        over.push(link);
                    }
                }
            }
        }
    }

    fn follow<'d>(&self, link: Link<'d>, max: u64) -> (Link<'d>, Result<Expanded<'d>, OverBudget>, u64) {
        let budget = Budget::new(max);
        let expanded = self.expand(link.1.clone(), &budget, Mode::Linked);
        (link, expanded, budget.used())
    }

    fn too_many_entries(&self) -> Finding {
        let max = self.budgets.root;
        let message = format!(
            "the directory has more than {max} entries, each pattern of a {IGNORE_FILE} counted as {PATTERN_ENTRIES}, so nothing \
             of it is served"
        );
        self.finding(
            "",
            Code::TooManyEntries,
            message,
            "serve a directory further down, or exclude what is no skill",
        )
    }

    fn over_budget(&self, link: &Spot) -> Finding {
        let message = "the link leads to more entries than are looked at through links".to_owned();
        self.finding(
            &link.served,
            Code::LinkBudget,
            message,
            "serve its target as a directory of its own, or exclude the link",
        )
    }
}

/// How many entries links may still lead to.
struct Left {
    served: u64,
    vain: u64,
}
