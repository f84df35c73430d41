// What the environment asks of the flight recorder. Only reads; what is wrong gives one warning and the default.
import type { FlightRecorderOptions, TriggerOptions } from '../flight-recorder/index.js';
import { whyNoSignal } from '../flight-recorder/trigger-options.js';
import type { Variables, Warn } from './variables.js';

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const BYTES: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

const quantity = (text: string, units: Readonly<Record<string, number>>): number | undefined => {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([a-zA-Z]+)$/.exec(text) ?? [];
  return digits === undefined || !Object.hasOwn(units, unit) ? undefined : Number(digits) * units[unit];
};

const ON: readonly string[] = ['1', 'on', 'true'];
const OFF: readonly string[] = ['0', 'off', 'false'];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const EXPECTED = 'is none of slow=500ms, slow=3x, stall=200ms, error, crash, heap and signal=SIGUSR2';

const WITHOUT_VALUE: Readonly<Record<string, TriggerOptions>> = {
  error: { error: true },
  crash: { crash: true },
  heap: { heapLimit: true },
};
/** Words that do nothing but write a file. */
const NEED_DIRECTORY: readonly string[] = ['crash', 'heap', 'signal', 'stall'];

const withValue = (name: string, value: string): TriggerOptions | undefined => {
  if (name === 'signal') return { signal: value as NodeJS.Signals };
  if (name === 'slow' && /^\d+(\.\d+)?x$/.test(value)) {
    const timesUsual = Number.parseFloat(value);
    return timesUsual >= 1 ? { timesUsual } : undefined;
  }
  const ms = quantity(value, MS);
  if (ms === undefined || ms < 1) return undefined;
  if (name === 'slow') return { slowMs: ms };
  return name === 'stall' ? { stallMs: ms } : undefined;
};

/** What a word asks for, or why it asks for nothing. */
const triggerOf = (word: string, hasDirectory: boolean): TriggerOptions | string => {
  const [name, value] = word.split('=', 2);
  const plain = Object.hasOwn(WITHOUT_VALUE, name) ? WITHOUT_VALUE[name] : undefined;
  const trigger = value === undefined ? plain : withValue(name, value);
  if (trigger === undefined) return EXPECTED;
  const why = trigger.signal === undefined ? undefined : whyNoSignal(trigger.signal);
  if (why !== undefined) return why;
  if (NEED_DIRECTORY.includes(name) && !hasDirectory) return 'needs SPANLINE_FLIGHT_DIRECTORY, where its files go';
  return trigger;
};

const triggersOf = (variables: Variables, warn: Warn): TriggerOptions | undefined => {
  const words = variables.list('SPANLINE_FLIGHT_TRIGGERS');
  const directory = variables.text('SPANLINE_FLIGHT_DIRECTORY');
  if (words.length === 0 && directory === undefined) return undefined;
  let triggers: TriggerOptions = directory === undefined ? {} : { directory };
  for (const word of words) {
    const one = triggerOf(word, directory !== undefined);
    if (typeof one === 'string') warn(`SPANLINE_FLIGHT_TRIGGERS: ${word} ${one}; it is left out.`);
    else triggers = { ...triggers, ...one };
  }
  return triggers;
};

/** `60s,64MiB`: how long, and how much at most; undefined where it is off. */
export const flightRecorderOf = (variables: Variables, warn: Warn): FlightRecorderOptions | undefined => {
  const words = variables.list('SPANLINE_FLIGHT_RECORDER');
  if (words.length === 0 || OFF.includes(words[0])) return undefined;
  const options: Mutable<FlightRecorderOptions> = {};
  for (const word of words) {
    const [ms, bytes] = [quantity(word, MS), quantity(word, BYTES)];
    if (ms !== undefined && ms >= 1) options.minAgeMs = ms;
    else if (bytes !== undefined && bytes >= BYTES.MiB) options.maxBytes = bytes;
    else if (!ON.includes(word)) {
      warn(
        `SPANLINE_FLIGHT_RECORDER: ${word} is neither a time (60s) nor a size from 1 MiB on (64MiB); the default is used.`,
      );
    }
  }
  const file = variables.text('SPANLINE_FLIGHT_FILE');
  if (file !== undefined) options.file = file;
  if (variables.flag('SPANLINE_FLIGHT_ROOT_TIMES')) options.rootTimes = true;
  const triggers = triggersOf(variables, warn);
  return triggers === undefined ? options : { ...options, triggers };
};
