// What cannot be read is said by every endpoint, beside the rest of the answer, as the UI shows errors; where nothing is left to answer it is
// an error and no empty success.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Archive } from '../../src/archive.js';
import { ownerText, THIS_OWNER } from '../../src/directory.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { filesOf, newDirectory, openArchive, SEGMENT } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { traceIdOf } from '../segment/support/segments.js';
import { ask, serve } from '../support/serve.js';

/** The id of trace `n`. */
const idOf = (n: number): string => traceIdOf(n + 1);
/** The time of all traces. */
const RANGE = 'query.start_time_min=2025-10-01T00:00:00Z&query.start_time_max=2025-11-01T00:00:00Z';

const fill = async (directory: string, n: number): Promise<void> => {
  const archive = await Archive.open(directory);
  archive.append(numberedTrace(n));
  await archive.close();
};

interface Place {
  readonly directory: string;
  /** The file that is damaged. */
  readonly hurt: string;
}

/** Trace 1 is in a file that is damaged, trace 2, if wanted, in one that is whole. */
const DAMAGE: Readonly<Record<string, (isAlone: boolean) => Promise<Place>>> = {
  'a segment cut off': async (isAlone) => {
    const directory = newDirectory();
    await fill(directory, 1);
    const [hurt] = filesOf(directory, SEGMENT);
    if (!isAlone) await fill(directory, 2);
    writeFileSync(join(directory, hurt), readFileSync(join(directory, hurt)).subarray(0, 100));
    return { directory, hurt };
  },
  'a write-ahead file with a flipped bit': async (isAlone) => {
    const directory = newDirectory();
    const hurt = `wal-${ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' })}-0123456789ab.log`;
    const wal = new WalWriter(join(directory, hurt));
    wal.append(numberedTrace(1));
    const { bytes: end } = wal;
    if (!isAlone) wal.append(numberedTrace(2));
    wal.close();
    const bytes = readFileSync(join(directory, hurt));
    bytes[end - 10] ^= 16;
    writeFileSync(join(directory, hurt), bytes);
    return { directory, hurt };
  },
};

const ENDPOINTS = [
  '/api/services',
  '/api/services/shop/operations',
  '/api/operations?service=shop',
  '/api/traces?service=shop',
  `/api/traces?traceID=${idOf(1)}&traceID=${idOf(2)}`,
  `/api/traces/${idOf(2)}`,
  '/api/v3/services',
  '/api/v3/operations?service=shop',
  `/api/v3/traces?query.service_name=shop&${RANGE}`,
  `/api/v3/traces/${idOf(2)}`,
  `/api/v3/trace-summaries?query.service_name=shop&${RANGE}`,
];

describe.each(Object.keys(DAMAGE))('%s', (kind) => {
  let url: string;
  let hurt: string;
  const start = async (isAlone: boolean): Promise<void> => {
    const place = await DAMAGE[kind](isAlone);
    ({ hurt } = place);
    ({ url } = await serve({ archive: await openArchive(place.directory, { readOnly: true }) }));
  };

  describe('beside a whole one', () => {
    beforeEach(() => start(false));

    test.each(ENDPOINTS)('%s answers the rest, with an error', async (path) => {
      const { status, json } = await ask(url + path);
      expect(status).toBe(200);
      const { data, errors, error, ...rest } = json as Record<string, never>;
      const answered = JSON.stringify(data ?? rest);
      expect(answered).toMatch(/shop|query|GET/);
      if (path.startsWith('/api/v3'))
        expect(error).toMatchObject({ httpCode: 500, message: expect.stringContaining(hurt) });
      else expect(errors).toContainEqual({ code: 500, msg: expect.stringContaining(hurt) });
    });

    test.each([`/api/traces/${idOf(1)}`, `/api/v3/traces/${idOf(1)}`])('%s may be there: no 404', async (path) => {
      const { status, json } = await ask(url + path);
      expect(status).toBe(500);
      expect(JSON.stringify(json)).toContain(hurt);
    });
  });

  describe('alone', () => {
    beforeEach(() => start(true));

    test.each(ENDPOINTS)('%s is an error', async (path) => {
      const { status, json } = await ask(url + path);
      expect(status).toBe(500);
      if (path.startsWith('/api/v3')) expect(json).toMatchObject({ error: { httpCode: 500 } });
      else expect(json).toMatchObject({ errors: [{ code: 500, msg: expect.stringContaining(hurt) }] });
      expect(JSON.stringify(json)).toContain(hurt);
    });
  });
});
