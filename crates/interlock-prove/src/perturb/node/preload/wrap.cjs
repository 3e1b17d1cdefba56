// The two shapes that an asynchronous function has, each made to wait at the gate when an armed call uses it.
'use strict';

const { AsyncResource } = require('node:async_hooks');

/**
 * A method that returns a promise. `about(args, self)` describes the operation, says `'track'` if neither it nor what it is made of
 * need wait, or nothing if it is none.
 */
function promised(gate, owner, name, about) {
  const original = gate.replace(owner, name, function (...args) {
    const call = gate.current();
    const operation = call && about(args, this);
    if (!operation) return Reflect.apply(original, this, args);
    if (operation === 'track') return tracked(gate, call, gate.within(call, () => Reflect.apply(original, this, args)));
    const hold = gate.held(call, operation.lane);
    const settled = (body) => gate.goOn(call, hold, body);
    return new Promise((resolve, reject) => {
      gate.wait(call, operation, (done) => settle(() => Reflect.apply(original, this, args), settled, done, resolve, reject));
    });
  });
}

function settle(begin, settled, done, resolve, reject) {
  const end = (tell) => (value) => {
    settled(() => {
      done();
      tell(value);
    });
  };
  try {
    Promise.resolve(begin()).then(end(resolve), end(reject));
  } catch (error) {
    end(reject)(error);
  }
}

/** Under way until it settles. */
function tracked(gate, call, promise) {
  const over = gate.track(call);
  promise.then(over, over);
  return promise;
}

/** A method whose last function argument is called back; what it returns at once is `returns(self)`. */
function called(gate, owner, name, about, returns = () => undefined) {
  const original = gate.replace(owner, name, function (...args) {
    const call = gate.current();
    const at = args.findLastIndex((argument) => typeof argument === 'function');
    const operation = call && at >= 0 && about(args, this);
    if (!operation) return Reflect.apply(original, this, args);
    // What follows runs for the call again, not inside of the operation.
    const callback = AsyncResource.bind(args[at]);
    const hold = operation === 'track' ? undefined : gate.held(call, operation.lane);
    const begin = (done) => {
      const back = function (...results) {
        return gate.goOn(call, hold, () => {
          done();
          return Reflect.apply(callback, this, results);
        });
      };
      try {
        return Reflect.apply(original, this, args.map((argument, index) => (index === at ? back : argument)));
      } catch (error) {
        if (operation === 'track') throw error;
        // It would have been thrown at the caller, who has gone on by now.
        return back(error);
      }
    };
    if (operation === 'track') return gate.within(call, () => begin(gate.track(call)));
    gate.wait(call, operation, begin);
    return returns(this);
  });
}

module.exports = { promised, called, tracked };
