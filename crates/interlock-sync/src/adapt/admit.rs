//! Who may start, and when: the order of the decisions about a call.
//!
//! 1. The gate: after closing, nothing starts.
//! 2. The rate, charged once, on arrival.
//! 3. The idempotency key: what was done is told again, what is under way is waited for, and neither takes a place.
//! 4. A place in flight, waited for in order of arrival and not for ever.
//! 5. The locks, all in one order, so that two calls cannot wait for each other.
//!
//! Whoever waits for a place holds no lock, and whoever waits for an answer holds neither. Only then the call starts, and what it holds
//! it holds until its future has ended: not until it was cancelled, timed out or lost its client.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use super::{
    call::{Call, CallerName},
    limits::{Flight, Flights, Once, Rate},
    locks::{Locked, Locks},
    policy::{Checked, Policy, Source, Terms},
    refusal::{CallRefusal, RefusalReason},
    template::{Template, Unfilled},
};
use crate::{
    events,
    gate::{Gate, OwnedInside},
    lock::Mode,
    spell::joined,
    store::{Fingerprint, Key},
};

/// Nobody waits longer. It keeps absurd times from overflowing.
const MOST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// A [`Policy`] at work: the limits, locks and memory that calls meet in. Clones are the same warden.
///
/// The adapters are made of it; whoever has another protocol can be, too.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use interlock_sync::adapt::{Call, CallerName, Policy, Rule, Warden};
///
/// let warden = Warden::new(Policy::builder().rule(Rule::of("pay").lock("purse")).build()?);
/// let caller = CallerName::new("alice");
/// let call = Call { tool: "pay", caller: &caller, arguments: None, idempotency_key: None };
///
/// let held = warden.arrive(&call).map_err(|refusal| refusal.to_string())?.hold().await;
/// let held = held.map_err(|refusal| refusal.to_string())?; // nobody else pays now
/// drop(held);
///
/// warden.gate().shut();
/// let refusal = warden.arrive(&call).unwrap_err();
/// assert_eq!(refusal.reason.name(), "closed");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Warden {
    pub(super) ward: Arc<Ward>,
}

/// What all calls meet in.
#[derive(Debug)]
pub(super) struct Ward {
    gate: Gate,
    pub(super) terms: Terms,
    rules: Vec<Installed>,
    locks: Locks,
    pub(super) once: Once,
}

/// A rule with its limits.
#[derive(Debug)]
struct Installed {
    rule: Checked,
    rate: Option<Arc<Rate>>,
    flights: Option<Arc<Flights>>,
}

/// A call that is inside the gate and has not started. Dropping it is leaving.
#[derive(Debug)]
#[must_use = "the call leaves when this is dropped"]
pub struct Arrived {
    pub(super) ward: Arc<Ward>,
    pub(super) tool: String,
    pub(super) once: Option<(Key, Fingerprint)>,
    pub(super) timeout: Option<Duration>,
    inside: OwnedInside,
    caller: CallerName,
    locks: Vec<(String, Mode)>,
    rate: Option<Arc<Rate>>,
    flights: Option<Arc<Flights>>,
    deadline: Instant,
    /// What is wrong with the call itself. It is told after the call was charged, or guessing would be free.
    flaw: Option<RefusalReason>,
}

/// What a call holds while it runs, given back when this is dropped: the locks first, the gate last.
#[derive(Debug)]
#[must_use = "what the call holds is given back when this is dropped"]
pub struct Held {
    _turn: Turn,
    _inside: OwnedInside,
}

/// The locks and the place in flight.
#[derive(Debug)]
pub(super) struct Turn {
    _locks: Locked,
    _flight: Option<Flight>,
}

impl Warden {
    /// Puts a policy to work.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let Policy { rules, terms } = policy;
        let install = |rule: Checked| Installed {
            rate: rule.rate.map(|quota| Arc::new(Rate::new(quota, &terms, &rule))),
            flights: rule.in_flight.map(|limit| Arc::new(Flights::new(limit, &terms, &rule))),
            rule,
        };
        let rules = rules.into_iter().map(install).collect();
        let (once, locks) = (Once::new(&terms), Locks::new(&terms));
        Self { ward: Arc::new(Ward { gate: Gate::new(), terms, rules, locks, once }) }
    }

    /// The gate that calls pass. Closing it lets what runs end and refuses everything else, also what waits for its turn.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.ward.gate
    }

    /// Whether no call is inside and nothing is held.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        let flights = |rule: &Installed| rule.flights.as_ref().is_none_or(|flights| flights.is_idle());
        self.gate().inside() == 0 && self.ward.locks.is_empty() && self.ward.rules.iter().all(flights)
    }

    /// Lets a call in through the gate.
    ///
    /// # Errors
    ///
    /// The refusal, if the gate is closed. Everything else is decided when the call is [run](Arrived::run) or
    /// [held](Arrived::hold).
    pub fn arrive(&self, call: &Call<'_>) -> Result<Arrived, CallRefusal> {
        let Ok(inside) = self.ward.gate.enter_owned() else {
            events::refused(call.tool, RefusalReason::Closed.name());
            return Err(CallRefusal { tool: call.tool.to_owned(), reason: RefusalReason::Closed });
        };
        let (mut lock, mut shared): (&[Template], &[Template]) = (&[], &[]);
        let (mut rate, mut flights, mut source, mut timeout) = (None, None, None, None);
        let mut requires_key = false;
        for Installed { rule, rate: its_rate, flights: its_flights } in &self.ward.rules {
            if rule.matches(call.tool) {
                lock = rule.lock.as_deref().unwrap_or(lock);
                shared = rule.lock_shared.as_deref().unwrap_or(shared);
                rate = its_rate.as_ref().or(rate);
                flights = its_flights.as_ref().or(flights);
                source = rule.idempotency.as_ref().or(source);
                requires_key |= rule.requires_key;
                timeout = rule.timeout.or(timeout);
            }
        }
        let locks = keys(call, lock, shared);
        let once = match source.map_or(Ok(None), |source| idempotency_key(&self.ward.terms, call, source)) {
            Ok(None) if requires_key => Err(RefusalReason::KeyMissing),
            once => once,
        };
        let flaw = locks.as_ref().err().or(once.as_ref().err()).cloned();
        Ok(Arrived {
            ward: Arc::clone(&self.ward),
            tool: call.tool.to_owned(),
            once: once.unwrap_or_default(),
            timeout,
            inside,
            caller: call.caller.clone(),
            locks: locks.unwrap_or_default(),
            rate: rate.cloned(),
            flights: flights.cloned(),
            deadline: Instant::now() + self.ward.terms.wait.min(MOST),
            flaw,
        })
    }

    /// The first rule that asks for more than the gate, a rate and a place in flight.
    #[cfg(feature = "tower")]
    pub(super) fn rule_beyond_limits(&self) -> Option<String> {
        let is_beyond = |rule: &Checked| {
            let has =
                |templates: &Option<Vec<Template>>| templates.as_ref().is_some_and(|all| !all.is_empty());
            has(&rule.lock) || has(&rule.lock_shared) || rule.idempotency.is_some() || rule.timeout.is_some()
        };
        self.ward
            .rules
            .iter()
            .map(|installed| &installed.rule)
            .find(|rule| is_beyond(rule))
            .map(Checked::name)
    }
}

impl Arrived {
    /// Charges the rate and waits for the call's turn: a place in flight and its locks. Not for calls with an idempotency key, of which
    /// this takes no notice; for those there is [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// The refusal.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives back all that it had, except what the rate was charged.
    pub async fn hold(self) -> Result<Held, CallRefusal> {
        let turn = match self.charge().await {
            Ok(()) => events::waiting(&self.tool, self.take_turn()).await,
            Err(reason) => Err(reason),
        };
        match turn {
            Ok(turn) => Ok(Held { _turn: turn, _inside: self.inside }),
            Err(reason) => Err(self.refuse(reason)),
        }
    }

    pub(super) fn refuse(self, reason: RefusalReason) -> CallRefusal {
        events::refused(&self.tool, reason.name());
        CallRefusal { tool: self.tool, reason }
    }

    /// What is decided on arrival, once for each call.
    pub(super) async fn charge(&self) -> Result<(), RefusalReason> {
        if let Some(rate) = &self.rate {
            rate.charge(&self.caller, self.deadline).await?;
        }
        self.flaw.clone().map_or(Ok(()), Err)
    }

    /// Waits for a place in flight and then for the locks. Dropping it gives back what it had.
    pub(super) async fn take_turn(&self) -> Result<Turn, RefusalReason> {
        let flight = match &self.flights {
            Some(flights) => Some(flights.enter(&self.caller, self.deadline).await?),
            None => None,
        };
        let locks = self.ward.locks.take(&self.locks, self.deadline).await?;
        // It may have waited for long, and what has not started when the gate closes shall not start.
        if self.ward.gate.is_closed() {
            Err(RefusalReason::Closed)
        } else {
            Ok(Turn { _locks: locks, _flight: flight })
        }
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

fn keys(
    call: &Call<'_>,
    lock: &[Template],
    shared: &[Template],
) -> Result<Vec<(String, Mode)>, RefusalReason> {
    let alone = lock.iter().map(|template| (template, Mode::Exclusive));
    let together = shared.iter().map(|template| (template, Mode::Shared));
    alone
        .chain(together)
        .map(|(template, mode)| Ok((template.fill(call.arguments).map_err(unfilled)?, mode)))
        .collect()
}

fn unfilled(why: Unfilled) -> RefusalReason {
    match why {
        Unfilled::Missing(name) => RefusalReason::Argument { name, is_present: false },
        Unfilled::Unusable(name) => RefusalReason::Argument { name, is_present: true },
    }
}

/// The call's key: by tool and caller, so that nobody is told the answer to somebody else's call. `None` if the call does not say.
fn idempotency_key(
    terms: &Terms,
    call: &Call<'_>,
    source: &Source,
) -> Result<Option<(Key, Fingerprint)>, RefusalReason> {
    let said = match (source, call.idempotency_key) {
        (Source::Argument(path), _) => path.text(call.arguments).map_err(|_| RefusalReason::Key)?,
        (Source::Meta, None | Some(Value::Null)) => None,
        (Source::Meta, Some(Value::String(key))) if !key.is_empty() => Some(key.clone()),
        (Source::Meta, Some(_)) => return Err(RefusalReason::Key),
    };
    let key = |said: String| joined("once", &[&terms.name, call.tool, call.caller.as_str(), &said]);
    Ok(said.map(|said| (key(said), call.fingerprint())))
}
