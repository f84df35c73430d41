// Trace ids in the records of pino, by its channel: `trace_id`, `span_id` and `trace_flags`. They stand among the bindings of the logger while
// a record is made, which is one call: neither the caller's object nor the logger may look different afterwards.
import { allOff, type Off, onMessage } from '../channel.js';
import { currentIds } from './ids.js';

type Logger = Record<symbol, unknown>;
interface AsJson {
  readonly instance: Logger;
}

// Each copy of pino has its own.
let known: symbol | undefined;

const bindingsKey = (instance: Logger): symbol | undefined => {
  if (known !== undefined && known in instance) return known;
  for (let owner: object | null = instance; owner !== null; owner = Object.getPrototypeOf(owner) as object | null) {
    known = Object.getOwnPropertySymbols(owner).find(({ description }) => description === 'pino.chindings');
    if (known !== undefined) return known;
  }
  return undefined;
};

/** pino 9.10 and later. */
export const instrumentPino = (): Off => {
  const changed = new WeakMap<object, () => void>();
  return allOff([
    onMessage<AsJson>('tracing:pino_asJson:start', (message) => {
      const ids = currentIds();
      if (ids === undefined) return;
      const { instance } = message;
      const key = bindingsKey(instance);
      const bindings = key === undefined ? undefined : instance[key];
      if (key === undefined || typeof bindings !== 'string' || bindings.includes('"trace_id":')) return;
      const isOwn = Object.hasOwn(instance, key);
      instance[key] = `${bindings},${JSON.stringify(ids).slice(1, -1)}`;
      changed.set(message, () => {
        if (isOwn) instance[key] = bindings;
        else delete instance[key];
      });
    }),
    onMessage<AsJson>('tracing:pino_asJson:end', (message) => changed.get(message)?.()),
  ]);
};
