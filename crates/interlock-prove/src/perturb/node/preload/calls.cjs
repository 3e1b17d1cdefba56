// Which call a piece of code runs for: whoever reads an armed `tools/call` request continues on behalf of that call, and whoever
// writes its answer has answered it. Every server parses and prints JSON, whatever SDK and transport it uses.
'use strict';

function install(gate) {
  const { parse, stringify } = JSON;

  const parsed = function parse_(text, reviver) {
    const value = arguments.length > 1 ? parse.call(JSON, text, reviver) : parse.call(JSON, text);
    return gate.armed() ? read(gate, value) : value;
  };

  const printed = function stringify_(value, ...rest) {
    if (gate.armed()) answered(gate, value);
    return stringify.call(JSON, value, ...rest);
  };

  gate.replace(JSON, 'parse', parsed);
  gate.replace(JSON, 'stringify', printed);
}

function read(gate, value) {
  if (Array.isArray(value)) {
    if (value.length <= 64) value.forEach((message) => read(gate, message));
    return value;
  }
  if (value === null || typeof value !== 'object' || value.jsonrpc !== '2.0' || typeof value.method !== 'string') return value;
  const call = value.method === 'tools/call' ? gate.arrive(value.id) : undefined;
  gate.enter(call);
  if (call) reenter(gate, value, call);
  return value;
}

// A server that parses in a helper that it waits for (`await request.json()`) has left the helper's context when it goes on. It
// then looks at the parameters, so that is where the call is entered again.
function reenter(gate, message, call) {
  let params = message.params;
  Object.defineProperty(message, 'params', {
    configurable: true,
    enumerable: true,
    get() {
      gate.enter(call);
      return params;
    },
    set(value) {
      params = value;
    },
  });
}

function answered(gate, value) {
  if (Array.isArray(value)) {
    if (value.length <= 64) value.forEach((message) => answered(gate, message));
  } else if (value !== null && typeof value === 'object' && value.jsonrpc === '2.0' && value.method === undefined) {
    if ('result' in value || 'error' in value) gate.answered(value.id);
  }
}

module.exports = { install };
