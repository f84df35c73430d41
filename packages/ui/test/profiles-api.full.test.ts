// What the endpoints of the view Profiles answer about real profiles, compared with sums made the plain way from the same files.
import { createReadStream, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildFirst, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/archive.js';
import { stackOf } from '../../profile/src/call-tree.js';
import { type LabelledProfile, SampleKind } from '../../profile/src/labelled-profile.js';
import { readProfileStream } from '../../profile/src/output/read-profile.js';
import { frameName } from '../../profile/src/output/select-labels.js';
import type { FlameColumns, ProfileDiff, ProfileList, ProfileTable, TraceCpu } from '../src/api/profiles/answers.js';
import { findFunctions, functionSums, layOut, rowAt, stepFrom } from '../src/page/views/profiles/flame-layout.js';
import { useServer } from './support/served.js';
import { AFTER, BEFORE, HOSTILE, makeShopProfiles } from './support/shop-profiles.js';

describe('the endpoints of profiles', () => {
  buildFirst();
  const dir = scratch();
  const serve = useServer();
  let url: string;
  let profiles: string;
  let archive: Archive;
  let after: LabelledProfile;

  beforeAll(async () => {
    const made = await makeShopProfiles(dir);
    profiles = made.profiles;
    archive = await Archive.open(made.archive, { readOnly: true });
    after = await readProfileStream(createReadStream(join(profiles, AFTER)), AFTER);
    url = await serve({ profiles, archive });
    return () => archive.close();
  }, 120_000);

  /** A file that is not a profile, until the test ends. */
  const writeDamaged = (): void => {
    const file = join(profiles, 'damaged.pb.gz');
    writeFileSync(file, 'no profile');
    onTestFinished(() => rmSync(file));
  };

  const ask = async <T>(path: string, query: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${url}/api/profiles/${path}?${new URLSearchParams(query)}`);
    const body = (await response.json()) as T & { error?: unknown };
    if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
    return body;
  };

  /** CPU by stack of names, outermost first, of samples that a test accepts. */
  const stacks = (isTaken: (label: number) => boolean): Map<string, number> => {
    const sums = new Map<string, number>();
    const { samples, nodes } = after;
    for (let i = 0; i < samples.count; i++) {
      const isIdle = samples.kind[i] === SampleKind.idle;
      if (isIdle || !isTaken(samples.kind[i] === SampleKind.gc ? 0 : samples.label[i])) continue;
      const names = stackOf(nodes, samples.node[i]).map((row) =>
        frameName({ functionName: nodes.functionName[row] } as never),
      );
      for (let length = 0; length <= names.length; length++) {
        const key = names.slice(0, length).join('\n');
        sums.set(key, (sums.get(key) ?? 0) + samples.cpuNs[i]);
      }
    }
    return sums;
  };

  const stacksOf = ({ names, frame, parent, total }: FlameColumns): Map<string, number> => {
    const keys: string[][] = [];
    const sums = new Map<string, number>();
    frame.forEach((index, row) => {
      keys[row] = row === 0 ? [] : [...keys[parent[row]], names[index]];
      const key = keys[row].join('\n');
      sums.set(key, (sums.get(key) ?? 0) + total[row]);
    });
    return sums;
  };

  const expectSame = (found: Map<string, number>, model: Map<string, number>): void => {
    expect([...found.keys()].sort()).toEqual([...model.keys()].sort());
    // Rounded to whole nanoseconds, once a node.
    for (const [key, ns] of model) expect(Math.abs((found.get(key) as number) - ns)).toBeLessThan(100);
  };

  test('the list has what can be read, newest first', async () => {
    writeFileSync(join(profiles, 'notes.txt'), 'no profile');
    const { files, omitted } = await ask<ProfileList>('list');
    expect(files.map(({ name }) => name)).toEqual([AFTER, BEFORE]);
    expect(files[1].writtenMs).toBe(1_700_000_000_000);
    expect(omitted).toBe(0);
  });

  test('the flame graph has every nanosecond, of all samples and of one label', async () => {
    expectSame(
      stacksOf(await ask('flame', { name: AFTER })),
      stacks(() => true),
    );
    const ofHostile = await ask<FlameColumns>('flame', { name: AFTER, by: 'query', value: HOSTILE });
    expectSame(
      stacksOf(ofHostile),
      stacks((label) => after.labels[label].query === HOSTILE),
    );
    const ofNone = await ask<FlameColumns>('flame', { name: AFTER, by: 'query', none: 'true' });
    expectSame(
      stacksOf(ofNone),
      stacks((label) => after.labels[label].query === undefined),
    );
    expect(ofHostile.names).toContain('renderPage');
    expect(ofHostile.names).not.toContain('parseRows');
  });

  test('inverted, what used the CPU comes first, with the same sums', async () => {
    const upright = await ask<FlameColumns>('flame', { name: AFTER });
    const inverted = await ask<FlameColumns>('flame', { name: AFTER, inverted: 'true' });
    const selfOf = (columns: FlameColumns): Map<string, number> =>
      new Map(
        functionSums(columns)
          .filter(({ selfNs }) => selfNs > 0)
          .map(({ frame, selfNs }) => [`${columns.names[frame]} ${columns.places[frame]}`, selfNs]),
      );
    const own = selfOf(upright);
    const turned = selfOf(inverted);
    expect([...turned.keys()].sort()).toEqual([...own.keys()].sort());
    for (const [name, ns] of own) expect(Math.abs((turned.get(name) as number) - ns)).toBeLessThan(100);
    const firsts = inverted.frame.filter((_, row) => inverted.parent[row] === 0).map((frame) => inverted.names[frame]);
    expect(firsts).toContain('parseRows');
  });

  test('the layout has no gap between a caller and its callees, and finds what lies where', async () => {
    const layout = layOut(await ask<FlameColumns>('flame', { name: AFTER, before: BEFORE }));
    const { columns, left, width, depth } = layout;
    for (let row = 1; row < columns.frame.length; row++) {
      const above = columns.parent[row];
      expect(depth[row]).toBe(depth[above] + 1);
      expect(left[row]).toBeGreaterThanOrEqual(left[above] - 1e-12);
      expect(left[row] + width[row]).toBeLessThanOrEqual(left[above] + width[above] + 1e-9);
      if (width[row] > 1e-6) expect(rowAt(layout, depth[row], left[row] + width[row] / 2)).toBe(row);
      expect(stepFrom(layout, row, 'up')).toBe(above);
    }
    const down = stepFrom(layout, 0, 'down');
    expect(columns.parent[down]).toBe(0);
    expect(left[down]).toBe(0);
    const all = findFunctions(layout, 'shop.mjs');
    expect(all?.share).toBeGreaterThan(0.3);
    expect(findFunctions(layout, 'no such function')?.share).toBe(0);
    expect(findFunctions(layout, '')).toBeUndefined();
  });

  test('the table has shares with intervals; the difference names what takes more', async () => {
    const table = await ask<ProfileTable>('table', { name: AFTER, by: 'query' });
    expect(table.keys).toEqual(expect.arrayContaining(['query', 'span_id', 'trace_id', 'span.name']));
    const row = table.rows.find(({ value }) => value === 'select 1');
    expect(row?.low).toBeLessThan(row?.share ?? 0);
    expect(row?.high).toBeGreaterThan(row?.share ?? 1);
    const { changes } = await ask<ProfileDiff>('diff', { before: BEFORE, name: AFTER, by: 'query' });
    expect(changes.find(({ value }) => value === 'select 1')?.verdict).toBe('more');
    expect(changes.find(({ value }) => value === HOSTILE)?.verdict).toBe('less');
  });

  test('samples have the names of their spans, by the archive', async () => {
    const { rows } = await ask<ProfileTable>('table', { name: AFTER, by: 'span.name' });
    const model = stacks((label) => after.labels[label].trace_id !== undefined).get('') as number;
    const cart = rows.find(({ value }) => value === 'GET /cart');
    expect(cart?.cpuNs).toBeGreaterThan(0);
    expect(cart?.cpuNs).toBeLessThanOrEqual(model + 1);
  });

  test('a trace has the CPU time of its spans over all files; damaged ones are counted', async () => {
    writeDamaged();
    const sums = new Map<string, Map<string, number>>();
    for (let i = 0; i < after.samples.count; i++) {
      const { trace_id: trace, span_id: span } = after.labels[after.samples.label[i]];
      if (trace === undefined || after.samples.kind[i] === SampleKind.gc) continue;
      const bySpan = sums.get(String(trace)) ?? new Map<string, number>();
      sums.set(String(trace), bySpan.set(String(span), (bySpan.get(String(span)) ?? 0) + after.samples.cpuNs[i]));
    }
    expect(sums.size).toBeGreaterThan(5);
    for (const [id, bySpan] of [...sums].slice(0, 5)) {
      const cpu = await ask<TraceCpu>('of-trace', { id });
      expect(cpu.profiles.map(({ name }) => name)).toEqual([AFTER]);
      expect(new Map(cpu.spans.map(({ spanId, cpuNs }) => [spanId, cpuNs]))).toEqual(bySpan);
      expect(cpu.skipped).toBe(1);
      // The same spans are in the archive: the ids lead from one to the other.
      const spans = await archive.trace(id);
      expect(spans.map(({ spanId }) => spanId)).toEqual(expect.arrayContaining([...bySpan.keys()]));
    }
    expect((await ask<TraceCpu>('of-trace', { id: '1' })).spans).toEqual([]);
  });

  test('a span leads to its trace', async () => {
    const labels = after.labels.filter(({ span_id }) => span_id !== undefined);
    expect(labels.length).toBeGreaterThan(5);
    for (const { trace_id, span_id } of labels.slice(0, 5))
      expect(await ask('trace-of', { name: AFTER, span: String(span_id) })).toEqual({ traceId: trace_id });
    await expect(ask('trace-of', { name: AFTER, span: '1' })).rejects.toThrow(/^404 .*no sample of span 1/);
  });

  test('a name reaches nothing outside the directory', async () => {
    writeFileSync(join(dir, 'secret.folded'), 'a;b 1\n');
    for (const name of [
      '../secret.folded',
      join(dir, 'secret.folded'),
      '..\\secret.folded',
      '.',
      'notes.txt',
      'none.pb.gz',
    ])
      await expect(ask('table', { name })).rejects.toThrow(/^404 .*there is no profile/);
    await expect(ask('table')).rejects.toThrow(/^400 .*parameter name is required/);
    writeDamaged();
    await expect(ask('table', { name: 'damaged.pb.gz' })).rejects.toThrow(
      /^400 .*damaged\.pb\.gz: the profile cannot be read/,
    );
    const none = await serve({});
    expect((await fetch(`${none}/api/profiles/list`)).status).toBe(404);
  });
});
