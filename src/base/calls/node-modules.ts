// Modules of Node that are loaded when they are first asked for: whether or not anything is ever sent, an import would load them at every start.
export const nodeHttp = (): typeof import('node:http') => process.getBuiltinModule('node:http');
export const nodeHttps = (): typeof import('node:https') => process.getBuiltinModule('node:https');
export const nodeCrypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto');
export const nodeThreads = (): typeof import('node:worker_threads') => process.getBuiltinModule('node:worker_threads');
export const nodeZlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');
