//! Those who wait for one key, in the order in which they came.
//!
//! Each question about one of them (how many came before, who is first) takes as many steps as the logarithm of their number, also if many
//! leave from the middle: who leaves keeps an empty slot until most are empty, and a tree of sums (Fenwick's) counts the others.

use std::collections::BTreeSet;

use crate::clock::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Line {
    /// By ticket.
    slots: Vec<Slot>,
    /// At index i, counted from 1: how many wait in the slots from i − (its lowest bit) + 1 to i.
    sums: Vec<u32>,
    len: usize,
    /// The slots before this one are empty.
    head: usize,
    /// By when they lose their places.
    ends: BTreeSet<(Timestamp, u64)>,
    /// The tickets of those who do not share.
    exclusive: BTreeSet<u64>,
}

#[derive(Debug)]
struct Slot {
    ticket: u64,
    until: Timestamp,
    is_taken: bool,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts somebody in line, or keeps the place of one who is there. Tickets rise, so a new one is behind all others; only a call that
    /// names other keys than before brings an older one.
    pub(super) fn stand(&mut self, ticket: u64, is_shared: bool, until: Timestamp) {
        if let Some(at) = self.find(ticket)
            && let Some(slot) = self.slots.get_mut(at)
        {
            self.ends.remove(&(slot.until, ticket));
            slot.until = until;
        } else {
            self.len += 1;
            let at = self.slots.partition_point(|slot| slot.ticket < ticket);
            self.slots.insert(at, Slot { ticket, until, is_taken: true });
            if at + 1 == self.slots.len() {
                self.push_sum(1);
            } else {
                self.close_ranks();
            }
            if !is_shared {
                self.exclusive.insert(ticket);
            }
        }
        self.ends.insert((until, ticket));
    }

    pub(super) fn leave(&mut self, ticket: u64) {
        let Some(at) = self.find(ticket) else { return };
        if let Some(slot) = self.slots.get_mut(at) {
            slot.is_taken = false;
            self.ends.remove(&(slot.until, ticket));
        }
        self.exclusive.remove(&ticket);
        self.len -= 1;
        let mut index = at + 1;
        while let Some(sum) = self.sums.get_mut(index - 1) {
            *sum -= 1;
            index += lowest_bit(index);
        }
        while self.slots.get(self.head).is_some_and(|slot| !slot.is_taken) {
            self.head += 1;
        }
        if self.slots.len() > 32 + 2 * self.len {
            self.close_ranks();
        }
    }

    /// Without empty slots.
    fn close_ranks(&mut self) {
        self.slots.retain(|slot| slot.is_taken);
        self.slots.shrink_to(2 * self.len);
        self.head = 0;
        self.sums = Vec::with_capacity(self.slots.len());
        (0..self.slots.len()).for_each(|_| self.push_sum(1));
    }

    /// Takes those out who have not asked again in time.
    pub(super) fn tidy(&mut self, now: Timestamp) {
        while let Some((until, ticket)) = self.ends.first().copied()
            && until <= now
        {
            self.leave(ticket);
        }
    }

    /// How many came before.
    pub(super) fn ahead(&self, ticket: Option<u64>) -> u32 {
        let Some(ticket) = ticket else { return u32::try_from(self.len).unwrap_or(u32::MAX) };
        let mut index = self.slots.partition_point(|slot| slot.ticket < ticket);
        let mut sum = 0;
        while let Some(part) = index.checked_sub(1).and_then(|at| self.sums.get(at)) {
            sum += part;
            index -= lowest_bit(index);
        }
        sum
    }

    /// When the first who came before loses its place; only of those who do not share, if that is all that matters.
    pub(super) fn first_end(&self, ticket: Option<u64>, is_shared: bool) -> Option<Timestamp> {
        let first = if is_shared { *self.exclusive.first()? } else { self.slots.get(self.head)?.ticket };
        let slot = self.slots.get(self.find(first)?)?;
        ticket.is_none_or(|ticket| first < ticket).then_some(slot.until)
    }

    fn find(&self, ticket: u64) -> Option<usize> {
        let at = self.slots.partition_point(|slot| slot.ticket < ticket);
        self.slots.get(at).filter(|slot| slot.ticket == ticket && slot.is_taken).map(|_| at)
    }

    fn push_sum(&mut self, one: u32) {
        let index = self.sums.len() + 1;
        let mut sum = one;
        let mut step = 1;
        while step < lowest_bit(index) {
            sum += self.sums.get(index - step - 1).copied().unwrap_or_default();
            step *= 2;
        }
        self.sums.push(sum);
    }
}

fn lowest_bit(index: usize) -> usize {
    index & index.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Timestamp = Timestamp(1000);

    #[test]
    fn everybody_knows_how_many_came_before_whoever_leaves() {
        let mut line = Line::default();
        let mut there = BTreeSet::new();
        let mut chance = 7_u64;
        for ticket in 1..3000 {
            line.stand(ticket, ticket % 3 == 0, END);
            there.insert(ticket);
            for _ in 0..(ticket / 1000) {
                chance =
                    chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let leaver = (chance >> 33) % ticket + 1;
                line.leave(leaver);
                there.remove(&leaver);
            }
            assert_eq!(line.len(), there.len());
            let asker = (chance >> 40) % (ticket + 2);
            assert_eq!(line.ahead(Some(asker)) as usize, there.range(..asker).count(), "before {asker}");
            let first_exclusive = there.iter().find(|ticket| *ticket % 3 != 0);
            let is_blocked = first_exclusive.is_some_and(|first| *first < asker);
            assert_eq!(line.first_end(Some(asker), true).is_some(), is_blocked);
            assert!(line.slots.len() <= 32 + 2 * line.len() + 1, "empty slots do not pile up");
        }
        assert!(there.len() > 100 && there.len() < 2500);
    }

    #[test]
    fn who_does_not_ask_again_loses_its_place_and_who_does_keeps_it() {
        let mut line = Line::default();
        line.stand(1, false, Timestamp(10));
        line.stand(2, true, Timestamp(20));
        line.stand(1, false, Timestamp(30));
        line.tidy(Timestamp(20));
        assert_eq!((line.len(), line.ahead(Some(2)), line.ahead(None)), (1, 1, 1));
        assert_eq!(line.first_end(None, true), Some(Timestamp(30)));
        assert_eq!(line.first_end(Some(1), false), None, "nobody is before the first");
        line.stand(3, true, Timestamp(30));
        line.stand(2, true, Timestamp(30));
        assert_eq!([1, 2, 3].map(|ticket| line.ahead(Some(ticket))), [0, 1, 2], "an older ticket comes late");
        line.tidy(Timestamp(30));
        assert_eq!((line.len(), line.ahead(None), line.first_end(None, false)), (0, 0, None));
    }
}
