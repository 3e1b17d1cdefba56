//! How the programs of a language run, as far as linking and discovery have to know: the few things in which languages differ and that
//! no table of names can say.

use interlock_model::ir::{Function, Interleaving};

/// How the programs of a language run.
#[derive(Debug)]
pub struct Semantics {
    /// Where other calls get between the steps of an asynchronous function.
    pub asynchronous: Interleaving,
    /// The same of all other functions: anywhere, where calls run on threads.
    pub synchronous: Interleaving,
    /// Whether a failure leaves a function by itself, past its callers, until one catches it.
    pub unwinds: bool,
    /// Whether waiting for a function of the program lets others run only where that function does: a coroutine.
    pub coroutines: bool,
    /// Whether a call may wait for an answer from elsewhere with no word of the language that says so: everywhere but in JavaScript.
    pub waits_unsaid: bool,
    /// How a method is found on what a class inherits from or embeds.
    pub lookup: Lookup,
    /// What the function is called that makes an object ready: `constructor`, `__init__`. `None` where there is no such function.
    pub constructor: Option<&'static str>,
    /// What the method is called that runs where an object itself is called: `__call__`. `None` where objects cannot be called.
    pub called: Option<&'static str>,
    /// The global by which a method names what is above its class: `super`.
    pub above: Option<&'static str>,
    /// The member by which a function says what it is called: `__name__`. `None` where that is not followed.
    pub function_name: Option<&'static str>,
    /// Whether a list or a map with nothing in it counts as a no.
    pub empty_is_false: bool,
    /// Whether a function gives back several things, and a call that is handed nothing but such a call is handed them all: Go.
    pub tuples: bool,
    /// Whether a map of the language breaks when two threads change it at once: Go ends the program.
    pub bare_maps: bool,
    /// The export that stands for a whole module: `default`.
    pub default_export: Option<&'static str>,
}

/// How a method is found on what a class inherits from or embeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// In the first base that has it, and what that inherits from before the next: single inheritance, and Python but for diamonds.
    DepthFirst,
    /// In the nearest that has it, whichever way that is embedded: Go.
    Shallowest,
}

impl Semantics {
    /// Says of a function how it runs.
    pub(crate) fn describe(&self, function: &mut Function) {
        // Where the source says that others run between any two steps, that is so.
        if function.interleaving == Interleaving::AtSuspension {
            function.interleaving = if function.asynchronous { self.asynchronous } else { self.synchronous };
        }
        function.unwinds = self.unwinds;
    }
}
