// Other programs: a shell comes first that stops itself, and becomes the program when it is let go. To the program that is a busy
// machine; the server has its process at once, with its streams and its number.
'use strict';

const { ChildProcess } = require('node:child_process');
// The real ones, whatever is done to them later.
const { accessSync, constants, readFileSync, statSync } = require('node:fs');
const { resolve } = require('node:path');

const later = globalThis.setTimeout;

/** Milliseconds for a program to end; one that stays is no operation. */
const PATIENCE = 2000;

const SHELL = '/bin/sh';
const STOPPED = 'kill -STOP $$; exec "$0" "$@"';

/** Those that have not been let go. */
const stopped = new Set();

function install(gate) {
  if (process.platform !== 'linux') return;
  const spawn = gate.replace(ChildProcess.prototype, 'spawn', function (options) {
    const call = gate.current();
    if (!call || !plain(options)) return Reflect.apply(spawn, this, [options]);
    const [, ...words] = options.args;
    const failed = Reflect.apply(spawn, this, [{ ...options, file: SHELL, args: ['sh', '-c', STOPPED, options.file, ...words] }]);
    const { pid } = this;
    if (failed || !pid) return failed;
    this.spawnfile = options.file;
    this.spawnargs = options.args;
    stopped.add(pid);
    this.once('exit', () => stopped.delete(pid));
    const on = [options.file, ...words].join(' ');
    gate.wait(call, { word: 'spawn', kind: 'write', on, patience: PATIENCE }, (done) => {
      this.once('close', done);
      go(pid);
    });
    return failed;
  });
  // Nobody else would wake them, and one that has not got as far as stopping would do it for ever.
  process.on('exit', () => stopped.forEach((pid) => signal(pid, sleeps(pid) ? 'SIGCONT' : 'SIGKILL')));
}

/** Whether the shell would start it just as Node does; a program that is not there is reported by Node, and in its own way. */
function plain({ file, args, cwd, envPairs }) {
  if (typeof file !== 'string' || args?.[0] !== file) return false;
  const folders = file.includes('/') ? [''] : (envPairs?.find((pair) => pair.startsWith('PATH='))?.slice(5) ?? '').split(':');
  return folders.some((folder) => {
    try {
      const path = resolve(cwd ? String(cwd) : '.', folder, file);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

/** Wakes a process, as soon as it has stopped. */
function go(pid) {
  if (!stopped.has(pid)) return;
  if (sleeps(pid)) {
    stopped.delete(pid);
    signal(pid, 'SIGCONT');
  } else later(go, 1, pid);
}

/** The state stands behind the name, which may itself have brackets. */
function sleeps(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').startsWith('T');
  } catch {
    return false;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}

module.exports = { install };
