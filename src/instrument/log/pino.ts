// Trace ids in the records of pino: `trace_id`, `span_id` and `trace_flags`, behind the time, unless a record has one of them already. The method that
// writes a record is wrapped, for the channel costs as much as the record; copies of pino that were bundled are heard by their channel. Neither the
// caller's object nor the logger may look different afterwards.
import { attempt } from '../../base/calls/attempt.js';
import { Counter, count } from '../../rows/counters.js';
import { allOff, type Off, onMessage } from '../channel.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { onCall, ownerOf, type Prototype, putMethod } from '../replace-method.js';
import { currentIdsText, hasIds } from './ids.js';

type Logger = Record<symbol, unknown>;
type AsJson = (this: Logger, record: unknown, message: unknown, level: unknown, time: unknown) => string;
interface Pino {
  readonly symbols?: Readonly<Record<string, symbol>>;
  (options: object, stream: { write(line: string): void }): Logger;
}

const KEYS = /"(?:trace_id|span_id|trace_flags)":/;

// A logger writes one record after another: to search its text costs as much as the ids.
let lastBindings: unknown;
let wereBound = false;

/** Among the members of an object, written one behind another with a comma each. */
const areAmong = (members: string): boolean => {
  // Most have none of them.
  if (!members.includes('"trace_') && !members.includes('"span_id":')) return false;
  return KEYS.test(members) && (attempt(() => hasIds(JSON.parse(`{${members.slice(1)}}`) as object)) ?? true);
};

/** Among what a logger puts into each of its records. */
const areBound = (bindings: unknown): boolean => {
  if (bindings === lastBindings) return wereBound;
  wereBound = typeof bindings !== 'string' || areAmong(bindings);
  lastBindings = bindings;
  return wereBound;
};

/** What to add to a record; empty for nothing. */
const textFor = (bindings: unknown, record: unknown): string => {
  try {
    if (areBound(bindings) || (typeof record === 'object' && record !== null && hasIds(record))) return '';
    return currentIdsText();
  } catch {
    count(Counter.instrumentationErrors);
    return '';
  }
};

/** Into a record that is written, which may have the keys by a formatter of the program. */
const added = (line: string, text: string): string => {
  try {
    if (KEYS.test(line) && hasIds(JSON.parse(line) as object)) return line;
    const end = line.lastIndexOf('}');
    return end < 0 ? line : line.slice(0, end) + text + line.slice(end);
  } catch {
    // No JSON, by a way of its own.
    return line;
  }
};

/** That of a patched copy whose record is being made: its channel has nothing to add. */
let writing: Logger | undefined;

const patchPino = (pino: Pino): Off | undefined => {
  const { asJsonSym, chindingsSym, formattersSym } = pino.symbols ?? {};
  const logger = asJsonSym === undefined ? undefined : pino({}, { write: () => {} });
  const owner = ownerOf(logger as Prototype | undefined, asJsonSym as symbol) as Logger | undefined;
  const original = owner?.[asJsonSym] as AsJson | undefined;
  if (owner === undefined || typeof original !== 'function') return undefined;
  let isOn = true;
  const asJson: AsJson = function (record, message, level, time) {
    if (!isOn) return original.call(this, record, message, level, time);
    const outer = writing;
    writing = this;
    try {
      const text = textFor(this[chindingsSym], record);
      if (text === '') return original.call(this, record, message, level, time);
      // A formatter makes another record, which is seen when it is written.
      if ((this[formattersSym] as { log?: unknown } | undefined)?.log !== undefined)
        return added(original.call(this, record, message, level, time), text);
      return original.call(this, record, message, level, `${time as string}${text}`);
    } finally {
      writing = outer;
    }
  };
  const putBack = putMethod(owner, asJsonSym, asJson);
  // One whose prototype is frozen is heard by its channel.
  if (owner[asJsonSym] !== asJson) return undefined;
  return () => {
    isOn = false;
    putBack();
  };
};

interface Message {
  readonly instance: Logger;
  readonly arguments?: ArrayLike<unknown>;
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

/** Puts the text among the bindings of the logger while a record is made, which is one call. */
const hearChannel = (): Off => {
  const changed = new WeakMap<object, () => void>();
  return allOff([
    onMessage<Message>('tracing:pino_asJson:start', (message) => {
      const { instance } = message;
      if (instance === writing) return;
      const key = bindingsKey(instance);
      if (key === undefined) return;
      const bindings = instance[key];
      const text = textFor(bindings, message.arguments?.[0]);
      if (text === '') return;
      const isOwn = Object.hasOwn(instance, key);
      instance[key] = `${String(bindings)}${text}`;
      changed.set(message, () => {
        if (isOwn) instance[key] = bindings;
        else delete instance[key];
      });
    }),
    onMessage<Message>('tracing:pino_asJson:end', (message) => changed.get(message)?.()),
  ]);
};

// Copies that have asked for their channel and were never patched. An instrumentation may be switched on again.
let unpatched = 0;
const everPatched = new WeakSet<Pino>();

/** pino 9.10 and later. The channel is heard as long as there is a copy that is not patched; of those loaded before, until one is patched. */
export const instrumentPino = ({ module }: ModuleOptions): Off => {
  let stopHearing: Off | undefined;
  const hear = (): void => {
    stopHearing ??= hearChannel();
  };
  const stop = (): void => {
    stopHearing?.();
    stopHearing = undefined;
  };
  hear();
  // Each copy of pino asks for its channel once, as it is loaded.
  const copies = onCall(process.getBuiltinModule('node:diagnostics_channel'), 'tracingChannel', (_, [name]) => {
    if (name !== 'pino_asJson') return;
    unpatched++;
    hear();
  });
  const restore = onModule<Pino>('pino', module, (pino) => {
    const off = typeof pino === 'function' ? patchPino(pino) : undefined;
    if (off === undefined) return undefined;
    if (!everPatched.has(pino)) unpatched = Math.max(0, unpatched - 1);
    everPatched.add(pino);
    if (unpatched === 0) stop();
    return off;
  });
  return allOff([stop, copies, restore]);
};
