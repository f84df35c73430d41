// `spanline ui` says where it listens, opens the browser where a person sits and nowhere else, listens to strangers only with a token, waits for an
// archive that is still to come, makes no store of a mistyped name, and ends in order at Ctrl-C. `spanline serve` shows the same sources.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Archive } from '../../archive/src/index.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { GOLD_SCHEMA, GoldStore, openTable, PERF_SCHEMA, PerfStore } from '../../tracedb/src/index.js';
import type { SourcesAnswer } from '../../ui/src/api/answers.js';
import { makeBenchHistory } from '../../ui/test/support/bench-history.js';
import { buildFirst, type Outcome, scratch, spanline, spanlineProcess } from './support/spanline.js';
import { runInTerminal } from './support/terminal.js';

buildFirst();
const dir = scratch();
const NOTHING = { SPANLINE_ARCHIVE: '', SPANLINE_PERF_STORE: '', SPANLINE_GOLD_STORE: '', SPANLINE_TOKEN: '' };

/** Run the command until `look` has seen what it serves, then end it with a signal. */
const served = async (
  args: readonly string[],
  look: (url: string) => Promise<void>,
  { env = {}, signal = 'SIGINT' as NodeJS.Signals, runs = spanline } = {},
): Promise<Outcome> => {
  let seen: Promise<void> = Promise.resolve();
  const outcome = await runs(args, {
    env: { ...NOTHING, ...env },
    onOutput(kill, output) {
      seen = look(String(output)).finally(() => kill(signal));
    },
  });
  await seen;
  return outcome;
};

/** What is printed without the token behind #. */
const pageOf = (printed: string): string => printed.trim().split('#')[0];

const sourcesAt = async (url: string): Promise<SourcesAnswer['sources']> => {
  const answer = (await (await fetch(`${url}/api/sources`)).json()) as SourcesAnswer;
  return answer.sources;
};

const makeStores = async (): Promise<{ readonly perf: string; readonly gold: string }> => {
  const [perf, gold] = [join(dir, 'perf'), join(dir, 'gold')];
  for (const [place, schema, Kind] of [
    [perf, PERF_SCHEMA, PerfStore],
    [gold, GOLD_SCHEMA, GoldStore],
  ] as const) {
    const table = await openTable(place, schema);
    await Kind.open(table);
    await table.close();
  }
  return { perf, gold };
};

describe('spanline ui', () => {
  test('prints an address of this machine with a free port, and ends in order at Ctrl-C', async () => {
    const { code, stdout, stderr } = await served(['ui'], async (printed) => {
      const { hostname, port, pathname, hash } = new URL(printed.trim());
      expect([hostname, pathname, hash]).toEqual(['127.0.0.1', '/ui', expect.stringMatching(/^#token=[\da-f]{32}$/)]);
      expect(Number(port)).toBeGreaterThan(0);
      expect(await (await fetch(printed.trim())).text()).toContain('<div id="app">');
    });
    expect(stdout.split('\n')).toHaveLength(2);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'spanline: stopping\n' });
  });

  test('two at a time take two ports; JSON is for programs; SIGTERM ends it as Ctrl-C does', async () => {
    const first = await served(
      ['ui', '--json'],
      async (printed) => {
        const { url } = JSON.parse(printed) as { url: string };
        const second = await served(['ui'], async (other) => expect(other.trim()).not.toBe(url), {
          runs: spanlineProcess,
        });
        expect(second.code).toBe(0);
      },
      { signal: 'SIGTERM' },
    );
    expect(first.code).toBe(0);
  });

  test('listens to strangers with a token only, which the address carries behind #', async () => {
    const refused = await spanline(['ui', '--host', '0.0.0.0'], { env: NOTHING });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('to listen on 0.0.0.0 a token is needed');
    const token = 'a#long%41/token';
    const { code } = await served(
      ['ui', '--host', '0.0.0.0'],
      async (printed) => {
        const { port, hash } = new URL(printed.trim());
        expect(hash).toBe(`#token=${encodeURIComponent(token)}`);
        const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/ui/api/sources`, { headers });
        expect((await ask({})).status).toBe(401);
        expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(200);
      },
      { env: { SPANLINE_TOKEN: token } },
    );
    expect(code).toBe(0);
  });

  test('without a token of the user’s all is read without one, and a snapshot taken with the printed one alone', async () => {
    let first = '';
    const look = async (printed: string): Promise<void> => {
      const { hash } = new URL(printed.trim());
      expect(hash).not.toBe(first);
      first = hash;
      const take = (headers: Record<string, string>) =>
        fetch(`${pageOf(printed)}/api/snapshots/take`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ pid: 2 ** 22 - 1 }),
        });
      expect(await sourcesAt(pageOf(printed))).toMatchObject({ snapshots: true });
      expect((await take({})).status).toBe(401);
      const allowed = await take({ authorization: `Bearer ${hash.slice('#token='.length)}` });
      expect([allowed.status, await allowed.text()]).toEqual([400, expect.stringContaining('there is no process')]);
    };
    expect((await served(['ui'], look)).code).toBe(0);
    expect((await served(['ui'], look)).code).toBe(0);
  });

  test('makes no store of a mistyped name, and refuses what is not a source', async () => {
    for (const [option, kind] of [
      ['--store', 'perf'],
      ['--gold-store', 'gold'],
    ]) {
      const typo = join(dir, `typo-${kind}`);
      const { code, stdout, stderr } = await spanline(['ui', option, typo], { env: NOTHING });
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toBe(
        `spanline: there is no ${kind} store in ${typo}; make one with: spanline ${kind} init --store ${typo}\n`,
      );
      expect(existsSync(typo)).toBe(false);
    }
    const file = join(dir, 'a-file');
    writeFileSync(file, '');
    for (const option of ['--archive', '--profiles']) {
      const { code, stderr } = await spanline(['ui', option, file], { env: NOTHING });
      expect({ code, stderr }).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`${file} is not a directory`),
      });
    }
  });

  test('reads metrics of services, and refuses what is not an address', async () => {
    const url = 'http://localhost:9464/metrics';
    const { code } = await served(['ui', '--metrics', url, '--metrics', url], async (printed) => {
      expect(await sourcesAt(pageOf(printed))).toMatchObject({ metrics: true, archive: false });
    });
    expect(code).toBe(0);
    for (const wrong of [['localhost:9464'], ['./traces'], new Array(17).fill(url)]) {
      const refused = await spanline(['ui', ...wrong.flatMap((one) => ['--metrics', one])], { env: NOTHING });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(/write an address such as|at most 16 services/);
    }
  });

  test('shows a history file, and refuses one that is not there', async () => {
    const file = join(dir, 'bench.jsonl');
    const refused = await spanline(['ui', '--history', file], { env: NOTHING });
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toBe(`spanline: there is no history in ${file}; spanline bench run --file makes one\n`);
    makeBenchHistory(dir);
    const { code } = await served(['ui', '--history', join(dir, 'codec.jsonl')], async (printed) => {
      expect(await sourcesAt(pageOf(printed))).toMatchObject({ perf: false, history: true });
      const keys = (await (await fetch(`${pageOf(printed)}/api/history/keys`)).json()) as { count: number };
      expect(keys.count).toBe(3);
    });
    expect(code).toBe(0);
  });

  test('waits for an archive that is still to come', async () => {
    const directory = join(dir, 'to-come');
    const { code, stderr } = await served(['ui', '--archive', directory], async (printed) => {
      const tracesNow = async () => {
        const answer = (await (await fetch(`${pageOf(printed)}/api/traces`)).json()) as { traces: { name: string }[] };
        return answer.traces.map(({ name }) => name);
      };
      expect(await sourcesAt(pageOf(printed))).toMatchObject({ archive: true });
      expect(await tracesNow()).toEqual([]);
      expect((await fetch(`${pageOf(printed)}/api/stalls`)).status).toBe(200);
      expect(existsSync(directory)).toBe(false);
      const archive = await Archive.open(directory);
      archive.append([spanAt(1, 0, 'GET /first', 0, 1000)]);
      await archive.close();
      expect(await tracesNow()).toEqual(['GET /first']);
    });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `spanline: there is no archive in ${directory} yet: the page waits for the program that makes it\nspanline: stopping\n`,
    });
  });
});

describe('the browser', () => {
  /** A folder whose `xdg-open` notes what it is asked to open, as every user of the machine could; and variables that have it do so. */
  const noted = async (
    name: string,
  ): Promise<{ readonly env: Record<string, string>; readonly opened: () => string }> => {
    const folder = join(dir, name);
    await mkdir(folder);
    const file = join(folder, 'opened');
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${file}\n`, { mode: 0o755 });
    return {
      env: { PATH: `${folder}:${process.env.PATH}`, TMPDIR: folder },
      opened: () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
    };
  };

  test.skipIf(process.platform !== 'linux')(
    'is opened on a terminal, and not with --no-open or in a pipe',
    async () => {
      const asked = await noted('asked');
      let opened = '';
      await runInTerminal(['ui'], { ...NOTHING, ...asked.env }, async (printed) => {
        await expect.poll(asked.opened).not.toBe('');
        opened = asked.opened();
        // Of the address nothing is seen; a page for this user's eyes alone leads there.
        expect(opened).toMatch(/^\/[^#]*\.html$/);
        expect(statSync(opened).mode & 0o777).toBe(0o600);
        expect(statSync(dirname(opened)).mode & 0o777).toBe(0o700);
        expect(readFileSync(opened, 'utf8')).toContain(`location.replace("${printed.trim()}")`);
      });
      expect(existsSync(dirname(opened))).toBe(false);
      const not = await noted('not');
      await runInTerminal(['ui', '--no-open'], { ...NOTHING, ...not.env }, async (printed) => {
        expect((await fetch(printed.trim())).status).toBe(200);
      });
      await served(['ui'], async (printed) => void (await fetch(printed.trim())), { env: not.env });
      expect(not.opened()).toBe('');
    },
  );
});

describe('spanline serve', () => {
  test('shows the sources of the same options, at an address that carries the token', async () => {
    const { perf, gold } = await makeStores();
    const token = 'a-long-token';
    const all = ['--store', perf, '--gold-store', gold, '--profiles', dir, '--token', token];
    const free = ['--port', '0', '--otlp-port', 'off', '--json'];
    const { code } = await served(['serve', '-a', join(dir, 'served'), ...free, ...all], async (printed) => {
      const { page, query } = JSON.parse(printed) as { page: string; query: string };
      expect(page).toBe(`${query}/ui#token=${token}`);
      const headers = { authorization: `Bearer ${token}` };
      const { sources } = (await (await fetch(`${query}/ui/api/sources`, { headers })).json()) as SourcesAnswer;
      expect(sources).toEqual({
        archive: true,
        metrics: false,
        perf: true,
        history: false,
        gold: true,
        profiles: true,
        snapshots: false,
      });
    });
    expect(code).toBe(0);
    const typo = join(dir, 'typo-served');
    const refused = await spanline(['serve', '-a', join(dir, 'served'), ...free, '--store', typo], { env: NOTHING });
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(existsSync(typo)).toBe(false);
  });
});
