// Modules of Node that are loaded when they are first asked for. An `import` of `node:http` from an ES module asks each of its exports for its
// value, and one of those loads undici: 40 ms of every start, whether or not anything is ever sent.
export const nodeHttp = (): typeof import('node:http') => process.getBuiltinModule('node:http');
export const nodeHttps = (): typeof import('node:https') => process.getBuiltinModule('node:https');
export const nodeZlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');
