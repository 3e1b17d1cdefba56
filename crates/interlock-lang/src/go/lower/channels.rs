//! Sends and receives: messages, and permits of a channel that is a lock.

use interlock_model::ir::{Callee, Hold, Lock, Op, Scope};

use super::{
    super::ast::{Expr, Kind, Place},
    Lowerer,
};

impl<'a> Lowerer<'a> {
    /// `channel <- value`.
    pub(super) fn send(&mut self, at: Place, channel: &'a Expr<'a>, value: &'a Expr<'a>) {
        if self.permits.contains_key(&at.0) {
            return self.permit(at, channel);
        }
        // One of many that a loop goes through is as much others' as the list that it is in.
        let one_of_many = matches!(channel.kind, Kind::Name(_))
            && self.facts.meant(channel.at.0).is_some_and(|symbol| self.ranged.contains(&symbol));
        let channel = self.place(channel);
        let channel = if one_of_many { self.as_path(channel) } else { channel };
        self.expression(value);
        self.stand(at);
        let receiver = channel.path_ref().cloned();
        if let Some(receiver) = receiver.filter(|path| one_of_many || self.is_state(path)) {
            let (callee, arguments) = (Callee::Named("send".into()), vec![]);
            let receiver = Some(receiver);
            self.push(Op::Call { into: None, callee, receiver, arguments, awaited: true });
        }
    }

    /// `<-s.gone`, whose value nobody looks at: whoever is at the other end says that it is done.
    pub(super) fn waits_for_sign(&mut self, at: Place, channel: &'a Expr<'a>) {
        let Kind::Selector(_, field) = &channel.kind else { return };
        if *field == "C" {
            return;
        }
        let place = self.place(channel);
        self.stand(at);
        if let Some(group) = place.path_ref().cloned().filter(|path| self.is_state(path)) {
            self.push(Op::Drain { group });
        }
    }

    /// A send or receive that takes the lock which a channel is, or gives it back. One that only this call has keeps nobody out.
    pub(super) fn permit(&mut self, at: Place, channel: &'a Expr<'a>) {
        let Some(permit) = self.permits.get(&at.0).copied() else { return };
        let place = self.place(channel);
        self.stand(at);
        let Some(object) = place.path_ref().cloned().filter(|path| self.is_state(path)) else { return };
        let lock = Lock { object, key: None, kind: permit.kind, scope: Scope::InProcess, lease: None };
        self.push(if permit.takes {
            Op::Acquire { lock, hold: Hold::Exclusive, outcome: None }
        } else {
            Op::Release { lock }
        });
    }
}
