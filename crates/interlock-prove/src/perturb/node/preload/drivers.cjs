// Database drivers that share connections between calls, or that do their work where no socket shows it: a statement waits where
// the server asks for it. What a driver then does to get an answer is part of that one operation.
'use strict';

const Module = require('node:module');
const { called, promised } = require('./wrap.cjs');

/** Milliseconds for a statement; one that waits for a lock of another call takes longer, and must not hold that one up. */
const PATIENCE = 300;

const WRITES = /^\s*(insert|update|delete|merge|replace|create|alter|drop|truncate|call|begin|start|commit|rollback|set|lock)\b/i;

/** A statement of SQL, by itself or in an object. */
function sql(first) {
  const text = typeof first === 'string' ? first : (first?.text ?? first?.sql ?? '');
  return { word: 'query', kind: WRITES.test(text) ? 'write' : 'read', on: String(text), patience: PATIENCE };
}

const REDIS_READS = /^(get|mget|hget|hmget|hgetall|exists|ttl|pttl|keys|scan|smembers|sismember|scard|zrange|zscore|zcard|lrange|llen|strlen|type)$/i;

function redis(words) {
  const [name = '', key = ''] = words.map(String);
  return { word: name.toLowerCase(), kind: REDIS_READS.test(name) ? 'read' : 'write', on: key, patience: PATIENCE };
}

const MONGO_READS = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'listCollections', 'listIndexes']);

/** A method that takes a callback, or else gives a promise. */
function either(gate, owner, name, about, returns) {
  if (typeof owner?.[name] !== 'function') return;
  const last = (args) => typeof args.at(-1) === 'function';
  called(gate, owner, name, (args, self) => last(args) && about(args, self), returns);
  promised(gate, owner, name, (args, self) => !last(args) && about(args, self));
}

/** By the package and the end of the file's name: what to do with what the file exports. */
const DRIVERS = [
  // A cursor or a stream that is handed in is run by the driver step by step.
  [/[\\/]pg[\\/]lib[\\/]client\.js$/, (gate, exported) => {
    either(gate, exported.prototype, 'query', ([query], self) => typeof query?.submit !== 'function' && { ...sql(query), lane: self });
  }],
  [/[\\/]pg-pool[\\/]index\.js$/, (gate, exported) => {
    either(gate, exported.prototype, 'query', ([query]) => sql(query));
    either(gate, exported.prototype, 'connect', () => 'track');
  }],
  [/[\\/]mysql2[\\/]promise\.js$/, (gate, exported) => {
    promised(gate, exported.PromisePool.prototype, 'getConnection', () => 'track');
    for (const name of ['query', 'execute']) {
      either(gate, exported.PromisePool?.prototype, name, ([query]) => sql(query));
      either(gate, exported.PromiseConnection?.prototype, name, ([query], self) => ({ ...sql(query), lane: self.connection }));
    }
    for (const name of ['beginTransaction', 'commit', 'rollback']) {
      either(gate, exported.PromiseConnection?.prototype, name, (_args, self) => ({ ...sql(name), lane: self.connection }));
    }
  }],
  [/[\\/]ioredis[\\/]built[\\/]Redis\.js$/, (gate, { default: Redis }) => {
    promised(gate, Redis.prototype, 'sendCommand', ([command, stream], self) => {
      return !stream && command?.name && { ...redis([command.name, ...(command.args ?? [])]), lane: self };
    });
  }],
  [/[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]index\.js$/, (gate, { default: Client }) => {
    promised(gate, Client.prototype, 'sendCommand', ([words], self) => Array.isArray(words) && { ...redis(words), lane: self._self ?? self });
  }],
  [/[\\/]mongodb[\\/]lib[\\/]cmap[\\/]connection\.js$/, (gate, { Connection }) => {
    promised(gate, Connection.prototype, 'command', ([space, command]) => {
      const [name = 'command'] = Object.keys(command ?? {});
      const on = `${space}`;
      return { word: name, kind: MONGO_READS.has(name) ? 'read' : 'write', on, patience: PATIENCE };
    });
  }],
  [/[\\/]sqlite3[\\/]lib[\\/]sqlite3\.js$/, (gate, exported) => {
    for (const name of ['run', 'get', 'all', 'exec']) {
      const { Database, Statement } = exported;
      if (Database?.prototype[name]) called(gate, Database.prototype, name, ([query]) => sql(query), (self) => self);
      if (Statement?.prototype[name]) called(gate, Statement.prototype, name, () => sql(''), (self) => self);
    }
  }],
];

function install(gate) {
  const done = new Set();
  const compile = gate.replace(Module.prototype, 'load', function (file) {
    const result = Reflect.apply(compile, this, [file]);
    const driver = typeof file === 'string' && DRIVERS.find(([name]) => name.test(file));
    if (driver && !done.has(file)) {
      done.add(file);
      try {
        driver[1](gate, this.exports);
      } catch {
        // Another version of the driver: what it does over its sockets is still seen.
      }
    }
    return result;
  });
}

module.exports = { install };
