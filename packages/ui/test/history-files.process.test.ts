// History of files that `spanline bench run` writes: the server's answers against the files, queries that mean what they mean in a store, judgements that
// are kept beside the files, files that are not a history.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../../../test/support/built.js';
import { readBenchHistory } from '../../tracedb/src/bench-history/index.js';
import type { ChangeAnswer, KeysAnswer, SeriesAnswer, StepAnswer } from '../src/api/history/answers.js';
import { COMMITS, decodeAt, encodeAt, HOSTILE, hashOf, makeBenchHistory, STEP_AT } from './support/bench-history.js';
import { useServer } from './support/served.js';

const dir = scratch();
const serve = useServer();

/** A directory with the same files, for a test that writes into it. */
const copyFor = (name: string): string => {
  const copy = join(dir, name);
  mkdirSync(copy);
  makeBenchHistory(copy);
  return copy;
};
beforeAll(() => makeBenchHistory(dir));

const ask = async <T>(url: string, path: string): Promise<T> => {
  const response = await fetch(`${url}/api/history/${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};

const say = (url: string, body: unknown): Promise<Response> =>
  fetch(`${url}/api/history/triage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const ofKey = (answer: SeriesAnswer, part: string) => answer.series.find(({ key }) => key.includes(part));

describe('what the server answers of history files', () => {
  test('keys, counts and values are those of all files of the directory, each a value of the key file', async () => {
    const url = await serve({ history: dir });
    const keys = await ask<KeysAnswer>(url, 'keys');
    expect(keys).toMatchObject({ count: 5, suggested: '' });
    expect(keys.tile).toBeUndefined();
    expect(keys.keys.find(({ key }) => key === 'file')?.values).toEqual(['codec', 'other']);
    expect((await ask<KeysAnswer>(url, 'keys?query=unit%3Dms')).count).toBe(2);
    const answer = await ask<SeriesAnswer>(url, 'series?query=unit%3Dms');
    expect(answer.commits.hashes).toEqual(Array.from({ length: COMMITS }, (_, i) => hashOf(i)));
    expect(answer.series.map(({ params }) => params.bench)).toEqual(['decode', 'encode']);
    const values = (valueAt: (commit: number) => number) =>
      answer.commits.numbers.map((number) => Number(valueAt(number).toPrecision(7)));
    expect(ofKey(answer, 'bench=encode')?.values).toEqual(values(encodeAt));
    expect(ofKey(answer, 'bench=decode')?.values).toEqual(values(decodeAt));
    expect((await ask<SeriesAnswer>(url, 'series?query=unit%3Dms&last=7')).commits.hashes).toHaveLength(7);
    expect((await ask<SeriesAnswer>(url, 'series?query=bench%3Dnone')).reason).toContain('no series');
  });

  test('changes, steps and comparisons are those of the values', async () => {
    const url = await serve({ history: join(dir, 'codec.jsonl') });
    const { changes } = await ask<SeriesAnswer>(url, 'series?query=bench%3Dencode%26unit%3Dms');
    expect(changes).toMatchObject([{ kind: 'regression', hash: hashOf(STEP_AT), lastBefore: STEP_AT - 1 }]);
    const step = await ask<StepAnswer>(url, 'step?from=10&to=40&query=unit%3Dms');
    expect(step.commits.hashes).toEqual(Array.from({ length: 30 }, (_, i) => hashOf(11 + i)));
    expect(step.compared).toMatchObject([
      { verdict: 'worse', before: encodeAt(10), after: encodeAt(40) },
      { verdict: 'same' },
    ]);
  });

  test('what people say is kept beside the files, by the hash of the commit', async () => {
    const own = copyFor('judged');
    const file = join(own, 'codec.jsonl');
    const url = await serve({ history: file });
    const query = 'series?query=bench%3Dencode%26unit%3Dms';
    const [{ key }] = (await ask<SeriesAnswer>(url, query)).changes as [ChangeAnswer];
    const said = { commit: STEP_AT, key, note: 'the new parser' };
    expect((await say(url, { ...said, status: 'negative' })).status).toBe(200);
    expect((await say(url, { ...said, status: 'positive' })).status).toBe(200);
    expect((await say(url, { ...said, status: 'fine' })).status).toBe(400);
    expect((await say(url, { ...said, commit: COMMITS, status: 'positive' })).status).toBe(404);
    const beside = join(own, 'codec.triage.jsonl');
    const lines = readFileSync(beside, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { commit: hashOf(STEP_AT), key, status: 'negative' },
      { commit: hashOf(STEP_AT), key, status: 'positive', note: 'the new parser' },
    ]);
    // A line of a crash hides no other; an older commit that comes later moves the numbers and not what was said.
    appendFileSync(beside, '{"commit":');
    const [first] = readBenchHistory(file);
    appendFileSync(
      file,
      `${readFileSync(file, 'utf8').split('\n')[0].replace(first.commit, 'f'.repeat(40)).replace('2026-01-01', '2025-01-01')}\n`,
    );
    const [change] = (await ask<SeriesAnswer>(url, query)).changes;
    expect(change).toMatchObject({ commit: STEP_AT + 1, status: 'positive', note: 'the new parser' });
    // In a directory it is not a file of runs.
    expect((await ask<KeysAnswer>(await serve({ history: own }), 'keys?query=file%3D~triage')).count).toBe(0);
  });

  test('a file that is not a history is named with its line, and what is asked wrongly is refused', async () => {
    const own = copyFor('broken');
    const file = join(own, 'broken.jsonl');
    writeFileSync(file, `${readFileSync(join(own, 'other.jsonl'), 'utf8')}{"no":"run"}\n`);
    const url = await serve({ history: file });
    const response = await fetch(`${url}/api/history/keys`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('broken.jsonl:2');
    expect((await fetch(`${url}/api/history/keys?source=store`)).status).toBe(404);
    expect((await fetch(`${url}/api/history/keys?source=elsewhere`)).status).toBe(400);
    expect((await fetch(`${await serve({})}/api/history/keys?source=files`)).status).toBe(404);
    writeFileSync(file, readFileSync(join(own, 'other.jsonl'), 'utf8'));
    expect((await ask<SeriesAnswer>(url, 'series')).series.map(({ params }) => params.bench)).toContain(
      HOSTILE.replaceAll('=', '_'),
    );
  });
});
