// Connections that the server opens itself: what it asks over them waits, and is over when something comes back. Requests on one
// connection keep their order, because answers are told apart by it.
'use strict';

const net = require('node:net');
const { hold } = require('./held.cjs');

/** Milliseconds for an answer. */
const PATIENCE = 500;

/** Connections that were opened by this process, before it was armed too, and to where. */
const ours = new WeakMap();

const opened = (socket) => ours.has(socket) || (socket._tlsOptions !== undefined && !socket._tlsOptions.isServer);

function install(gate) {
  const socket = net.Socket.prototype;

  const connect = gate.replace(socket, 'connect', function (...args) {
    ours.set(this, address(args));
    const call = gate.current();
    if (call) {
      const over = gate.track(call, PATIENCE);
      this.once('connect', over);
      this.once('close', over);
    }
    return Reflect.apply(connect, this, args);
  });

  for (const name of ['write', 'end']) {
    // Both are inherited; the streams that do not belong to sockets are left alone.
    const original = socket[name];
    gate.replace(socket, name, function (...args) {
      const write = () => Reflect.apply(original, this, args);
      const says = name === 'write' || typeof args[0] === 'string' || args[0] instanceof Uint8Array;
      const about = { word: 'send', kind: 'write', on: ours.get(this), lane: this, strict: true, patience: PATIENCE };
      const begun = says && ((done) => answered(this, done));
      if (!gate.armed() || !opened(this) || !hold(gate, this, write, about, begun)) return write();
      return name === 'write' ? true : this;
    });
  }
}

/** `connect` takes a port and a host, a path, or both in an object, which Node itself wraps in a list. */
function address([first, second]) {
  const options = Array.isArray(first) ? first[0] : first;
  if (options === null || typeof options !== 'object') return typeof second === 'string' ? `${second}:${options}` : String(options);
  return options.path ?? `${options.host ?? 'localhost'}:${options.port}`;
}

/** The next thing that arrives is taken for the answer. A listener would set the stream flowing, so it is seen on its way in. */
function answered(socket, done) {
  const before = Object.getOwnPropertyDescriptor(socket, 'push');
  const end = () => {
    socket.removeListener('close', end);
    if (before) Object.defineProperty(socket, 'push', before);
    else delete socket.push;
    done();
  };
  const { push } = socket;
  socket.push = function (...args) {
    end();
    return Reflect.apply(push, this, args);
  };
  socket.once('close', end);
}

module.exports = { install };
