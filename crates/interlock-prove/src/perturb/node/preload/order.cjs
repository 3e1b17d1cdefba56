// Which operations may go next, and which of them does.
'use strict';

/** How often in a row one call may go while others wait, before it is their turn by default. */
const STREAK = 200;

/**
 * What may go, the default first: the call that went last goes on, unless it slept, or the runtime would never let it go before
 * something that was issued earlier.
 */
function offered(run) {
  const ready = run.waiting.filter((operation) => !operation.strict || heads(run, operation));
  const rank = (operation) => {
    if (inverts(run, operation)) return 2;
    return operation.call === run.last && run.streak < STREAK && !sleeps(run, operation.call) ? 0 : 1;
  };
  const key = (operation) => [rank(operation), operation.call.index, operation.serial];
  return ready.sort((one, other) => compare(key(one), key(other)));
}

/** Whether it is the first of its lane. */
const heads = (run, operation) => !run.waiting.some((other) => other.lane === operation.lane && other.serial < operation.serial);

/** Whether the runtime would have let something else go before it. */
const inverts = (run, operation) => operation.lane !== undefined && !heads(run, operation);

/** Whether all that a call waits for is its own timers: then the others have the floor. */
const sleeps = (run, call) => run.waiting.every((operation) => operation.call !== call || operation.kind === 'wait');

function compare(one, other) {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 ? 0 : one[at] - other[at];
}

/** Decides, and keeps what was decided wherever there was more than one way. */
function pick(run, list, stray) {
  let taken = 0;
  if (list.length > 1) {
    taken = run.choices[run.made.length] ?? 0;
    if (taken >= list.length) {
      stray(run, `choice ${run.made.length} was to be ${taken}, of ${list.length}`);
      taken = 0;
    }
    run.made.push({ waiting: list.map((operation) => [operation.call.id, operation.word]), taken });
  }
  if (inverts(run, list[taken])) run.unnatural = true;
  return taken;
}

module.exports = { offered, pick };
