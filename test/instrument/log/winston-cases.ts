// What is asked of every version of winston: trace ids in its records, while its loggers and its caller's objects stay as they were.
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { instrument } from '../../../src/instrument/index.js';
import { ALL_OFF, instrumentOnly, later } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

/** What `work` does in a trace, and the ids that its records are to have. */
export const inTrace = (work: () => void): Record<string, string> => {
  const root = Span.root('request');
  root.run(work);
  const { traceId: trace_id, spanId: span_id } = root.context as NonNullable<typeof root.context>;
  root.end();
  return { trace_id, span_id, trace_flags: '01' };
};

export const collecting = (lines: Untyped[]): Writable =>
  new Writable({
    write(line: Buffer, _, done) {
      lines.push(JSON.parse(line.toString()));
      done();
    },
  });

export const describeWinston = (name: string, load: (name: string) => Untyped): unknown =>
  describe(name, () => {
    const winston: Untyped = load('winston');

    const loggerOf = (lines: Untyped[], options: object = {}): Untyped =>
      winston.createLogger({
        format: winston.format.json(),
        transports: [new winston.transports.Stream({ stream: collecting(lines) })],
        ...options,
      });

    test('records in a trace have its ids, others none', () => {
      const lines: Untyped[] = [];
      // Made before it is switched on.
      const logger = loggerOf(lines, { defaultMeta: { app: 'a' } });
      instrumentOnly({ winston: true });
      const record = Object.freeze({ user: 7 });
      const message = { level: 'info', message: 'object', user: 8 };
      logger.info('before');
      const ids = inTrace(() => {
        logger.info('text');
        logger.info('with', record);
        logger.log('info', 'by name');
        logger.log(message);
        logger.child({ part: 'b' }).info('child');
        logger.info('own', { trace_id: 'own' });
        logger.debug('not logged');
      });
      logger.info('after');
      expect(message).not.toHaveProperty('trace_id');
      expect(lines).toHaveLength(8);
      for (const outside of [lines[0], lines[7]]) expect(outside).not.toHaveProperty('trace_id');
      expect(lines[1]).toMatchObject({ ...ids, app: 'a', message: 'text' });
      expect(lines[2]).toMatchObject({ ...ids, user: 7, message: 'with' });
      expect(lines[3]).toMatchObject({ ...ids, message: 'by name' });
      expect(lines[4]).toMatchObject({ ...ids, user: 8, message: 'object' });
      expect(lines[5]).toMatchObject({ ...ids, part: 'b' });
      expect(lines[6]).toMatchObject({ trace_id: 'own' });
      expect(lines[6]).not.toHaveProperty('span_id');
    });

    test('an error stays one, with its stack', () => {
      instrumentOnly({ winston: true });
      const lines: Untyped[] = [];
      const { errors, json, combine } = winston.format;
      const logger = loggerOf(lines, { format: combine(errors({ stack: true }), json()) });
      const error = new RangeError('broken');
      const ids = inTrace(() => logger.error(error));
      expect(lines[0]).toMatchObject({ ...ids, level: 'error', message: 'broken', stack: error.stack });
      expect(error).not.toHaveProperty('trace_id');
    });

    test('a record may be of a class of the program', () => {
      instrumentOnly({ winston: true });
      const lines: Untyped[] = [];
      class Entry {
        readonly #text = 'kept private';
        readonly level = 'info';
        get message(): string {
          return this.#text;
        }
      }
      const ids = inTrace(() =>
        loggerOf(lines, {
          format: winston.format.printf(({ message, ...rest }: Untyped) => JSON.stringify({ message, ...rest })),
        }).log(new Entry()),
      );
      expect(lines[0]).toMatchObject({ ...ids, message: 'kept private' });
    });

    test('as it was when taken back', () => {
      const prototype = Object.getPrototypeOf(Object.getPrototypeOf(loggerOf([])));
      const before = Object.getOwnPropertyNames(prototype);
      const { disable } = instrument({ ...ALL_OFF, winston: true });
      later(disable);
      disable();
      expect(Object.getOwnPropertyNames(prototype)).toEqual(before);
    });
  });
