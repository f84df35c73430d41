// `spanline bench gate` compares two commits in work trees of their own, by turns, and ends with an exit code that CI can act on. Whatever happens no
// work tree stays behind. What benchmarks say comes from files of the commits, so that no test here depends on the speed of the machine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GateResult } from '../../../src/bench-history/gate/gate.js';
import { buildFirst, type Outcome, scratch, spanline } from '../support/spanline.js';
import { Project } from './support/project.js';

buildFirst();
const dir = realpathSync(scratch());
const temporary = join(dir, 'tmp');
mkdirSync(temporary);
const log = join(dir, 'log');

/** Says what `cost.json` of its commit says, and where it ran. */
const BENCH = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
appendFileSync(process.env.GATE_LOG, process.cwd() + '\\n');
const figures = JSON.parse(readFileSync('cost.json', 'utf8'));
const noise = existsSync('noise') ? 1 + Math.random() : 1;
console.log(JSON.stringify(figures.map((one) => ({ ...one, value: one.value * noise }))));
`;
const costs = (encode: number, rate = 1000): string =>
  JSON.stringify([
    { name: 'encode', value: encode, unit: 'ns' },
    { name: 'rate', value: rate, unit: 'req/s' },
  ]);

const project = new Project(join(dir, 'project'));
project.write('.gitignore', 'node_modules\n.cache\n');
project.write('bench.mjs', BENCH);
project.write('cost.json', costs(100));
const base = project.commit('base');
project.write('README.md', 'more');
const same = project.commit('same | code');
project.write('cost.json', costs(120));
const slow = project.commit('slow');
project.write('cost.json', costs(100, 800));
const fewer = project.commit('fewer requests');
project.write('cost.json', costs(80));
const fast = project.commit('fast');
project.write('cost.json', costs(100));
project.write('noise', '');
const noisy = project.commit('noisy');

const gate = (
  args: readonly string[],
  command: readonly string[] = [process.execPath, 'bench.mjs'],
  more = {},
): Promise<Outcome> =>
  spanline(['bench', 'gate', ...args, '--', ...command], {
    cwd: project.dir,
    env: { TMPDIR: temporary, GATE_LOG: log, GITHUB_STEP_SUMMARY: '' },
    ...more,
  });

/** Each of the answer's series with its judgement. */
const judged = ({ stdout }: Outcome): Record<string, string> =>
  Object.fromEntries((JSON.parse(stdout) as GateResult).judged.map(({ key, judgement }) => [key, judgement]));

beforeEach(() => rmSync(log, { force: true }));

afterEach(() => {
  expect(readdirSync(temporary)).toEqual([]);
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(1);
});

describe('judges', () => {
  test('a commit that is slower: exit code 1, and a report that says which series', async () => {
    const report = join(dir, 'report.md');
    const summary = join(dir, 'summary.md');
    const { code, stdout, stderr } = await gate(['--base', same, '--head', slow, '--report', report], undefined, {
      env: { TMPDIR: temporary, GATE_LOG: log, GITHUB_STEP_SUMMARY: summary },
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^encode value +\+20 % \(\+20 to \+20 %\) +worse$/m);
    expect(stdout).toMatch(/^rate value +\+0\.0 % \(\+0\.0 to \+0\.0 %\) +fine$/m);
    expect(stdout).toContain("the command's cpu");
    const text = readFileSync(report, 'utf8');
    expect(text).toMatch(/^## Slower: 1 of 2 are worse by 5\.0 % or more\n/);
    expect(text).toContain('| encode value | +20 % (+20 to +20 %) | worse |');
    expect(text).toContain(`Base \`${same.slice(0, 10)}\` same \\| code, head \`${slow.slice(0, 10)}\` slow.`);
    expect(readFileSync(summary, 'utf8')).toBe(`${text}\n`);
  });

  test.each([
    ['the same code', base, same, { 'encode value': 'fine', 'rate value': 'fine' }, 0],
    ['a rate that fell', same, fewer, { 'encode value': 'fine', 'rate value': 'worse' }, 1],
    ['what became faster', same, fast, { 'encode value': 'better', 'rate value': 'fine' }, 0],
  ])('%s', async (_what, from, to, expected, code) => {
    const outcome = await gate(['--base', from, '--head', to, '--json']);
    expect(outcome.code, outcome.stderr).toBe(code);
    expect(judged(outcome)).toEqual(expected);
  });

  test('a loss below the minimum effect as none', async () => {
    const outcome = await gate(['--base', same, '--head', slow, '--min-effect', '30%', '--json']);
    expect(outcome.code).toBe(0);
    expect(judged(outcome)).toEqual({ 'encode value': 'fine', 'rate value': 'fine' });
  });

  test('what it cannot tell as such: exit code 0, with --strict 1', async () => {
    const args = ['--base', noisy, '--head', noisy, '--max-rounds', '4'];
    const lax = await gate(args);
    expect(lax).toMatchObject({ code: 0, stderr: '' });
    expect(lax.stdout).toContain('of 2 of 2 it cannot be told whether they are worse by 5.0 % or more');
    expect(await gate([...args, '--strict'])).toMatchObject({ code: 1 });
  });

  test('a command without figures by its CPU time', async () => {
    project.write('work.sh', 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done\n');
    const little = project.commit('little work');
    project.write('work.sh', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\n');
    const much = project.commit('much work');
    const outcome = await gate(['--base', little, '--head', much, '--json'], ['sh', 'work.sh']);
    expect(outcome.code, outcome.stderr).toBe(1);
    expect(judged(outcome)).toEqual({ "the command's cpu": 'worse', "the command's wall": 'worse' });
    const cpu = await gate(['--base', little, '--head', much, '--json', '--judge', 'cpu'], ['sh', 'work.sh']);
    expect(judged(cpu)).toEqual({ "the command's cpu": 'worse' });
  });

  test('with instructions by valgrind beside', async (context) => {
    if (spawnSync('valgrind', ['--version']).status !== 0) context.skip('no valgrind here: apt-get install valgrind');
    const outcome = await gate(
      ['--base', same, '--head', slow, '--instructions', 'valgrind', '--max-rounds', '1', '--json'],
      ['sh', '-c', 'cat cost.json'],
    );
    const { instructions } = JSON.parse(outcome.stdout) as GateResult;
    expect(instructions?.base).toBeGreaterThan(10_000);
    // The same programs over a file one digit longer or none: deterministic but for addresses.
    expect((instructions?.head ?? 0) / (instructions?.base ?? 1)).toBeCloseTo(1, 1);
  });
});

describe('measures', () => {
  test('by turns, each commit in its own directory, and in every two rounds each first once', async () => {
    await gate(['--base', noisy, '--head', noisy, '--max-rounds', '8']);
    const sides = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((path) => basename(path));
    // The first run of each fills caches.
    expect(sides.slice(0, 2).sort()).toEqual(['base', 'head']);
    const rounds = Array.from({ length: 8 }, (_, i) => sides.slice(2 + 2 * i, 4 + 2 * i));
    for (const round of rounds) expect([...round].sort()).toEqual(['base', 'head']);
    for (let i = 0; i < 8; i += 2) expect([rounds[i][0], rounds[i + 1][0]].sort()).toEqual(['base', 'head']);
    expect(sides).toHaveLength(18);
    const [path] = readFileSync(log, 'utf8').split('\n');
    expect(dirname(dirname(path))).toBe(temporary);
  });

  test('no longer than its budget allows', async () => {
    const outcome = await gate(['--base', noisy, '--head', noisy, '--budget', '1ms', '--json']);
    expect((JSON.parse(outcome.stdout) as GateResult).rounds).toBe(1);
  });

  test('in the same place of a work tree, with what head has for both', async () => {
    project.write('below/own.mjs', `console.log(JSON.stringify([{ name: 'a', value: ${1}, unit: 'ns' }]));`);
    const before = project.commit('benchmark of old');
    project.write('below/own.mjs', `console.log(JSON.stringify([{ name: 'b', value: ${2}, unit: 'ns' }]));`);
    const after = project.commit('benchmark of new');
    const where = { cwd: join(project.dir, 'below') };
    const other = await gate(['--base', before, '--head', after], [process.execPath, 'own.mjs'], where);
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain('base and head have no series in common');
    const shared = await gate(
      ['--base', before, '--head', after, '--same', 'below/own.mjs', '--json'],
      [process.execPath, 'own.mjs'],
      {
        ...where,
        env: { TMPDIR: temporary },
      },
    );
    expect(shared.code, shared.stderr).toBe(0);
    expect(judged(shared)).toEqual({ 'b value': 'fine' });
  });

  test('with the packages of the checkout where lock files agree, else with those that are installed', async () => {
    project.write('package-lock.json', '{ "lockfileVersion": 3, "packages": {} }\n');
    project.write('bench.mjs', `import 'tinybench';${BENCH}`);
    const locked = project.commit('locked');
    const linked = await gate(['--base', locked, '--head', locked, '--max-rounds', '1']);
    expect(linked.code, linked.stderr).toBe(0);
    project.write('package-lock.json', '{ "lockfileVersion": 3, "packages": { } }\n');
    const other = project.commit('locked otherwise');
    const bare = await gate(['--base', locked, '--head', other, '--max-rounds', '1', '--install', 'true']);
    expect(bare.code).toBe(3);
    expect(bare.stderr).toContain("Cannot find package 'tinybench'");
    const install = 'mkdir -p node_modules/tinybench && echo > node_modules/tinybench/index.js';
    const installed = await gate(['--base', locked, '--head', other, '--max-rounds', '1', '--install', install]);
    expect(installed.code, installed.stderr).toBe(0);
    expect(existsSync(join(project.dir, 'node_modules/tinybench/package.json'))).toBe(true);
  });

  test('packages of its own: a build that installs them anew leaves those of the checkout', async () => {
    const other = new Project(join(dir, 'installs'));
    rmSync(join(other.dir, 'node_modules'), { recursive: true });
    other.write('node_modules/one/index.js', 'one');
    other.write('package.json', '{ "name": "installs", "version": "1.0.0" }\n');
    other.write(
      'package-lock.json',
      '{ "name": "installs", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": { "": { "name": "installs", "version": "1.0.0" } } }\n',
    );
    const commit = other.commit('installs');
    const build = 'test -e node_modules/one/index.js && npm ci --offline --no-audit && ! test -e node_modules/one';
    const outcome = await gate(['--base', commit, '--head', commit, '--max-rounds', '1', '--build', build], ['true'], {
      cwd: other.dir,
      env: { TMPDIR: temporary, GATE_LOG: log, GITHUB_STEP_SUMMARY: '' },
    });
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(readFileSync(join(other.dir, 'node_modules/one/index.js'), 'utf8')).toBe('one');
  });

  test('what was built', async () => {
    const build = 'cp cost.json built.json; cp built.json cost.json';
    const outcome = await gate([
      '--base',
      same,
      '--head',
      slow,
      '--json',
      '--build',
      `${build}; sed -i s/120/100/ cost.json`,
    ]);
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(judged(outcome)).toMatchObject({ 'encode value': 'fine' });
  });
});

describe('fails and leaves nothing', () => {
  test.each<[string, string[], string[], number, RegExp]>([
    ['without such a base', ['--base', 'no-such'], ['true'], 3, /no-such/],
    ['where the build fails', ['--base', base, '--build', 'echo no; exit 7'], ['true'], 3, /ended with 7/],
    ['where the benchmark fails', ['--base', base], ['false'], 3, /false ended with 1 in /],
    [
      'where head lacks what both are to have',
      ['--base', base, '--same', 'no/such'],
      ['true'],
      3,
      /has no no\/such to take for both/,
    ],
    ['for a path outside', ['--base', base, '--same', '../x'], ['true'], 2, /no path inside/],
    ['for a kind that is not there', ['--base', base, '--judge', 'figures'], ['true'], 2, /gives no figures to judge/],
    ['without a base', [], ['true'], 2, /--base/],
    ['for a budget of no time', ['--base', base, '--budget', '0'], ['true'], 2, /write a time/],
  ])('%s', async (_what, args, command, code, message) => {
    const outcome = await gate(args, command);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.code).toBe(code);
  });

  test('says that uncommitted changes are not measured', async () => {
    project.write('README.md', 'changed');
    expect((await gate(['--base', 'HEAD', '--max-rounds', '1'])).stderr).toContain(
      'uncommitted changes, which are not measured',
    );
    project.git('checkout', '-q', 'README.md');
  });

  test('when it is interrupted', async () => {
    const outcome = await gate(
      ['--base', 'HEAD'],
      [process.execPath, '-e', "require('fs').writeFileSync(process.env.GATE_LOG, 'x'); setInterval(() => {}, 1000)"],
      {
        onStart: async (kill: (signal: NodeJS.Signals) => void) => {
          while (!existsSync(log)) await new Promise((resolve) => setTimeout(resolve, 20));
          kill('SIGINT');
        },
      },
    );
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toContain('the work trees are gone');
  });

  test('of others: a work tree whose directory is away for now stays known', async () => {
    const elsewhere = join(dir, 'elsewhere');
    project.git('worktree', 'add', '--quiet', '--detach', elsewhere, base);
    rmSync(elsewhere, { recursive: true });
    const { code, stderr } = await gate(['--base', base, '--head', same, '--max-rounds', '1']);
    expect(code, stderr).toBe(0);
    expect(project.git('worktree', 'list', '--porcelain')).toContain(`worktree ${elsewhere}\n`);
    project.git('worktree', 'remove', '--force', elsewhere);
  });

  test('inside of a hook of git, which names its own repository', async () => {
    const hook = {
      TMPDIR: temporary,
      GATE_LOG: log,
      GIT_DIR: join(dir, 'elsewhere'),
      GIT_INDEX_FILE: join(dir, 'index'),
    };
    const outcome = await gate(['--base', base, '--head', same, '--max-rounds', '1'], undefined, { env: hook });
    expect(outcome.code, outcome.stderr).toBe(0);
  });
});
