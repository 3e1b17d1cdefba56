// What lies outside of the process: another program, a web service, a service over a plain connection. Each keeps a count that is
// read and then written.
import { execFile } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import { promisify } from 'node:util';
import { serve } from './rpc.mjs';

const run = promisify(execFile);
const count = { http: 0, fetch: 0, line: 0 };

const web = http
  .createServer((request, response) => {
    const name = request.url.slice(1);
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (request.method === 'POST') count[name] = Number(body);
      response.end(String(count[name]));
    });
  })
  .listen(0, '127.0.0.1');
web.unref();
const base = () => `http://127.0.0.1:${web.address().port}`;

const lines = net
  .createServer((socket) => {
    socket.on('data', (chunk) => {
      const value = String(chunk).trim();
      if (value !== 'get') count.line = Number(value);
      socket.write(`${count.line}\n`);
    });
  })
  .listen(0, '127.0.0.1');
lines.unref();

function asked(method, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${base()}/http`, { method }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text));
    });
    request.on('error', reject);
    if (body) request.write(body);
    request.end();
  });
}

function connection() {
  const socket = net.connect(lines.address().port, '127.0.0.1');
  const ask = (text) => new Promise((resolve) => (socket.once('data', (answer) => resolve(String(answer))), socket.write(text)));
  return { ask, close: () => socket.end() };
}

serve({
  async program() {
    const { stdout } = await run('sh', ['-c', 'cat count 2>/dev/null || echo 0']);
    await run('sh', ['-c', `echo ${Number(stdout) + 1} > count`]);
  },
  async http() {
    await asked('POST', String(Number(await asked('GET')) + 1));
  },
  async fetch() {
    const before = await (await fetch(`${base()}/fetch`)).text();
    await fetch(`${base()}/fetch`, { method: 'POST', body: String(Number(before) + 1) });
  },
  async line() {
    const { ask, close } = connection();
    await ask(`${Number(await ask('get')) + 1}`);
    close();
  },
  list: async ({ name }) => (name === 'program' ? (await run('cat', ['count'])).stdout.trim() : count[name]),
});
