// Requests over HTTP that the server makes: nothing of one leaves before it is let go, and it is over when the answer begins.
'use strict';

const http = require('node:http');
const { hold } = require('./held.cjs');
const { promised } = require('./wrap.cjs');

/** Milliseconds for an answer. */
const PATIENCE = 1000;

/** Reading a body takes as long as it takes to arrive, and is no operation of its own. */
const BODIES = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'];

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

function install(gate) {
  const request = http.ClientRequest.prototype;
  for (const name of ['write', 'end']) {
    const original = request[name];
    gate.replace(request, name, function (...args) {
      const write = () => Reflect.apply(original, this, args);
      const about = describe(this.method, `${this.host}${this.path}`);
      if (!gate.armed() || begun.has(this) || !hold(gate, this, write, about, (done) => answered(this, done))) return write();
      return name === 'write' ? true : this;
    });
  }
  if (typeof globalThis.fetch === 'function') fetches(gate);
}

const describe = (method, on) => ({
  word: method,
  kind: READS.has(method) ? 'read' : 'write',
  on,
  patience: PATIENCE,
});

/** Requests that are on their way: what is written to them now belongs to the same operation. */
const begun = new WeakSet();

function answered(request, done) {
  begun.add(request);
  const { emit } = request;
  // A listener for the answer would keep Node from throwing away what nobody listens for.
  request.emit = function (event, ...args) {
    if (event === 'response' || event === 'error' || event === 'close') {
      delete request.emit;
      done();
    }
    return Reflect.apply(emit, this, [event, ...args]);
  };
}

function fetches(gate) {
  promised(gate, globalThis, 'fetch', ([input, options]) => {
    const method = String(options?.method ?? input?.method ?? 'GET').toUpperCase();
    return describe(method, String(input?.url ?? input));
  });
  // The class of answers is loaded when it is first needed, which is not for us to decide.
  const { fetch } = globalThis;
  let known = false;
  gate.replace(globalThis, 'fetch', async function (...args) {
    const response = await Reflect.apply(fetch, this, args);
    if (!known) {
      known = true;
      const answers = Object.getPrototypeOf(response);
      const bodies = BODIES.filter((name) => typeof answers[name] === 'function');
      for (const name of bodies) promised(gate, answers, name, () => 'track');
    }
    return response;
  });
}

module.exports = { install };
