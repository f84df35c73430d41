// However a process ends, or goes on: what a trigger asked for is there, once, and the process does what it would have done without.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSnapshotFile, recoverSnapshot } from '../../src/flight-recorder/index.js';
import { buildFirst } from '../support/built.js';
import { bundleChild, type ChildResult, root as packageRoot, runFile } from '../support/child.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-ends-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

let child = '';
beforeAll(async () => {
  child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/ends.ts'));
});

interface Ended extends ChildResult {
  /** Kind and text of each file, in order of time. */
  readonly reasons: readonly string[];
}

const reasonsIn = async (place: string): Promise<string[]> => {
  const reasons: string[] = [];
  for (const name of readdirSync(place).sort()) {
    const { reason, spanCount, tornRows } = await readSnapshotFile(join(place, name));
    expect([spanCount >= 6000, tornRows]).toEqual([true, 0]);
    reasons.push(`${reason.kind}: ${reason.text}`);
  }
  return reasons;
};

const end = async (way: string, execArgv: readonly string[] = []): Promise<Ended> => {
  const place = fresh();
  const result = await runFile(child, { execArgv, env: { FLIGHT_DIR: place, FLIGHT_END: way } });
  return { ...result, reasons: await reasonsIn(place) };
};

describe('signals', () => {
  test('an application that handles it once, and did so before, ends by itself', async () => {
    const { code, stdout, reasons } = await end('SIGTERM handled once before');
    expect([code, stdout, reasons]).toEqual([7, 'closed\n', ['signal: SIGTERM']]);
  });

  test('an application that exits in its handler leaves the file all the same, and nothing beside it', async () => {
    const { code, signal, reasons } = await end('SIGTERM and an exit at once');
    expect([code, signal, reasons]).toEqual([0, null, ['signal: SIGTERM']]);
  });

  test.each(['SIGTERM flushed before', 'SIGTERM flushed behind'])(
    '%s: both are done, and the end is that of the signal',
    async (way) => {
      const { signal, stdout, reasons } = await end(way);
      const delivered = [...stdout.matchAll(/delivered (\d+)/g)].reduce((sum, [, spans]) => sum + Number(spans), 0);
      expect([signal, delivered, reasons]).toEqual(['SIGTERM', 6000, ['signal: SIGTERM']]);
    },
  );

  test('one that ends a process by default still does', async () => {
    const { signal, reasons } = await end('SIGALRM unheard');
    expect([signal, reasons]).toEqual(['SIGALRM', ['signal: SIGALRM']]);
  });

  test('SIGUSR2 ends no process, which goes on while each file is written', async () => {
    const { code, signal, stdout, reasons } = await end('SIGUSR2 twice');
    expect([code, signal, stdout]).toEqual([0, null, 'went on meanwhile\nwent on meanwhile\n']);
    expect(reasons).toEqual(['signal: SIGUSR2', 'signal: SIGUSR2']);
  });
});

describe('exceptions', () => {
  test('of many that the application takes there is one file in the interval, and the exit has its own', async () => {
    const { code, stdout, reasons } = await end('exceptions taken, exit 3');
    expect(JSON.parse(stdout)).toEqual({ snapshots: 1, triggersSkipped: 4, failed: 0 });
    expect([code, reasons]).toEqual([3, ['uncaught-exception: Error: it broke 0', 'exit-code: exit code 3']]);
  });

  test('one that ends the process is written though one was taken a moment before', async () => {
    const { code, stderr, reasons } = await end('exception taken, then one that is not');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Error: it was not')]);
    expect(reasons).toEqual(['uncaught-exception: Error: it was taken', 'uncaught-exception: Error: it was not']);
  });

  test('an application that exits because of one names it, though it came too soon', async () => {
    const { code, reasons } = await end('exception taken, then exit for the next');
    expect([code, reasons]).toEqual([
      1,
      ['uncaught-exception: Error: the first', 'uncaught-exception: Error: the next'],
    ]);
  });

  test('an application that exits at once leaves one whole file', async () => {
    const { code, reasons } = await end('exit for an exception');
    expect([code, reasons]).toEqual([1, ['uncaught-exception: Error: the only one']]);
  });

  test('a listener that throws ends the process without an exit: the file is there', async () => {
    const { code, reasons } = await end('exception thrown again');
    expect([code, reasons]).toEqual([7, ['uncaught-exception: Error: again']]);
  });

  test('one that a capture callback takes is seen', async () => {
    const { code, reasons } = await end('exception captured');
    expect([code, reasons]).toEqual([0, ['uncaught-exception: Error: captured']]);
  });
});

describe('unhandled rejections', () => {
  test('one that a listener hears is seen, and the process goes on', async () => {
    const { code, stdout, reasons } = await end('rejection heard');
    expect([code, stdout, reasons]).toEqual([0, 'heard Error: rejected\n', ['unhandled-rejection: Error: rejected']]);
  });

  test.each(['throw', 'strict'])('with --unhandled-rejections=%s it ends the process', async (mode) => {
    const { code, stderr, reasons } = await end('rejection', [`--unhandled-rejections=${mode}`]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Error: rejected')]);
    expect(reasons).toEqual(['unhandled-rejection: Error: rejected']);
  });

  test.each([
    ['warn', expect.stringContaining('UnhandledPromiseRejectionWarning')],
    ['none', ''],
  ])('with --unhandled-rejections=%s it is seen, and what Node says stays as it is', async (mode, said) => {
    const { code, stderr, reasons } = await end('rejection', [`--unhandled-rejections=${mode}`]);
    expect([code, stderr, reasons]).toEqual([0, said, ['unhandled-rejection: Error: rejected']]);
  });

  test('a recorder that was switched off watches nothing any more', async () => {
    const { code, stdout, reasons } = await end('rejection after it was switched off');
    expect([code, stdout, reasons]).toEqual([1, 'emit is its own\n', []]);
  });
});

test('an event loop that stood still leaves one file for one stretch, and none for what is shorter', async () => {
  const { code, stdout, reasons } = await end('stall');
  expect([code, stdout]).toEqual([0, '1\n']);
  expect(reasons.at(-1)).toMatch(/^stall: the event loop was busy for (1[2-9]\d\d|[2-9]\d{3,}|\d{5,}) ms$/);
});

describe('under register', () => {
  buildFirst();

  test('workers have no recorder: one process, one set of files, one timeline', async () => {
    const [place, file, archive] = [fresh(), fresh(), fresh()];
    const result = await runFile(join(packageRoot, 'test/flight-recorder/children/threads.mjs'), {
      execArgv: ['--import', 'spanline/register'],
      env: {
        SPANLINE_FLIGHT_RECORDER: 'on',
        SPANLINE_FLIGHT_TRIGGERS: 'signal=SIGTERM,crash,heap,stall=10s',
        SPANLINE_FLIGHT_DIRECTORY: place,
        SPANLINE_FLIGHT_FILE: file,
        SPANLINE_ARCHIVE: archive,
      },
    });
    expect([result.code, result.stderr, result.stdout]).toEqual([0, '', 'main thread true\nworker false\n']);
    expect(readdirSync(place)).toEqual([]);
    const recovered = await recoverSnapshot(file);
    expect([...recovered.traces()].length).toBe(20);
    expect(readdirSync(archive).filter((name) => name.startsWith('timeline-')).length).toBe(1);
  });
});
