// `spanline bench gate`: what it measures, by turns and in which places, what it cannot tell, and what is not its own. That it judges is in
// gate.process.test.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { GateResult } from '../../../tracedb/src/bench-history/gate/gate.js';
import { buildFirst, spanlineProcess } from '../support/spanline.js';
import { BENCH, BENCH_COMMAND, judged, useGateProject } from './support/gate-project.js';
import { Project } from './support/project.js';

const { base, dir, gate, log, noisy, options, project, same, slow, temporary } = useGateProject();

buildFirst();

describe('judges', () => {
  test('what it cannot tell as such: exit code 0, with --strict 1', async () => {
    const args = ['--base', noisy, '--head', noisy, '--max-rounds', '4'];
    const lax = await gate(args, BENCH_COMMAND);
    expect(lax).toMatchObject({ code: 0, stderr: '' });
    expect(lax.stdout).toContain('of 2 of 2 it is not known whether they are worse by 5.0 % or more');
    expect(await gate([...args, '--strict'], BENCH_COMMAND)).toMatchObject({ code: 1 });
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
    await gate(['--base', noisy, '--head', noisy, '--max-rounds', '8'], BENCH_COMMAND);
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
    const outcome = await gate(['--base', noisy, '--head', noisy, '--budget', '1ms', '--json'], BENCH_COMMAND);
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
    const linked = await gate(['--base', locked, '--head', locked, '--max-rounds', '1'], BENCH_COMMAND);
    expect(linked.code, linked.stderr).toBe(0);
    project.write('package-lock.json', '{ "lockfileVersion": 3, "packages": { } }\n');
    const other = project.commit('locked otherwise');
    const args = ['bench', 'gate', '--base', locked, '--head', other, '--max-rounds', '1', '--install', 'true'];
    // What the benchmark says on standard error goes where the command's does.
    const bare = await spanlineProcess([...args, '--', ...BENCH_COMMAND], options);
    expect(bare.code).toBe(3);
    expect(bare.stderr).toContain("Cannot find package 'tinybench'");
    const install = 'mkdir -p node_modules/tinybench && echo > node_modules/tinybench/index.js';
    const installed = await gate(
      ['--base', locked, '--head', other, '--max-rounds', '1', '--install', install],
      BENCH_COMMAND,
    );
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
    const outcome = await gate(
      ['--base', same, '--head', slow, '--json', '--build', `${build}; sed -i s/120/100/ cost.json`],
      BENCH_COMMAND,
    );
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(judged(outcome)).toMatchObject({ 'encode value': 'fine' });
  });
});

describe('fails and leaves nothing', () => {
  test('of others: a work tree whose directory is away for now stays known', async () => {
    const elsewhere = join(dir, 'elsewhere');
    project.git('worktree', 'add', '--quiet', '--detach', elsewhere, base);
    rmSync(elsewhere, { recursive: true });
    const { code, stderr } = await gate(['--base', base, '--head', same, '--max-rounds', '1'], BENCH_COMMAND);
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
    const outcome = await gate(['--base', base, '--head', same, '--max-rounds', '1'], BENCH_COMMAND, { env: hook });
    expect(outcome.code, outcome.stderr).toBe(0);
  });
});
