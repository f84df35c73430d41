// `spanline bench gate` compares two commits in work trees of their own and ends with an exit code that CI can act on. What benchmarks say comes from
// files of the commits, so that no test here depends on the speed of the machine.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { sampleOf } from '../../../../test/support/samples.js';
import { judged, useGateProject } from './support/gate-project.js';

const { base, dir, fast, fewer, gate, log, project, same, slow, temporary } = useGateProject();
const COMMAND = ['cat', 'cost.json'];

describe('judges', () => {
  test('a commit that is slower: exit code 1, and a report that says which series', async () => {
    const report = join(dir, 'report.md');
    const summary = join(dir, 'summary.md');
    const { code, stdout, stderr } = await gate(['--base', same, '--head', slow, '--report', report], COMMAND, {
      env: { TMPDIR: temporary, GITHUB_STEP_SUMMARY: summary },
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

  const COMMITS = [
    ['the same code', base, same, { 'encode value': 'fine', 'rate value': 'fine' }, 0],
    ['a rate that fell', same, fewer, { 'encode value': 'fine', 'rate value': 'worse' }, 1],
    ['what became faster', same, fast, { 'encode value': 'better', 'rate value': 'fine' }, 0],
  ] as const;

  test.each(sampleOf(COMMITS, 1, COMMITS.length))('%s', async (_what, from, to, expected, code) => {
    const outcome = await gate(['--base', from, '--head', to, '--json'], COMMAND);
    expect(outcome.code, outcome.stderr).toBe(code);
    expect(judged(outcome)).toEqual(expected);
  });

  test('a loss below the minimum effect as none', async () => {
    const outcome = await gate(['--base', same, '--head', slow, '--min-effect', '30%', '--json'], COMMAND);
    expect(outcome.code).toBe(0);
    expect(judged(outcome)).toEqual({ 'encode value': 'fine', 'rate value': 'fine' });
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
    ['for a path outside', ['--base', base, '--same', '../x'], ['true'], 2, /not a path inside/],
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
    expect((await gate(['--base', 'HEAD', '--max-rounds', '1'], COMMAND)).stderr).toContain(
      'uncommitted changes, which are not measured',
    );
    project.git('checkout', '-q', 'README.md');
  });

  test('when it is interrupted', async () => {
    const outcome = await gate(['--base', 'HEAD'], ['sh', '-c', 'echo > "$GATE_LOG"; sleep 600'], {
      onStart: async (kill) => {
        await vi.waitUntil(() => existsSync(log), { timeout: 60_000 });
        kill('SIGINT');
      },
    });
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toContain('the work trees are gone');
  });
});
