// Race windows that a scan names: whether the running code stands in one, by its stack. Lines are those of the file that runs, and those of
// the source that it was made of, where a map is at hand.
'use strict';

const Module = require('node:module');
// The real ones, whatever is done to them later.
const { readFileSync, realpathSync } = require('node:fs');
const { dirname, resolve } = require('node:path');
const { fileURLToPath } = require('node:url');

const { parse } = JSON;
const { captureStackTrace } = Error;

/** So many frames are looked at. */
const FRAMES = 60;
/** A larger file has no map that is looked for. */
const LARGEST = 8 << 20;

const PACKAGES = '/node_modules/';

/** The frames above the caller: pairs of a path and a line. */
function frames() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = FRAMES;
    Error.prepareStackTrace = (_error, sites) => sites;
    const holder = {};
    captureStackTrace(holder, frames);
    return holder.stack.map((site) => [pathOf(site.getFileName()), site.getLineNumber(), site.getColumnNumber()]);
  } catch {
    return [];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function pathOf(name) {
  if (typeof name !== 'string') return '';
  return name.startsWith('file://') ? fileURLToPath(name) : name;
}

/** `FILE:LINE` of the first frame that stands in one of the windows. */
function located(windows) {
  for (const [path, line, column] of frames()) {
    if (!path.startsWith('/') || isForeign(path)) continue;
    for (const [file, at] of [[path, line], original(path, line, column)]) {
      const window = windows.find((each) => file.endsWith(`/${each.file}`) && each.first <= at && at <= each.last);
      if (window) return `${window.file}:${at}`;
    }
  }
  return undefined;
}

/** The folder of the package that is the server, where it was installed. */
let own;

/** Whether a file is of another package than the server is. */
function isForeign(path) {
  const at = path.lastIndexOf(PACKAGES);
  if (at < 0) return false;
  own ??= packageOf(mainFile());
  return packageOf(path) !== own;
}

function mainFile() {
  try {
    return realpathSync(process.argv[1]);
  } catch {
    return '';
  }
}

function packageOf(path) {
  const at = path.lastIndexOf(PACKAGES);
  if (at < 0) return '';
  const [first, second] = path.slice(at + PACKAGES.length).split('/');
  return path.slice(0, at + PACKAGES.length) + (first.startsWith('@') ? `${first}/${second}` : first);
}

const maps = new Map();

/** Where a line comes from; nowhere if nothing says so. */
function original(path, line, column) {
  if (!maps.has(path)) maps.set(path, mapOf(path));
  const map = maps.get(path);
  try {
    const entry = map?.findEntry(line - 1, column - 1);
    if (typeof entry?.originalSource !== 'string') return ['', 0];
    return [resolve(dirname(path), pathOf(entry.originalSource)), entry.originalLine + 1];
  } catch {
    return ['', 0];
  }
}

function mapOf(path) {
  try {
    const known = Module.findSourceMap?.(path);
    if (known) return known;
    const text = readFileSync(path, 'utf8');
    if (text.length > LARGEST || !Module.SourceMap) return undefined;
    const [, url] = /\/\/[#@] sourceMappingURL=(\S+)\s*$/.exec(text) ?? [];
    if (!url) return undefined;
    const inline = /^data:application\/json[^,]*;base64,/.exec(url);
    const json = inline ? Buffer.from(url.slice(inline[0].length), 'base64').toString() : readFileSync(resolve(dirname(path), decodeURIComponent(url)), 'utf8');
    return new Module.SourceMap(parse(json));
  } catch {
    return undefined;
  }
}

module.exports = { located };
