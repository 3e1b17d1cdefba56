//! The functions in the database decide as the library does: the same requests, chosen by chance, to both.

use interlock_sync::{
    memory::MemoryStore,
    store::{
        Attempt, Begun, Changed, Ending, Fence, Fingerprint, LeaseAnswer, LeaseRequest, PermitAnswer,
        PermitRequest, Record, Refusal, Version,
    },
};

use super::*;

/// A small generator of chance that gives the same again for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

/// Two stores, and what they call the same thing by different numbers.
struct Pair {
    memory: MemoryStore,
    postgres: Arc<PostgresStore>,
    versions: Vec<(Version, Version)>,
    fences: Vec<(Fence, Fence)>,
}

impl Pair {
    fn same_version(&mut self, ours: Option<Version>, theirs: Option<Version>) {
        match (ours, theirs) {
            (None, None) => {}
            (Some(ours), Some(theirs)) => {
                let known = self.versions.iter().find(|(known, _)| *known == ours);
                match known {
                    Some((_, same)) => assert_eq!(*same, theirs),
                    None => self.versions.push((ours, theirs)),
                }
            }
            other => panic!("{other:?}"),
        }
    }

    fn same_record(&mut self, ours: Option<Record>, theirs: Option<Record>) {
        let (ours, theirs) = (
            ours.map(|record| (record.version, record.content)),
            theirs.map(|record| (record.version, record.content)),
        );
        let ((our_version, ours), (their_version, theirs)) = (ours.unzip(), theirs.unzip());
        assert_eq!(ours, theirs);
        self.same_version(our_version, their_version);
    }

    async fn mutate(&mut self, op: OpId, ours: Change, theirs: Change, fence: Option<(Fence, Fence)>) {
        let under = |change, fence: Option<Fence>| {
            let mutation = Mutation::new(op, change);
            if let Some(fence) = fence { mutation.under(key("lease"), fence) } else { mutation }
        };
        let ours = under(ours, fence.map(|(ours, _)| ours));
        let theirs = under(theirs, fence.map(|(_, theirs)| theirs));
        let answers =
            (self.memory.mutate(&ours).await.unwrap(), self.postgres.mutate(&theirs).await.unwrap());
        match answers {
            (Outcome::Applied(ours), Outcome::Applied(theirs)) => {
                assert_eq!((ours.replayed, ours.changed.len()), (theirs.replayed, theirs.changed.len()));
                for (ours, theirs) in ours.changed.into_iter().zip(theirs.changed) {
                    self.same_version(ours.from, theirs.from);
                    self.same_version(ours.to, theirs.to);
                    let bare = |changed| Changed { from: None, to: None, ..changed };
                    assert_eq!(bare(ours), bare(theirs));
                }
            }
            (
                Outcome::Refused(Refusal::Conflict { key: our_key, current: ours }),
                Outcome::Refused(Refusal::Conflict { key: their_key, current: theirs }),
            ) => {
                assert_eq!(our_key, their_key);
                self.same_record(ours, theirs);
            }
            (
                Outcome::Refused(Refusal::Fenced { current: ours }),
                Outcome::Refused(Refusal::Fenced { current: theirs }),
            ) => assert_eq!(ours.is_some(), theirs.is_some()),
            (ours, theirs) => assert_eq!(ours, theirs),
        }
    }
}

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn mutations_come_out_the_same_in_the_database_and_in_memory() {
    let mut pair = Pair {
        memory: MemoryStore::default(),
        postgres: open("same").await,
        versions: vec![],
        fences: vec![],
    };
    let mut chance = Chance(0x5eed_1234_5678_9abc);
    let names = ["a", "b", "c"];
    let amounts = [0, 1, 5, -5, 100, i64::MAX, i64::MIN, i64::MAX - 3];
    let mut ids: Vec<u128> = vec![];
    for step in 1..=400_u128 {
        // Now and then the same id again, with whatever it asks for this time.
        let id = if !ids.is_empty() && chance.below(8) == 0 { chance.of(&ids) } else { step };
        ids.push(id);
        let (name, other) = (key(chance.of(&names)), key(chance.of(&names)));
        let version = if pair.versions.is_empty() {
            (Version(9), Version(u64::MAX))
        } else {
            chance.of(&pair.versions)
        };
        let expects = [
            (Expect::Any, Expect::Any),
            (Expect::Absent, Expect::Absent),
            (Expect::Present, Expect::Present),
            (Expect::Version(version.0), Expect::Version(version.1)),
        ];
        let (our_expect, their_expect) = chance.of(&expects);
        let amount = chance.of(&amounts);
        let content = chance.of(&[Content::Number(amount), Content::Number(7), Content::Bytes(vec![1, 2])]);
        let floor = chance.of(&[0, -10, 50, i64::MIN]);
        let change = |expect| match step % 5 {
            0 => Change::Put { key: name.clone(), expect, content: content.clone() },
            1 => Change::Put { key: name.clone(), expect: Expect::Any, content: Content::Number(40) },
            2 => Change::Delete { key: name.clone(), expect },
            3 => Change::Add { key: name.clone(), delta: amount, floor: (floor != 50).then_some(floor) },
            _ => Change::Transfer { from: name.clone(), to: other.clone(), amount, floor },
        };
        if chance.below(10) == 0 {
            pair.lease(OpId(step)).await;
        }
        let fence = if chance.below(4) == 0 && !pair.fences.is_empty() {
            Some(chance.of(&pair.fences))
        } else {
            None
        };
        pair.mutate(OpId(id), change(our_expect), change(their_expect), fence).await;
    }
    assert!(pair.versions.len() > 100 && pair.fences.len() > 5, "it was not all refused");
}

impl Pair {
    /// Ends the last lease and takes it for somebody else.
    async fn lease(&mut self, owner: OpId) {
        if let Some((ours, theirs)) = self.fences.last().copied() {
            let ours = self.memory.release_lease(&key("lease"), ours).await.unwrap();
            assert_eq!(ours, self.postgres.release_lease(&key("lease"), theirs).await.unwrap());
        }
        let request = LeaseRequest { key: key("lease"), owner, ttl: HOUR };
        for _ in 0..2 {
            let ours = self.memory.acquire_lease(&request).await.unwrap();
            let theirs = self.postgres.acquire_lease(&request).await.unwrap();
            let (LeaseAnswer::Granted { fence: ours }, LeaseAnswer::Granted { fence: theirs }) =
                (ours, theirs)
            else {
                panic!("{ours:?} and {theirs:?}")
            };
            if let Some((_, last)) = self.fences.last() {
                assert!(theirs >= *last);
            }
            if self.fences.last() != Some(&(ours, theirs)) {
                self.fences.push((ours, theirs));
            }
        }
        let other = LeaseRequest { owner: OpId(!owner.0), ..request };
        match self.postgres.acquire_lease(&other).await.unwrap() {
            LeaseAnswer::Held { fence, retry_after } => {
                assert_eq!(Some(fence), self.fences.last().map(|(_, theirs)| *theirs));
                assert!(retry_after <= HOUR);
            }
            granted @ LeaseAnswer::Granted { .. } => panic!("{granted:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_and_permits_come_out_the_same_in_the_database_and_in_memory() {
    let (memory, postgres) = (MemoryStore::default(), open("attempts").await);
    let mut chance = Chance(0x0dd_ba11);
    let mut fences = vec![(Fence(1), Fence(u64::MAX))];
    let endings = [Ending::Completed(vec![1]), Ending::Completed(vec![]), Ending::Failed(vec![1])];
    for _ in 0..400 {
        let name = key(chance.of(&["a", "b", "c", "d", "e", "f", "g", "h"]));
        let owner = OpId(u128::from(chance.below(3)));
        // Either long over or not over during the test.
        let (ttl, keep) = (chance.of(&[Duration::ZERO, HOUR]), chance.of(&[Duration::ZERO, HOUR]));
        let (ours, theirs) = chance.of(&fences);
        match chance.below(6) {
            0 | 1 => {
                let fingerprint = Fingerprint([chance.below(5) as u8 / 4; 32]);
                let attempt = Attempt { key: name, fingerprint, owner, ttl, keep };
                match (memory.begin(&attempt).await.unwrap(), postgres.begin(&attempt).await.unwrap()) {
                    (Begun::Reserved { fence: ours }, Begun::Reserved { fence: theirs }) => {
                        fences.push((ours, theirs))
                    }
                    (Begun::InDoubt { fence: ours }, Begun::InDoubt { fence: theirs }) => {
                        assert!(fences.contains(&(ours, theirs)));
                    }
                    (Begun::Running { .. }, Begun::Running { retry_after }) => assert!(retry_after <= HOUR),
                    (ours, theirs) => assert_eq!(ours, theirs),
                }
            }
            2 => {
                let dispatched = memory.dispatch(&name, ours, ttl).await.unwrap();
                assert_eq!(dispatched, postgres.dispatch(&name, theirs, ttl).await.unwrap());
            }
            3 => {
                let ending = chance.of(&endings);
                let finished = memory.finish(&name, ours, &ending, keep).await.unwrap();
                assert_eq!(finished, postgres.finish(&name, theirs, &ending, keep).await.unwrap());
            }
            4 => {
                let limit = chance.below(4) as u32;
                let request = PermitRequest { key: name, holder: owner, limit, ttl };
                let answers = (
                    memory.acquire_permit(&request).await.unwrap(),
                    postgres.acquire_permit(&request).await.unwrap(),
                );
                match answers {
                    (
                        PermitAnswer::Full { in_use: ours, .. },
                        PermitAnswer::Full { in_use: theirs, retry_after },
                    ) => {
                        assert!(ours == theirs && retry_after <= HOUR);
                    }
                    (ours, theirs) => assert_eq!(ours, theirs),
                }
            }
            _ => {
                let renewed = memory.renew_permit(&name, &owner, ttl).await.unwrap();
                assert_eq!(renewed, postgres.renew_permit(&name, &owner, ttl).await.unwrap());
                let released = memory.release_permit(&name, &owner).await.unwrap();
                assert_eq!(released, postgres.release_permit(&name, &owner).await.unwrap());
            }
        }
    }
}
