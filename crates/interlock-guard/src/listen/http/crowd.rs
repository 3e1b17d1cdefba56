//! Connections on which no request is under way, by the network that they come from.
//!
//! Such a connection takes a place and gives nothing for it: it may be about to send a head, and it may be one of thousands that send theirs a
//! byte at a time. So one network has a share of them, and when all places are taken the network with the most of them gives one up. A
//! request is under way from when it is there with its body, and a connection with one is never given up.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use foldhash::quality::RandomState;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

/// All connections on which no request is under way.
#[derive(Debug)]
pub(super) struct Crowd {
    /// How many of them one network may have.
    share: usize,
    table: Mutex<Table>,
    /// Told when one more waits.
    grown: Notify,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    /// By network and in the order in which they began to wait.
    waiting: HashMap<IpAddr, BTreeMap<u64, Arc<Notify>>, RandomState>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Member {
    crowd: Arc<Crowd>,
    from: IpAddr,
    state: Mutex<State>,
    leave: Arc<Notify>,
}

#[derive(Debug)]
enum State {
    /// It waits, under this number.
    Waits(u64),
    /// So many requests are under way.
    Busy(usize),
}

/// A request under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Busy(Arc<Member>);

/// A request that has come so far that its head is there.
pub(super) struct Begun {
    member: Arc<Member>,
    busy: Mutex<Option<Busy>>,
}

/// The body of a response, until whose end the request is under way.
pub(super) struct Kept<B> {
    body: B,
    _busy: Option<Busy>,
}

impl Crowd {
    pub(super) fn new(share: usize) -> Arc<Self> {
        Arc::new(Self { share: share.max(1), table: Mutex::default(), grown: Notify::new() })
    }

    /// Takes a connection in, as one that waits. If its network has more than its share now, the one of them that waited longest is told to leave.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<Member> {
        let (from, leave) = (network(address), Arc::<Notify>::default());
        let number = self.wait(from, &leave);
        Arc::new(Member { crowd: Arc::clone(self), from, state: Mutex::new(State::Waits(number)), leave })
    }

    /// Tells one to leave: of the network that has the most, the one that waited longest. `false` if none waits.
    pub(super) fn make_room(&self) -> bool {
        let mut table = self.table();
        let first = |members: &BTreeMap<u64, _>| members.keys().next().copied().unwrap_or(u64::MAX);
        let largest = table
            .waiting
            .iter()
            .max_by_key(|(_, members)| (members.len(), std::cmp::Reverse(first(members))))
            .map(|(from, _)| *from);
        largest.is_some_and(|from| table.dismiss(from))
    }

    /// Waits until one more connection waits.
    pub(super) async fn grown(&self) {
        self.grown.notified().await;
    }

    fn wait(&self, from: IpAddr, leave: &Arc<Notify>) -> u64 {
        let mut table = self.table();
        table.next += 1;
        let number = table.next;
        let members = table.waiting.entry(from).or_default();
        members.insert(number, Arc::clone(leave));
        if members.len() > self.share {
            table.dismiss(from);
        }
        drop(table);
        self.grown.notify_one();
        number
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Tells the one of a network that waited longest to leave.
    fn dismiss(&mut self, from: IpAddr) -> bool {
        let Some(members) = self.waiting.get_mut(&from) else { return false };
        let Some((_, leave)) = members.pop_first() else { return false };
        if members.is_empty() {
            self.waiting.remove(&from);
        }
        leave.notify_one();
        true
    }

    /// Takes one out. `false` if it was told to leave already.
    fn remove(&mut self, from: IpAddr, number: u64) -> bool {
        let Some(members) = self.waiting.get_mut(&from) else { return false };
        let was_there = members.remove(&number).is_some();
        if members.is_empty() {
            self.waiting.remove(&from);
        }
        was_there
    }
}

impl Member {
    /// A request is under way. `None` if the connection was told to leave just before: then nothing may be begun on it.
    pub(super) fn busy(self: &Arc<Self>) -> Option<Busy> {
        let mut state = self.state();
        match &mut *state {
            State::Waits(number) => {
                if !self.crowd.table().remove(self.from, *number) {
                    return None;
                }
                *state = State::Busy(1);
            }
            State::Busy(requests) => *requests += 1,
        }
        Some(Busy(Arc::clone(self)))
    }

    /// The head of a request is there: the connection waits for its body now, behind all that began to wait before.
    pub(super) fn begin(self: &Arc<Self>) -> Begun {
        let mut state = self.state();
        if let State::Waits(number) = &mut *state
            && self.crowd.table().remove(self.from, *number)
        {
            *number = self.crowd.wait(self.from, &self.leave);
        }
        drop(state);
        Begun { member: Arc::clone(self), busy: Mutex::default() }
    }

    /// Waits until it is told to leave.
    pub(super) async fn dismissed(&self) {
        self.leave.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let State::Waits(number) = *self.state() {
            self.crowd.table().remove(self.from, number);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let member = &self.0;
        let mut state = member.state();
        match &mut *state {
            State::Busy(1) => *state = State::Waits(member.crowd.wait(member.from, &member.leave)),
            State::Busy(requests) => *requests -= 1,
            State::Waits(_) => {}
        }
    }
}

impl Begun {
    /// All of the request is there, and it is under way. `false` if the connection was told to leave just before: then nothing may come of it.
    pub(super) fn is_under_way(&self) -> bool {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.is_none() {
            *busy = self.member.busy();
        }
        busy.is_some()
    }

    /// What keeps it under way.
    pub(super) fn into_busy(self) -> Option<Busy> {
        self.busy.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Kept<B> {
    pub(super) fn new(body: B, busy: Option<Busy>) -> Self {
        Self { body, _busy: busy }
    }
}

impl<B: Body + Unpin> Body for Kept<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What one host can call its own: its address, or of the sixth version the half that is given out to one place.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn is_dismissed(member: &Member) -> bool {
        member.dismissed().now_or_never().is_some()
    }

    #[test]
    fn of_one_network_the_one_that_waited_longest_leaves_when_it_has_more_than_its_share() {
        let crowd = Crowd::new(2);
        let other = crowd.enter(address("192.0.2.9"));
        let [first, second] = [1, 2].map(|_| crowd.enter(address("192.0.2.1")));
        let busy = first.busy().expect("it waits");
        let third = crowd.enter(address("::ffff:192.0.2.1"));
        assert!(![&other, &first, &second, &third].into_iter().any(|one| is_dismissed(one)));
        // It waits again, behind the others.
        drop(busy);
        assert!(is_dismissed(&second));
        assert!(second.busy().is_none(), "nothing is begun on what leaves");
        assert!(![&other, &first, &third].into_iter().any(|one| is_dismissed(one)));
        let [near, far] = ["2001:db8::1", "2001:db8::2:0:0:3"].map(|text| crowd.enter(address(text)));
        let _same = crowd.enter(address("2001:db8::4"));
        assert!(is_dismissed(&near) && !is_dismissed(&far), "a host has many addresses of the sixth version");
    }

    #[test]
    fn room_is_made_by_the_network_with_the_most_and_never_by_a_request_under_way() {
        let crowd = Crowd::new(10);
        let few = crowd.enter(address("192.0.2.9"));
        let many: Vec<_> = (0..3).map(|_| crowd.enter(address("192.0.2.1"))).collect();
        let _busy = many[0].busy().expect("it waits");
        assert!(crowd.make_room());
        assert!(is_dismissed(&many[1]));
        // Each has one: who waited longest leaves.
        assert!(crowd.make_room());
        assert!(is_dismissed(&few));
        assert!(crowd.make_room());
        assert!(is_dismissed(&many[2]) && !is_dismissed(&many[0]));
        assert!(!crowd.make_room(), "nobody is left who waits");
    }

    #[test]
    fn a_request_whose_body_is_not_there_yet_is_not_under_way() {
        let crowd = Crowd::new(10);
        let [first, second] = [1, 2].map(|_| crowd.enter(address("192.0.2.1")));
        // Its head is there, so it has waited less long than the other.
        let begun = first.begin();
        assert!(crowd.make_room());
        assert!(is_dismissed(&second) && !is_dismissed(&first));
        assert!(crowd.make_room());
        assert!(is_dismissed(&first) && !begun.is_under_way(), "a slow body is not waited for either");
        let third = crowd.enter(address("192.0.2.1"));
        let begun = third.begin();
        assert!(begun.is_under_way() && begun.is_under_way());
        assert!(!crowd.make_room());
        drop(begun.into_busy());
        assert!(crowd.make_room() && is_dismissed(&third));
    }

    #[test]
    fn nothing_is_left_of_those_that_have_gone() {
        let crowd = Crowd::new(2);
        let member = crowd.enter(address("192.0.2.1"));
        let busy = member.busy();
        drop(member);
        drop(busy);
        assert!(crowd.table().waiting.is_empty());
    }
}
