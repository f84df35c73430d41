// Trace ids in the records of the newest winston, and of bunyan; an older winston is in winston.full.test.ts.
import { expect, test } from 'vitest';
import { instrument } from '../../../src/instrument/index.js';
import { library } from '../libraries.js';
import { ALL_OFF, later } from '../support.js';
import { collecting, describeWinston, inTrace } from './winston-cases.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

describeWinston('winston', library);

test('bunyan', () => {
  const bunyan: Untyped = library('bunyan');
  const lines: Untyped[] = [];
  const logger = bunyan.createLogger({ name: 'a', stream: collecting(lines) });
  const { disable } = instrument({ ...ALL_OFF, bunyan: true });
  later(disable);
  const record = Object.freeze({ user: 7 });
  logger.info('before');
  const ids = inTrace(() => {
    logger.info('text');
    logger.info(record, 'object');
    logger.error(new Error('broken'));
    logger.child({ part: 'b' }).info('child');
    logger.info({ trace_id: 'own' }, 'own');
    logger.debug('not logged');
    disable();
    logger.info('off');
  });
  expect(lines).toHaveLength(7);
  for (const outside of [lines[0], lines[6]]) expect(outside).not.toHaveProperty('trace_id');
  expect(lines[1]).toMatchObject({ ...ids, name: 'a', msg: 'text' });
  expect(lines[2]).toMatchObject({ ...ids, user: 7 });
  expect(lines[3]).toMatchObject({ ...ids, err: { message: 'broken' } });
  expect(lines[4]).toMatchObject({ ...ids, part: 'b' });
  expect(lines[5]).toMatchObject({ trace_id: 'own' });
  expect(lines[5]).not.toHaveProperty('span_id');
});
