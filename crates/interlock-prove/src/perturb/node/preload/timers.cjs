// Timers start when they are asked for and wait at the gate when they have expired, so that none is ever early and a long one
// (a deadline that is never reached) holds nobody up.
'use strict';

const { AsyncResource } = require('node:async_hooks');
const timers = require('node:timers');
const promises = require('node:timers/promises');

/** A longer timer is not waited for: it will show when it expires. */
const LONG = 200;

/** By the object, and by the number that it turns into. */
const live = new Map();

function install(gate) {
  for (const owner of [timers, globalThis]) {
    starter(gate, owner, 'setTimeout', (args) => Number(args[1]) || 0);
    starter(gate, owner, 'setImmediate', () => 0);
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) stopper(gate, owner, name);
  }
  // `promisify` looks these up when it is asked for the others.
  sleeper(gate, promises, 'setTimeout', (args) => Number(args[0]) || 0);
  sleeper(gate, promises, 'setImmediate', () => 0);
  if (promises.scheduler) {
    sleeper(gate, Object.getPrototypeOf(promises.scheduler), 'wait', (args) => Number(args[0]) || 0, 'setTimeout');
    sleeper(gate, Object.getPrototypeOf(promises.scheduler), 'yield', () => 0, 'setImmediate');
  }
}

/** All timers are kept in the order they fall due. */
const about = (name, milliseconds) => ({ word: name, kind: 'wait', on: milliseconds > 0 ? `${milliseconds} ms` : '', lane: name });

function starter(gate, owner, name, delay) {
  const original = gate.replace(owner, name, function (callback, ...args) {
    const call = typeof callback === 'function' ? gate.current() : undefined;
    if (!call) return Reflect.apply(original, this, [callback, ...args]);
    const milliseconds = delay([callback, ...args]);
    const entry = { over: under(gate, call, milliseconds), operation: null };
    const expired = AsyncResource.bind((...given) => {
      // A timer that is set back while it waits here still goes once.
      if (entry.operation) return;
      entry.operation = gate.wait(call, about(name, milliseconds), (done) => {
        forget(entry);
        done();
        gate.outside(call, () => callback(...given));
      });
      entry.over();
    });
    entry.timer = original(expired, ...args);
    live.set(entry.timer, entry);
    entry.number = name === 'setTimeout' ? entry.timer[Symbol.toPrimitive]?.() : undefined;
    if (entry.number !== undefined) live.set(entry.number, entry);
    return entry.timer;
  });
}

function under(gate, call, milliseconds) {
  return milliseconds <= LONG ? gate.track(call, milliseconds) : () => {};
}

function forget(entry) {
  live.delete(entry.timer);
  live.delete(entry.number);
}

function stopper(gate, owner, name) {
  const original = gate.replace(owner, name, function (timer) {
    const entry = live.get(typeof timer === 'string' ? Number(timer) : timer);
    if (entry) {
      forget(entry);
      entry.over();
      if (entry.operation) gate.withdraw(entry.operation);
    }
    return Reflect.apply(original, this, [timer]);
  });
}

function sleeper(gate, owner, name, delay, word = name) {
  if (typeof owner[name] !== 'function') return;
  const original = gate.replace(owner, name, function (...args) {
    const call = gate.current();
    if (!call) return Reflect.apply(original, this, args);
    const milliseconds = delay(args);
    const over = under(gate, call, milliseconds);
    return new Promise((resolve, reject) => {
      const expired = (value) => {
        gate.wait(call, about(word, milliseconds), (done) => {
          done();
          resolve(value);
        });
        over();
      };
      const refused = (error) => {
        over();
        reject(error);
      };
      gate.within(call, () => Reflect.apply(original, this, args)).then(expired, refused);
    });
  });
}

module.exports = { install };
