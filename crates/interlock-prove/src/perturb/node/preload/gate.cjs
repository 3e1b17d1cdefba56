// The gate: operations of armed calls wait here, and go one at a time when every call has come to rest.
//
// A call is at rest when it has something waiting here and nothing under way, when it was answered, or when it has neither: then
// it waits for another call (a lock, a queue) or for something that is not gated, and gets a moment to show which.
'use strict';

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks');
const { performance } = require('node:perf_hooks');
const { pick, offered } = require('./order.cjs');
const { located } = require('./windows.cjs');

// Whatever the server or we replace later, the gate itself lives on the real ones.
const { setImmediate: soon, setTimeout: later, clearTimeout: cancel } = globalThis;
const now = performance.now.bind(performance);

/** Turns of the loop without news after which promises and callbacks have run their course. */
const TURNS = 3;
/** Milliseconds after the first call arrived in which the others are waited for. */
const ARRIVAL = 300;
/** Milliseconds for a call that has nothing here to show that it was not waiting for another. */
const LIMBO = 30;
/** Milliseconds after which an operation under way no longer holds the others up. */
const PATIENCE = 150;
/** Milliseconds that what is left at the end gets to finish. */
const FAREWELL = 250;
/** Milliseconds for which a race window is held open, and how often for one call at one place. */
const HOLD = 60;
const HOLDS = 2;
/** Steps of one schedule, and operations that are told of. */
const STEPS = 2000;
const TICKS = 10000;

const context = new AsyncLocalStorage();
let run = null;

const armed = () => run !== null;

/** The call on whose behalf the running code works, unless that is part of an operation that was let go. */
function current() {
  if (run === null) return undefined;
  const place = context.getStore();
  return place && place.call.run === run && !place.inside ? place.call : undefined;
}

const enter = (call) => context.enterWith(call && { call, inside: false });

/** Runs something that is part of an operation, so that it does not wait again. */
const within = (call, body) => context.run({ call, inside: true }, body);
/** Runs what follows on an operation: the call itself again. */
const outside = (call, body) => context.run({ call, inside: false }, body);

/** With `observe`, nothing waits: what goes on is only noted, and held for a while where it was begun in one of the `windows`. */
function arm({ ids, choices, observe, windows = [] }) {
  if (run) disarm();
  run = {
    calls: ids.map((id, index) => ({ id, index, arrived: false, answered: false, under: new Set(), limbo: 0, holds: new Map() })),
    choices,
    observe,
    windows,
    lanes: new Map(),
    waiting: [],
    last: null,
    streak: 0,
    serial: 0,
    steps: 0,
    ticks: [],
    made: [],
    first: 0,
    closed: false,
    unnatural: false,
    diverged: null,
    idle: [],
    turns: 0,
    turning: false,
    alarm: null,
  };
  for (const call of run.calls) call.run = run;
}

function arrive(id) {
  const call = run.calls.find((candidate) => candidate.id === id);
  if (!call || call.arrived) return call;
  call.arrived = true;
  call.limbo = now();
  if (run.first === 0) run.first = now();
  if (run.closed && run.calls.some((other) => other.arrived && other !== call && !other.answered)) {
    stray(run, `request ${id} arrived when the others were already on their way`);
  }
  news(run);
  return call;
}

function answered(id) {
  const call = run.calls.find((candidate) => candidate.id === id);
  if (!call || call.answered) return;
  call.answered = true;
  news(run);
}

/**
 * Makes an operation wait. `start(done)` begins it, as part of the call it belongs to; `done` says that it is over.
 * What shares a `lane` is kept in order by the runtime; with `strict` set nobody could tell what came of another order.
 * After `patience` milliseconds it no longer holds the others up.
 */
function wait(call, { word, kind, on = '', lane, strict = false, patience = PATIENCE }, start) {
  const home = new AsyncResource('InterlockGate');
  const operation = { call, word, kind, on, lane, strict, serial: (call.run.serial += 1), over: false };
  operation.start = () => {
    let begun = false;
    const done = () => {
      call.under.delete(operation);
      if (!operation.over) call.limbo = now();
      operation.over = true;
      if (begun) news(call.run);
    };
    operation.until = now() + patience;
    call.under.add(operation);
    note(call, kind, word, on);
    home.runInAsyncScope(() => within(call, () => start(done)));
    begun = true;
    news(call.run);
  };
  // The run may be over by the time a timer of it expires.
  if (run !== call.run || run.observe) operation.start();
  else {
    run.waiting.push(operation);
    news(run);
  }
  return operation;
}

/** The place at which an operation of a call is held, if it is begun in a race window that was not held often enough. */
function held(call, lane) {
  const of = call.run;
  if (run !== of || of.windows.length === 0) return undefined;
  if (lane !== undefined) of.lanes.set(lane, (of.lanes.get(lane) ?? new Set()).add(call));
  const place = located(of.windows);
  const times = call.holds.get(place) ?? 0;
  if (place === undefined || times >= HOLDS) return undefined;
  call.holds.set(place, times + 1);
  return { place, lane };
}

/** Goes on at once, or later where an operation is held. */
function goOn(call, hold, body) {
  const of = call.run;
  if (!hold || run !== of) return body();
  note(call, 'wait', 'hold', hold.place);
  later(() => {
    // What comes back over one connection comes in its order.
    if (of.lanes.get(hold.lane)?.size > 1) of.unnatural = true;
    body();
  }, HOLD);
}

/** All of the process stands still behind a synchronous operation in a race window, as any system may let it. */
function stall(call) {
  const hold = held(call);
  if (!hold) return;
  note(call, 'wait', 'stall', hold.place);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HOLD);
}

/** Takes back what was made to wait. */
function withdraw(operation) {
  const at = operation.call.run.waiting.indexOf(operation);
  if (at >= 0) operation.call.run.waiting.splice(at, 1);
  operation.call.under.delete(operation);
  operation.call.limbo = now();
  news(operation.call.run);
}

/** Counts as under way, without ever waiting here; for at most so many milliseconds and our patience. */
function track(call, milliseconds = 0) {
  const operation = { call, until: now() + milliseconds + PATIENCE };
  call.under.add(operation);
  return () => {
    if (!call.under.delete(operation)) return;
    call.limbo = now();
    news(call.run);
  };
}

function note(call, kind, word, on) {
  if (call.run.ticks.length >= TICKS) return;
  const text = on ? `${word} ${String(on).slice(0, 300)}` : word;
  call.run.ticks.push([call.id, String(process.hrtime.bigint()), kind, text]);
}

function stray(of, why) {
  of.diverged ??= why;
}

/** Something happened: the calls are looked at again once the loop has had nothing new for a few turns. */
function news(of) {
  if (of !== run || of === null) return;
  of.turns = TURNS;
  if (of.turning) return;
  of.turning = true;
  const turn = () => {
    if (of !== run) return;
    of.turns -= 1;
    if (of.turns > 0) soon(turn);
    else {
      of.turning = false;
      step(of);
    }
  };
  context.exit(() => soon(turn));
}

/** Lets one operation go if every call is at rest; else comes back when that may be so. */
function step(of) {
  const moment = now();
  const pause = restless(of, moment);
  if (pause > 0) {
    cancel(of.alarm);
    // No earlier than asked: a timer may fire a little early by the finer clock.
    of.alarm = context.exit(() => later(() => of === run && news(of), Math.ceil(pause) + 1));
    return;
  }
  if (of.waiting.length === 0) {
    of.idle.splice(0).forEach((tell) => tell());
    return;
  }
  of.steps += 1;
  if (of.steps > STEPS) {
    stray(of, `there was no end after ${STEPS} steps`);
    releaseAll(of);
    return;
  }
  const list = offered(of);
  const taken = pick(of, list, stray);
  release(of, list[taken]);
}

/** Milliseconds until it makes sense to look again; zero if all calls are at rest. */
function restless(of, moment) {
  const missing = of.calls.some((call) => !call.arrived);
  if (missing && !of.closed && of.first > 0 && !of.calls.every((call) => !call.arrived || call.answered)) {
    const pause = of.first + ARRIVAL - moment;
    if (pause > 0) return pause;
    of.closed = true;
  }
  let pause = 0;
  for (const call of of.calls) {
    const under = [...call.under].filter((operation) => operation.until > moment);
    for (const operation of under) pause = Math.max(pause, operation.until - moment);
    const here = call.under.size > 0 || of.waiting.some((operation) => operation.call === call);
    if (call.arrived && !call.answered && !here) pause = Math.max(pause, call.limbo + LIMBO - moment);
  }
  return pause;
}

function release(of, operation) {
  of.waiting.splice(of.waiting.indexOf(operation), 1);
  of.streak = of.last === operation.call ? of.streak + 1 : 0;
  of.last = operation.call;
  operation.start();
}

function releaseAll(of) {
  for (const operation of of.waiting.splice(0)) operation.start();
}

/** Ends when what is left has gone too, in its order, or a moment later. */
function finish() {
  const of = run;
  if (of === null) return Promise.resolve();
  const busy = of.waiting.length > 0 || of.calls.some((call) => [...call.under].some((it) => it.until > now()));
  if (!busy) return Promise.resolve();
  return new Promise((resolve) => {
    const alarm = later(resolve, FAREWELL);
    of.idle.push(() => (cancel(alarm), resolve()));
    news(of);
  });
}

function disarm() {
  const of = run;
  run = null;
  if (of === null) return null;
  cancel(of.alarm);
  const unused = of.choices.length - of.made.length;
  const absent = of.calls.filter((call) => !call.arrived).map((call) => call.id);
  if (absent.length > 0) stray(of, `not seen by the server: request ${absent.join(', ')}`);
  if (unused > 0) stray(of, `${unused} of the ${of.choices.length} choices never came up`);
  releaseAll(of);
  return {
    arrived: of.calls.length - absent.length,
    ticks: of.ticks,
    choices: of.made,
    unnatural: of.unnatural,
    diverged: of.diverged,
  };
}

/** Puts a function in another's place, with its name and whatever hangs on it. */
function replace(owner, name, substitute) {
  const original = owner[name];
  Object.defineProperties(substitute, Object.getOwnPropertyDescriptors(original));
  const place = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { ...(place ?? { configurable: true, writable: true }), value: substitute });
  return original;
}

module.exports = {
  armed,
  current,
  enter,
  within,
  outside,
  arm,
  arrive,
  answered,
  wait,
  held,
  goOn,
  stall,
  withdraw,
  track,
  note,
  finish,
  disarm,
  replace,
};
