//! Admissions in the memory store.
//!
//! A call costs as many steps as it names keys, times the logarithm of how many wait there.

use std::{convert::Infallible, time::Duration};

use super::{
    lane::Lane,
    state::{Map, State},
};
use crate::{
    clock::Timestamp,
    decide::{
        self, AttemptRow, Before, CallRow, Charging, Decision, InUse, Rows, Standing, VersionRow, ViewRow,
    },
    store::{Admission, Admitted, Charge, Fence, Key, OpId, Places, Settlement, Wish},
};

/// What only admissions use.
#[derive(Debug, Default)]
pub(super) struct Desk {
    calls: Map<OpId, CallRow>,
    locks: Map<Key, Lane>,
    places: Map<Key, Lane>,
    versions: Map<Key, VersionRow>,
    /// By reader, then by key.
    views: Map<Key, Map<Key, ViewRow>>,
    last_number: u64,
}

impl Desk {
    /// Forgets what has expired.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        self.calls.retain(|_, row| row.until() > now);
        self.versions.retain(|_, row| row.forget > now);
        self.views.retain(|_, views| {
            views.retain(|_, row| row.forget > now);
            !views.is_empty()
        });
        for lanes in [&mut self.locks, &mut self.places] {
            lanes.retain(|_, lane| {
                lane.tidy(now);
                lane.len() > 0
            });
            lanes.shrink_to(2 * lanes.len());
        }
        self.calls.shrink_to(2 * self.calls.len());
    }

    /// How many rows can expire.
    pub(super) fn expirable(&self) -> usize {
        let views: usize = self.views.values().map(Map::len).sum();
        let lanes = self.locks.values().chain(self.places.values());
        self.calls.len() + self.versions.len() + views + lanes.map(Lane::len).sum::<usize>()
    }

    fn view(&self, reader: &Key, key: &Key) -> Option<&ViewRow> {
        self.views.get(reader)?.get(key)
    }

    fn see(&mut self, reader: &Key, key: &Key, row: ViewRow) {
        if !self.views.contains_key(reader) {
            self.views.insert(reader.clone(), Map::default());
        }
        if let Some(views) = self.views.get_mut(reader) {
            views.insert(key.clone(), row);
        }
    }

    /// Does something with each lane, and forgets those that are empty then.
    fn each<'a>(
        lanes: &mut Map<Key, Lane>,
        keys: impl Iterator<Item = &'a Key>,
        mut change: impl FnMut(&mut Lane),
    ) {
        for key in keys {
            if let Some(lane) = lanes.get_mut(key) {
                change(lane);
                if lane.len() == 0 {
                    lanes.remove(key);
                }
            }
        }
    }
}

/// The lane of a key, made if it is not there.
fn lane<'a>(lanes: &'a mut Map<Key, Lane>, key: &Key) -> &'a mut Lane {
    lanes.entry(key.clone()).or_default()
}

/// The state at one moment, with the lanes of the call tidied.
struct Moment<'a>(&'a State, Timestamp);

impl Rows for Moment<'_> {
    type Error = Infallible;

    fn last_number(&self) -> Result<u64, Infallible> {
        Ok(self.0.desk.last_number)
    }

    fn call(&self, call: OpId) -> Result<Option<CallRow>, Infallible> {
        Ok(self.0.desk.calls.get(&call).copied())
    }

    fn wait(&self, charge: &Charge) -> Result<Option<Duration>, Infallible> {
        let row = self.0.rates.get(&charge.key).map(|(row, _)| row);
        Ok(decide::wait(row, &charge.quota, self.1))
    }

    fn attempt(&self, key: &Key) -> Result<Option<AttemptRow>, Infallible> {
        Ok(self.0.attempts.get(key).cloned())
    }

    fn lock(&self, wish: &Wish, ticket: Option<u64>) -> Result<Before, Infallible> {
        let lane = self.0.desk.locks.get(&wish.key);
        Ok(lane.map_or_else(Before::default, |lane| lane.before(wish.is_shared, ticket)))
    }

    fn place(&self, places: &Places, ticket: Option<u64>) -> Result<InUse, Infallible> {
        let lane = self.0.desk.places.get(&places.key);
        Ok(lane.map_or_else(InUse::default, |lane| lane.in_use(ticket)))
    }

    fn version(&self, key: &Key) -> Result<Option<VersionRow>, Infallible> {
        Ok(self.0.desk.versions.get(key).copied())
    }

    fn view(&self, reader: &Key, key: &Key) -> Result<Option<ViewRow>, Infallible> {
        Ok(self.0.desk.view(reader, key).copied())
    }
}

impl State {
    pub(super) fn admit(&mut self, admission: &Admission, now: Timestamp) -> Admitted {
        let locks = || admission.locks.iter().map(|wish| &wish.key);
        let places = || admission.places.iter().map(|places| &places.key);
        Desk::each(&mut self.desk.locks, locks(), |lane| lane.tidy(now));
        Desk::each(&mut self.desk.places, places(), |lane| lane.tidy(now));
        let Ok(Decision { answer, charging, standing }) = decide::admit(&Moment(self, now), admission, now);
        self.charge(&admission.charges, charging, now);
        match standing {
            Standing::Nowhere => {}
            Standing::Leaves => self.desk.leave(admission.call, locks(), places()),
            Standing::Waits { ticket, until } => {
                let desk = &mut self.desk;
                desk.last_number = desk.last_number.max(ticket);
                desk.calls.insert(admission.call, CallRow::Waits { ticket, until });
                for wish in &admission.locks {
                    lane(&mut desk.locks, &wish.key).line.stand(ticket, wish.is_shared, until);
                }
                for key in places() {
                    lane(&mut desk.places, key).line.stand(ticket, false, until);
                }
            }
            Standing::HoldsOn { until } => {
                let once = admission.once.as_ref().map(|once| &once.key);
                self.prolong_rows(admission.call, locks(), places(), once, until, now);
            }
            Standing::Holds { fence, until } => self.grant(admission, fence, until, now),
        }
        answer
    }

    fn charge(&mut self, charges: &[Charge], charging: Charging, now: Timestamp) {
        for Charge { key, quota } in charges {
            let is_due = match charging {
                Charging::Nothing => false,
                Charging::Charge => true,
                Charging::Correct => {
                    decide::wait(self.rates.get(key).map(|(row, _)| row), quota, now).is_some()
                }
            };
            if is_due {
                self.take(key, quota, 1, now);
            }
        }
    }

    fn grant(&mut self, admission: &Admission, fence: Fence, until: Timestamp, now: Timestamp) {
        let desk = &mut self.desk;
        if desk.calls.contains_key(&admission.call) {
            let locks = admission.locks.iter().map(|wish| &wish.key);
            desk.leave(admission.call, locks, admission.places.iter().map(|places| &places.key));
        }
        desk.last_number = fence.0;
        desk.calls.insert(admission.call, CallRow::Holds { fence, until });
        for wish in &admission.locks {
            lane(&mut desk.locks, &wish.key).hold(admission.call, wish.is_shared, until);
        }
        for places in &admission.places {
            lane(&mut desk.places, &places.key).hold(admission.call, true, until);
        }
        if let Some(once) = &admission.once {
            let row = decide::hold_attempt(once, admission, fence, now);
            self.attempts.insert(once.key.clone(), row);
        }
        if let Some(reader) = &admission.reader {
            let forget = now.after(admission.remember);
            for key in &admission.observes {
                let version = desk.versions.get(key).filter(|row| row.forget > now);
                let version = version.map_or(0, |row| row.version);
                desk.see(reader, key, ViewRow { version, forget });
            }
        }
    }

    /// Gives all that a call has more time.
    fn prolong_rows<'a>(
        &mut self,
        call: OpId,
        locks: impl Iterator<Item = &'a Key>,
        places: impl Iterator<Item = &'a Key>,
        once: Option<&Key>,
        longer: Timestamp,
        now: Timestamp,
    ) {
        let Some(CallRow::Holds { fence, until }) = self.desk.calls.get(&call).copied() else { return };
        self.desk.calls.insert(call, CallRow::Holds { fence, until: longer });
        Desk::each(&mut self.desk.locks, locks, |lane| lane.prolong(call, until, longer));
        Desk::each(&mut self.desk.places, places, |lane| lane.prolong(call, until, longer));
        if let Some(key) = once
            && let Some(row) = decide::prolong_attempt(self.attempts.get(key), fence, longer.since(now), now)
        {
            self.attempts.insert(key.clone(), row);
        }
    }

    pub(super) fn prolong(&mut self, settlement: &Settlement, ttl: Duration, now: Timestamp) -> bool {
        let Settlement { call, fence, places, locks, once, .. } = settlement;
        let (desk, row) = (&self.desk, self.desk.calls.get(call));
        let (Some(CallRow::Holds { until, .. }), Some(fence)) = (row, fence) else { return false };
        let is_held = |lanes: &Map<Key, Lane>, key: &Key| {
            lanes.get(key).is_some_and(|lane| lane.is_held(*call, *until))
        };
        let once = once.as_ref().map(|(key, ..)| key);
        let is_all_held = decide::settle_call(row, settlement, now)
            && locks.iter().all(|key| is_held(&desk.locks, key))
            && places.iter().all(|key| is_held(&desk.places, key))
            && once.is_none_or(|key| {
                decide::prolong_attempt(self.attempts.get(key), *fence, ttl, now).is_some()
            });
        if is_all_held {
            self.prolong_rows(*call, locks.iter(), places.iter(), once, now.after(ttl), now);
        }
        is_all_held
    }

    pub(super) fn settle(&mut self, settlement: &Settlement, now: Timestamp) -> bool {
        let Settlement { call, places, locks, .. } = settlement;
        if settlement.fence.is_some() {
            self.desk.raise(settlement, now);
        }
        if let Some((key, ..)) = &settlement.once
            && let Some(row) = decide::end_attempt(self.attempts.get(key), settlement, now)
        {
            self.attempts.insert(key.clone(), row);
        }
        let is_live = decide::settle_call(self.desk.calls.get(call), settlement, now);
        if is_live {
            self.desk.leave(*call, locks.iter(), places.iter());
        }
        is_live
    }
}

impl Desk {
    /// Forgets a call: it stands in no line any more, and has no lock and no place.
    fn leave<'a>(
        &mut self,
        call: OpId,
        locks: impl Iterator<Item = &'a Key>,
        places: impl Iterator<Item = &'a Key>,
    ) {
        let row = self.calls.remove(&call);
        let leave = |lane: &mut Lane| match row {
            Some(CallRow::Waits { ticket, .. }) => lane.line.leave(ticket),
            Some(CallRow::Holds { until, .. }) => lane.release(call, until),
            None => {}
        };
        Self::each(&mut self.locks, locks, leave);
        Self::each(&mut self.places, places, leave);
    }

    /// Raises the versions of what a call changed.
    fn raise(&mut self, settlement: &Settlement, now: Timestamp) {
        let number = decide::next_number(self.last_number, now);
        for key in &settlement.changes {
            let reader = settlement.reader.as_ref();
            let view = reader.and_then(|reader| self.view(reader, key));
            let raised = decide::raise(self.versions.get(key), view, settlement, number, now);
            if let Some((version, view)) = raised {
                self.last_number = number;
                self.versions.insert(key.clone(), version);
                if let (Some(reader), Some(view)) = (reader, view) {
                    self.see(reader, key, view);
                }
            }
        }
    }
}
