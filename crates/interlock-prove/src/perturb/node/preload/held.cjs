// Writing that is held back: whoever writes is told that all is well, and the writing happens when it is let go.
'use strict';

/** What is held, by the stream that it is for, the latest last. */
const held = new WeakMap();

/**
 * Holds a call of `write` or `end`, together with what the same call has written just before. True if it was held.
 * `about` describes the operation, `begun(done)` is told when it begins and finds out when it is over; without it, this is no
 * operation of its own.
 */
function hold(gate, stream, write, about, begun) {
  const call = gate.current();
  const waiting = held.get(stream) ?? [];
  const last = waiting.at(-1);
  // What others write behind it must not overtake it.
  if (last && (!call || !begun || last.call === call)) {
    last.writes.push(write);
    return true;
  }
  if (!call || !begun) return false;
  const entry = { call, writes: [write] };
  held.set(stream, [...waiting, entry]);
  gate.wait(call, about, (done) => {
    held.set(stream, held.get(stream).filter((other) => other !== entry));
    begun(done);
    for (const each of entry.writes) each();
  });
  return true;
}

module.exports = { hold };
