// The line to whoever holds the leash: one JSON message per line, in both directions.
'use strict';

const net = require('node:net');
const gate = require('./gate.cjs');
const { prepare } = require('./files.cjs');

const { parse, stringify } = JSON;

/** Opens the line. Neither its life nor its death may be noticed by the server. */
function connect(address, trouble) {
  const socket = net.connect({ path: address });
  socket.unref();
  socket.setEncoding('utf8');
  socket.on('error', () => socket.destroy());
  socket.on('close', () => gate.disarm());
  socket.on('connect', () => {
    socket.unref();
    say(socket, { hello: process.version, trouble });
  });
  let rest = '';
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) answer(socket, line).catch(() => socket.destroy());
  });
}

async function answer(socket, line) {
  const message = parse(line);
  if (message.arm) {
    await prepare(gate);
    gate.arm(message.arm);
    say(socket, { armed: message.arm.run });
  } else if (message.disarm) {
    await gate.finish();
    say(socket, { disarmed: message.disarm, seen: gate.disarm() });
  }
}

function say(socket, message) {
  if (!socket.destroyed) socket.write(`${stringify(message)}\n`);
}

module.exports = { connect };
