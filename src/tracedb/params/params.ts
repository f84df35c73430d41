// The params of one trace: what tells it from all others. Types only; a trace without params does not exist.

/** Key and value of each param of one trace, such as `{ arch: 'x86', config: '8888' }`. */
export type Params = Readonly<Record<string, string>>;
