// CommonJS, callbacks, an open handle and a stream: the other ways to a file.
const fs = require('node:fs');
const { open } = require('node:fs/promises');
const { pipeline } = require('node:stream/promises');

const count = (text) => Number(text || '0');

const tools = {
  callbacks: (done) =>
    fs.readFile('count', 'utf8', (_error, text) => fs.writeFile('count', String(count(text) + 1), () => done('ok'))),
  async handles(done) {
    const reader = await open('count', 'a+');
    const text = await reader.readFile('utf8');
    await reader.close();
    const writer = await open('count', 'w');
    await writer.writeFile(String(count(text) + 1));
    await writer.close();
    done('ok');
  },
  async streams(done) {
    const chunks = fs.existsSync('count') ? await fs.createReadStream('count').toArray() : [];
    await pipeline([String(count(Buffer.concat(chunks)) + 1)], fs.createWriteStream('count'));
    done('ok');
  },
  sync(done) {
    fs.writeFileSync('count', String(count(fs.existsSync('count') && fs.readFileSync('count', 'utf8')) + 1));
    done('ok');
  },
  list: (done) => done(fs.existsSync('count') ? fs.readFileSync('count', 'utf8') : '0'),
};

require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, params } = JSON.parse(line);
    tools[params.name]((text) => {
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}\n`);
    });
  });
