// File operations: promises, callbacks, open handles. The synchronous ones leave no gap and are only noted.
'use strict';

const fs = require('node:fs');
const { called, promised } = require('./wrap.cjs');

/** What only looks; everything else may change something. */
const LOOKS = new Set(
  'access exists fstat lstat opendir read readFile readdir readlink readv realpath stat statfs glob'.split(' '),
);
/** Nothing that another call could see. */
const SILENT = new Set(['close', 'fsync', 'fdatasync', 'sync', 'datasync']);
const HANDLE = 'appendFile chmod chown datasync read readFile readv stat sync truncate utimes write writeFile writev'.split(' ');

const base = (path) => {
  if (typeof path === 'string') return path;
  if (path instanceof URL) return path.pathname;
  if (Buffer.isBuffer(path)) return path.toString();
  return typeof path === 'number' ? `#${path}` : '';
};

function describe(name, args) {
  if (SILENT.has(name)) return 'track';
  const [path, second] = args;
  const flags = name === 'open' && (typeof second === 'string' || typeof second === 'number') ? second : 'r';
  const looks = name === 'open' ? flags === 'r' || flags === 0 : LOOKS.has(name);
  const two = /^(rename|copyFile|cp|link|symlink)$/.test(name) && typeof second === 'string';
  return {
    word: name,
    kind: looks ? 'read' : 'write',
    on: two ? `${base(path)} -> ${second}` : base(path),
    lane: typeof path === 'number' ? `#${path}` : undefined,
  };
}

function install(gate) {
  for (const [name, original] of Object.entries(fs.promises)) {
    // What these give is not a promise.
    if (typeof original !== 'function' || name === 'watch' || name === 'glob') continue;
    promised(gate, fs.promises, name, (args) => describe(name, args));
  }
  for (const [name, original] of Object.entries(fs)) {
    if (typeof original !== 'function' || typeof fs[`${name}Sync`] !== 'function') continue;
    called(gate, fs, name, (args) => describe(name, args));
    if (!SILENT.has(name)) noted(gate, name);
  }
}

let noting = false;

/** A synchronous function of `fs`; what it is made of is not noted again. Another process may come in between behind it. */
function noted(gate, name) {
  const original = gate.replace(fs, `${name}Sync`, function (...args) {
    const call = noting ? undefined : gate.current();
    if (!call) return Reflect.apply(original, this, args);
    const { kind, on } = describe(name, args);
    gate.note(call, kind, `${name}Sync`, on);
    noting = true;
    try {
      return Reflect.apply(original, this, args);
    } finally {
      noting = false;
      gate.stall(call);
    }
  });
}

let prepared = false;

/** Handles have no public class; one has to be opened to find it. */
async function prepare(gate) {
  if (prepared) return;
  prepared = true;
  try {
    const handle = await fs.promises.open(process.execPath, 'r');
    const methods = Object.getPrototypeOf(handle);
    for (const name of HANDLE) {
      if (typeof methods[name] !== 'function') continue;
      promised(gate, methods, name, (_args, self) => {
        if (SILENT.has(name)) return 'track';
        return { word: name, kind: LOOKS.has(name) ? 'read' : 'write', on: `#${self.fd}`, lane: self };
      });
    }
    await handle.close();
  } catch {
    // Without it the handles' operations are part of what a call does between two others.
  }
}

module.exports = { install, prepare };
