// Messages of `register` to the person who started the service: one line each, on standard error, as loud as OTEL_LOG_LEVEL allows. It must never
// write to standard output, which belongs to the service.
import { escapeLines } from '../base/text/escape-text.js';
import type { LogLevel } from './settings.js';

const RANK: Readonly<Record<LogLevel, number>> = { none: 0, error: 1, warn: 2, info: 3, debug: 4, verbose: 5, all: 6 };

/** Logs what is at least as grave as its level. */
export class Log {
  readonly #rank: number;

  constructor(level: LogLevel) {
    this.#rank = RANK[level];
  }

  error(message: string): void {
    this.#say('error', message);
  }

  warn(message: string): void {
    this.#say('warn', message);
  }

  debug(message: string): void {
    this.#say('debug', message);
  }

  #say(level: 'error' | 'warn' | 'debug', message: string): void {
    if (RANK[level] > this.#rank) return;
    try {
      process.stderr.write(`spanline: ${escapeLines(message)}\n`);
    } catch {
      // A closed standard error is no reason to fail.
    }
  }
}
