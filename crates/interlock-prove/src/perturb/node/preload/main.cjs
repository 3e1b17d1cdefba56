// Loaded into every Node process of a server before its own code. It does nothing until it is armed over the socket that the
// environment names; from then on the asynchronous operations of the armed calls start one at a time, in the order of a schedule.
'use strict';

const { isMainThread } = require('node:worker_threads');

const address = process.env.INTERLOCK_NODE_SOCKET;

// Calls arrive in the main thread; a worker is one of its operations.
if (address && isMainThread) {
  let trouble;
  try {
    const gate = require('./gate.cjs');
    for (const part of ['children', 'calls', 'files', 'timers', 'sockets', 'requests', 'drivers']) {
      require(`./${part}.cjs`).install(gate);
    }
    require('node:module').syncBuiltinESMExports();
  } catch (error) {
    // A Node that we do not understand runs on; whoever wants to arm it hears why that cannot be.
    trouble = String(error?.stack ?? error);
  }
  require('./channel.cjs').connect(address, trouble);
}
