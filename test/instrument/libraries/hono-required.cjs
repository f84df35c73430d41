// The service on hono, required by a program that has run for a while. Before, it says what it asks Node's hooks for again: a module of Node's own.
const Module = require('node:module');

setTimeout(() => {
  const resolve = Module._resolveFilename;
  Error.stackTraceLimit = 50;
  Module._resolveFilename = function (...args) {
    console.log(`${args[0]}: ${new Error().stack.includes('customization_hooks') ? 'through hooks' : 'at once'}`);
    return Reflect.apply(resolve, this, args);
  };
  // biome-ignore lint/style/useNodejsImportProtocol: the name that goes through `_resolveFilename`.
  require('crypto');
  Module._resolveFilename = resolve;
  require('./hono-service.mjs').serveOnce();
}, 100);
