// What the environment asks of the flight recorder. Only reads; what is wrong gives one warning and the default.
import type { FlightRecorderOptions, TriggerOptions } from '../flight-recorder/index.js';
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

const addTrigger = (triggers: Mutable<TriggerOptions>, word: string): boolean => {
  const [name, value = ''] = word.split('=', 2);
  if (name === 'error' || name === 'crash' || name === 'heap') {
    triggers[name === 'heap' ? 'heapLimit' : name] = true;
    return value === '';
  }
  if (name === 'signal') {
    triggers.signal = value as NodeJS.Signals;
    return /^SIG[A-Z0-9]+$/.test(value);
  }
  if (name === 'slow' && /^\d+(\.\d+)?x$/.test(value)) {
    triggers.timesUsual = Number.parseFloat(value);
    return triggers.timesUsual >= 1;
  }
  const ms = quantity(value, MS);
  if (ms === undefined || ms < 1 || (name !== 'slow' && name !== 'stall')) return false;
  triggers[name === 'slow' ? 'slowMs' : 'stallMs'] = ms;
  return true;
};

const triggersOf = (variables: Variables, warn: Warn): TriggerOptions | undefined => {
  const words = variables.list('SPANLINE_FLIGHT_TRIGGERS');
  const directory = variables.text('SPANLINE_FLIGHT_DIRECTORY');
  if (words.length === 0 && directory === undefined) return undefined;
  const triggers: Mutable<TriggerOptions> = directory === undefined ? {} : { directory };
  for (const word of words) {
    const before = { ...triggers };
    if (addTrigger(triggers, word)) continue;
    for (const key of Object.keys(triggers)) delete (triggers as Record<string, unknown>)[key];
    Object.assign(triggers, before);
    warn(
      `SPANLINE_FLIGHT_TRIGGERS: ${word} is none of slow=500ms, slow=3x, stall=200ms, error, crash, heap and signal=SIGUSR2; it is left out.`,
    );
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
