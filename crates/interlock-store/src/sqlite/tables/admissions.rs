//! Admissions: what becomes of a call's rows.

use std::time::Duration;

use interlock_sync::{
    decide::{self, CallRow, Charging, Decision, Standing, ViewRow},
    store::{Admission, Admitted, Charge, Fence, Key, OpId, Settlement, Timestamp},
};
use rusqlite::{Result, params};

use super::{
    super::values::{id, moment},
    Tables,
    admission_rows::Kind,
};

impl Tables<'_, '_> {
    pub(in super::super) fn admit(&self, admission: &Admission) -> Result<Admitted> {
        let Decision { answer, charging, standing } = decide::admit(self, admission, self.now)?;
        self.charge(&admission.charges, charging)?;
        let (call, now) = (admission.call, self.now);
        match standing {
            Standing::Nowhere => {}
            Standing::Leaves => self.leave(call, keys(admission))?,
            Standing::Waits { ticket, until } => {
                self.put_call(call, CallRow::Waits { ticket, until })?;
                self.put_number(ticket)?;
                for wish in &admission.locks {
                    self.stand(Kind::Lock, &wish.key, ticket, wish.is_shared, until)?;
                }
                for places in &admission.places {
                    self.stand(Kind::Place, &places.key, ticket, false, until)?;
                }
            }
            Standing::HoldsOn { until } => {
                let once = admission.once.as_ref().map(|once| &once.key);
                if let Admitted::Granted { fence } = answer {
                    self.prolong_rows(call, fence, keys(admission), once, until)?;
                }
            }
            Standing::Holds { fence, until } => {
                self.leave(call, keys(admission))?;
                self.put_call(call, CallRow::Holds { fence, until })?;
                self.put_number(fence.0)?;
                for wish in &admission.locks {
                    self.hold(Kind::Lock, &wish.key, call, wish.is_shared, until)?;
                }
                for places in &admission.places {
                    self.hold(Kind::Place, &places.key, call, true, until)?;
                }
                if let Some(once) = &admission.once {
                    let row = decide::hold_attempt(once, admission, fence, now);
                    self.put_attempt(&once.key, Some(row))?;
                }
                self.observe(admission)?;
            }
        }
        Ok(answer)
    }

    fn charge(&self, charges: &[Charge], charging: Charging) -> Result<()> {
        for Charge { key, quota } in charges {
            let is_due = match charging {
                Charging::Nothing => false,
                Charging::Charge => true,
                Charging::Correct => decide::wait(self.rate(key)?.as_ref(), quota, self.now).is_some(),
            };
            if is_due {
                self.take(key, quota, 1)?;
            }
        }
        Ok(())
    }

    /// The reader has seen the versions of this moment.
    fn observe(&self, admission: &Admission) -> Result<()> {
        let Some(reader) = &admission.reader else { return Ok(()) };
        let forget = self.now.after(admission.remember);
        for key in &admission.observes {
            let version = self.version_row(key)?.filter(|row| row.forget > self.now);
            let version = version.map_or(0, |row| row.version);
            self.put_view(reader, key, ViewRow { version, forget })?;
        }
        Ok(())
    }

    /// Gives all that a call has until `longer`.
    fn prolong_rows<'a>(
        &self,
        call: OpId,
        fence: Fence,
        keys: impl Iterator<Item = (Kind, &'a Key)>,
        once: Option<&Key>,
        longer: Timestamp,
    ) -> Result<()> {
        self.put_call(call, CallRow::Holds { fence, until: longer })?;
        for (kind, key) in keys {
            let sql = "UPDATE hold SET until = ?5 WHERE space = ?1 AND kind = ?2 AND key = ?3 AND call = ?4";
            self.run(sql, params![self.space, kind as i64, key.as_str(), id(call), moment(longer)])?;
        }
        if let Some(key) = once {
            let ttl = longer.since(self.now);
            let row = decide::prolong_attempt(self.attempt(key)?.as_ref(), fence, ttl, self.now);
            self.put_attempt(key, row)?;
        }
        Ok(())
    }

    pub(in super::super) fn prolong(&self, settlement: &Settlement, ttl: Duration) -> Result<bool> {
        let Settlement { call, once, .. } = settlement;
        let row = self.call_row(*call)?;
        let Some(fence) = settlement.fence else { return Ok(false) };
        if !decide::settle_call(row.as_ref(), settlement, self.now) {
            return Ok(false);
        }
        for (kind, key) in settled_keys(settlement) {
            if !self.is_held(kind, key, *call)? {
                return Ok(false);
            }
        }
        let once = once.as_ref().map(|(key, ..)| key);
        if let Some(key) = once
            && decide::prolong_attempt(self.attempt(key)?.as_ref(), fence, ttl, self.now).is_none()
        {
            return Ok(false);
        }
        self.prolong_rows(*call, fence, settled_keys(settlement), once, self.now.after(ttl))?;
        Ok(true)
    }

    pub(in super::super) fn settle(&self, settlement: &Settlement) -> Result<bool> {
        if settlement.fence.is_some() {
            self.raise(settlement)?;
        }
        if let Some((key, ..)) = &settlement.once {
            let row = decide::end_attempt(self.attempt(key)?.as_ref(), settlement, self.now);
            self.put_attempt(key, row)?;
        }
        let row = self.call_row(settlement.call)?;
        let is_live = decide::settle_call(row.as_ref(), settlement, self.now);
        if is_live {
            self.leave(settlement.call, settled_keys(settlement))?;
        }
        Ok(is_live)
    }

    /// Raises the versions of what a call changed.
    fn raise(&self, settlement: &Settlement) -> Result<()> {
        if settlement.changes.is_empty() {
            return Ok(());
        }
        let number = decide::next_number(self.number()?, self.now);
        for key in &settlement.changes {
            let reader = settlement.reader.as_ref();
            let view = reader.map(|reader| self.view_row(reader, key)).transpose()?.flatten();
            let version = self.version_row(key)?;
            let raised = decide::raise(version.as_ref(), view.as_ref(), settlement, number, self.now);
            if let Some((version, view)) = raised {
                self.put_number(number)?;
                self.put_version(key, version)?;
                if let (Some(reader), Some(view)) = (reader, view) {
                    self.put_view(reader, key, view)?;
                }
            }
        }
        Ok(())
    }

    /// Forgets a call: it stands in no line any more, and has no lock and no place.
    fn leave<'a>(&self, call: OpId, keys: impl Iterator<Item = (Kind, &'a Key)>) -> Result<()> {
        let Some(row) = self.call_row(call)? else { return Ok(()) };
        for (kind, key) in keys {
            match row {
                CallRow::Waits { ticket, .. } => {
                    let sql = "DELETE FROM wait WHERE space = ?1 AND kind = ?2 AND key = ?3 AND ticket = ?4";
                    self.run(sql, (self.space, kind as i64, key.as_str(), ticket))?;
                }
                CallRow::Holds { .. } => {
                    let sql = "DELETE FROM hold WHERE space = ?1 AND kind = ?2 AND key = ?3 AND call = ?4";
                    self.run(sql, (self.space, kind as i64, key.as_str(), id(call)))?;
                }
            }
        }
        self.run("DELETE FROM call WHERE space = ?1 AND id = ?2", (self.space, id(call))).map(drop)
    }
}

fn keys(admission: &Admission) -> impl Iterator<Item = (Kind, &Key)> {
    let locks = admission.locks.iter().map(|wish| (Kind::Lock, &wish.key));
    locks.chain(admission.places.iter().map(|places| (Kind::Place, &places.key)))
}

fn settled_keys(settlement: &Settlement) -> impl Iterator<Item = (Kind, &Key)> {
    let locks = settlement.locks.iter().map(|key| (Kind::Lock, key));
    locks.chain(settlement.places.iter().map(|key| (Kind::Place, key)))
}
