// Trace ids in the records of pino, whose logger and whose caller's object stay as they were.
import { expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { library } from '../libraries.js';
import { instrumentOnly } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

test('records in a trace have its ids, others none', () => {
  instrumentOnly({ pino: true });
  const lines: Untyped[] = [];
  const logger = library('pino')(
    { base: { app: 'a' } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const record = Object.freeze({ user: 7 });
  const root = Span.root('request');
  logger.info('before');
  root.run(() => {
    logger.info('text');
    logger.info(record, 'object');
    logger.error(new Error('broken'));
    logger.child({ part: 'b' }).info('child');
    logger.info({ trace_id: 'own' });
    logger.debug('not logged');
  });
  logger.info('after');
  const { traceId: trace_id, spanId: span_id } = root.context as NonNullable<typeof root.context>;
  const ids = { trace_id, span_id, trace_flags: '01' };
  root.end();
  expect(lines).toHaveLength(7);
  for (const outside of [lines[0], lines[6]]) expect(outside).not.toHaveProperty('trace_id');
  expect(lines[1]).toMatchObject({ ...ids, app: 'a', msg: 'text' });
  expect(lines[2]).toMatchObject({ ...ids, user: 7, msg: 'object' });
  expect(lines[3]).toMatchObject({ ...ids, err: { message: 'broken' } });
  expect(lines[4]).toMatchObject({ ...ids, part: 'b' });
  expect(lines[5]).toMatchObject({ trace_id: 'own' });
});
