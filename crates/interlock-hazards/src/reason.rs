//! The reasons for which rules stay silent: a closed list, each with a name for machines and a sentence for the author of a server.
//!
//! A reason is given where a rule decides, so that a clean result can be trusted or doubted piece by piece. It says what the rule saw, not
//! what is certain: `keeps-a-cache` is said of a table with "cache" in its name.

use std::fmt;

/// Declares the reasons, so that the sentence which people see is also what the code says of them.
macro_rules! reasons {
    ($($variant:ident: $sentence:literal,)*) => {
        /// Why a rule stays silent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $(#[doc = $sentence] $variant,)*
        }

        impl Reason {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The reason in a sentence that fits behind "silent:".
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)*
                }
            }
        }
    };
}

reasons! {
    // Of every rule.
    OutOfScope: "the rule is about something else",
    ReportedElsewhere: "it is part of what is reported at another place",
    ClaimedByAnotherRule: "another rule, which is nearer to the point, reports this pair",

    // Who can come in between.
    BeforeCalls: "it runs before calls are accepted, so no other call runs beside it",
    NotAfter: "control never gets from the read to the act",
    NoSuspension: "nothing can come between: no suspension lies between the two",
    NotKnownShared: "nothing that is known calls it, and nothing says that the object has more than one user",
    HeldLock: "one lock is held from the read to the act",
    InTransaction: "one transaction keeps what was read true until the act",

    // Check-act pairs, before any rule sees them.
    OnlyAdds: "the write only adds or makes sure of something, so it takes nothing away from another call",
    MakesRoom: "the file is removed only to put another one in its place",
    PutsBackItself: "the object that is put there is the one that is there already",
    NothingReadBefore: "nothing that was read of the same thing decides over this act or flows into it",
    TooManySources: "the check depends on more reads than can be told apart",
    CheckedAgain: "the same thing is checked once more right before the act, with no room for another call",
    ReplacesCurrent: "what is written comes from what is there at that moment",
    ExclusiveBranches: "the read and the act lie on branches that never run in the same call",
    OwnRecord: "this call has made the record itself, under an id that no other call knows yet",
    WorkList: "rows of a list are worked off one by one, which comes to the same when two calls do it",
    ClaimedFirst: "the call has claimed the thing before: a write that only one call gets through decides",
    CheckedLater: "a later check, behind the suspension, takes the place of this one",
    SingleFlight: "a flag or a kept promise lets one call of the process at a time come this far",
    Unclaimed: "no rule is about a read and an act of this kind",

    // Rules about check-act pairs.
    NotComputedFromRead: "what is written was not computed from what was read",
    RepeatsCheck: "the act only takes effect if what was checked is still so",
    AppliedByStore: "the store itself applies the change to what is there at that moment",
    KeepsCache: "it is kept only not to be asked for again, and what is wrong in it is worked out once more",
    NotReplaced: "what is there is not replaced by something that came of the read",
    CountsFirst: "the call counts itself before it compares",
    WrittenBecauseFound: "it is written because something was found, not because it was missing",
    RefusedIfThere: "whoever finds it there is refused, so it is no cache",
    LoadedEachTime: "this call has loaded it before, by the same line, so it is not missed",
    NotesFailure: "it only notes that something has failed",
    CostsNothing: "to do it twice costs nothing: it only makes sure that something is there",
    SharedResult: "all who miss it at the same time get the same one",
    TakenAtOnce: "the amount is taken at once, and what is changed later gives it back",
    UnsureSame: "it is not sure that both are about the same thing",
    NotNamedByCaller: "the caller does not say which one it is",
    NothingTwice: "nothing that must not happen twice lies between",
    EndsOnRequest: "to end or remove it is what the caller asks for",
    FailureHandled: "the failure of the call that comes second is dealt with",
    FailsEitherWay: "the system refuses by itself what the check refuses, so it only words the error",
    PutsBackCopy: "it puts back a copy that this call has set aside before",
    JudgesContent: "what the file says decides as well, which is told of that read",
    ReadsInBetween: "it was looked for to be read, and what comes of that is told of the read",
    NobodyRemoves: "nobody here removes the file, so it cannot come back",
    NobodyWrites: "nobody here puts anything new there",
    NotChecked: "nothing is decided by what was asked before the act",
    Unguessable: "nobody can have put a link under a name that nobody knows before",
    ComparedOnceOpen: "what was opened is compared with what was checked before anything comes of it",
    ComparedWithOwn: "what the file says is compared with something of this call's own",
    Immutable: "what was checked of the record never changes while it is there",
    OnlyNotesUse: "all that changes is when or how often something was used",
    ClearsExpired: "what has run out is removed by a call that has no more use for it",
    SameContent: "it is made anew from something whose fingerprint it keeps, and two calls put the same there",
    OnlyInRecovery: "it runs only where something has failed",
    NotACount: "what was asked of all rows does not say how many there are",
    UniqueKey: "the store lets only one of two calls add the row: what was looked for is a unique key",
    JudgesPresence: "it was only asked whether there is something, not what it says",
    TriedAgain: "it is tried again, so a unique key can refuse the number",
    OutcomeDecides: "what the act came to decides who goes on",
    NotUsed: "what was found is not used for anything",
    OwnQuestion: "what is stored answers a question of this call's own, so none is an older state of another",
    SetOnce: "it is only set where it was missing, or by the first to come",

    // Files and streams.
    NobodyReads: "nobody here reads it back",
    MadeAnewNextTime: "what is missing or out of date is made anew by the next call that looks for it",
    MadeBecauseMissing: "it only makes what a check did not find, which is told of that check",
    NameOfItsOwn: "the name is another one for each call, so nothing is replaced",
    OwnStream: "the stream belongs to this call alone",
    ForPeople: "it is a log for people, which nobody takes apart again",
    WholeFrame: "each frame goes out in one write",
    WorkBetween: "other work lies between the writes, so they are frames of their own",

    // What is opened, closed, taken and released.
    ProcessEnds: "the process ends with it, so nothing is left to race for",
    CountedIn: "the call counts itself in, in the same step as its test, and close waits for it",
    AsksFirst: "whether somebody still needs it is asked first",
    NobodyUses: "no other call uses it over a suspension",
    OneOfMany: "it is one of many, or belongs to this call, so others do not find it",
    FoundBroken: "it is closed because it was found to be of no more use",
    TakenOutFirst: "it is taken out of sight before it is closed, or not at all",
    KeptForNextTry: "it is looked for first, so the next try uses what this one has left",
    ClosedOnFailure: "every failure behind it leads past a close, or nothing behind it fails at the start",
    Renewed: "it is renewed while the work runs",
    Fenced: "a fence refuses whoever comes too late",
    NoHarmLate: "nothing that takes long and then does harm runs under it",
    EndsByItself: "it ends by itself when its time is over",
    JudgedWhereMade: "the lock is built in this tree, and is judged where that is done",
    OwnLock: "no other call sees the lock, so it is nobody's to wait for",
    ReleasedElsewhere: "it is given back somewhere else, by whoever is in charge of it",
    AlwaysReleased: "it is given back on every path, failures included",
    SoundLock: "the lock is built right: one holder at a time, and its entry goes with the last who waits",
    FewKeys: "there are only a few keys, or the map is kept small",
    OwnWork: "the call bounds its own work with it",

    // Requests and retries.
    OnlyReads: "the request changes nothing",
    KeyedRequest: "the request carries a key that is the same when it is sent again",
    NotRepeated: "it is not known to change anything, and no loop repeats it",
    HarmlessRepeat: "to ask twice for this changes nothing",
    UnknownPause: "it pauses, in a way that is not understood",
    SpreadOut: "its pauses grow, and differ from caller to caller",

    // Changes that belong together.
    NoState: "it is a line in a log, a folder, or something that has run out, and no state of its own",
    CountsCalls: "it counts calls, and is off by one at worst",
    Detached: "it runs detached from the call, and fails by itself",
    NobodyDecides: "nobody here reads it to decide anything, so half of the change harms nobody",
    LockInDisguise: "it is a lock, a count or a fence, and no record",
    SameRecord: "both change the same record",
    FinishesOwnRow: "the second finishes the row that the first has begun",
    BestEffort: "its author lets one of them fail without the other",
    KindsApart: "changes of these kinds do not have to go together",
    Unrelated: "the two are not about the same thing",
    ComesAndGoes: "it is there only for as long as the work takes",
    OtherTurn: "each turn of the loop has its own",
    OneStatement: "both are one statement, or one is a step of the other",
    TakenBack: "the first is changed back where the second fails",
    BoundToItsOwn: "each is bound to a change of its own",
    OwnConnection: "the connection is not one that all calls share",
    NothingSentBefore: "nothing has been sent before that cannot be taken back",
    Versioned: "the table shows a version, or the time of its last change",
    PartOfPair: "the write is the act of a check-act pair, and is judged as that",
    ComputedFromTable: "what is written was computed from the same table, and is judged as an update",
    NotFromCaller: "what is written does not come from the caller",

    // Servers.
    OneClient: "the server has one client, whose calls can only be in the way of each other",
    LimitsCallers: "something here counts the calls of a caller and refuses those that are too many",
}

impl Reason {
    /// The name of the reason, in words joined by hyphens.
    #[must_use]
    pub fn name(self) -> String {
        crate::words(&format!("{self:?}")).join("-")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_a_name_and_a_sentence_of_its_own() {
        let names: BTreeSet<String> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        let sentences: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.sentence()).collect();
        assert_eq!((names.len(), sentences.len()), (Reason::ALL.len(), Reason::ALL.len()));
        assert_eq!(Reason::NoSuspension.name(), "no-suspension");
        for sentence in sentences {
            assert!(sentence.starts_with(char::is_lowercase) && !sentence.ends_with('.'), "{sentence}");
        }
    }
}
