// fastrace's program (bench/peers/rust): built with cargo into .tmp, where git does not look, and driven line by line. Without cargo it is skipped,
// and one line says so.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, runQuietly } from '../../scripts/lib/run.mjs';

const MANIFEST = join(root, 'bench/peers/rust/Cargo.toml');
const TARGET = join(root, '.tmp/bench-rust');

export const FASTRACE = 'fastrace@0.7.16';

/** The path of the program, built when it is not up to date; undefined where it cannot be. */
export function buildFastrace(log) {
  if (spawnSync('cargo', ['--version']).status !== 0) {
    console.error('service: fastrace is skipped, there is no cargo on PATH');
    return undefined;
  }
  log('building fastrace (cargo)');
  try {
    const args = ['build', '--release', '--locked', '--quiet', '--manifest-path', MANIFEST, '--target-dir', TARGET];
    runQuietly('cargo', args);
  } catch (error) {
    console.error(`service: fastrace is skipped, it cannot be built: ${error.message}`);
    return undefined;
  }
  return join(TARGET, 'release/spanline-bench-fastrace');
}

/** Starts it; what it gets are rounds as its first comment says. It ends with this process, which holds its standard input. */
export function startFastrace(mode) {
  const program = spawn(process.env.SPANLINE_BENCH_FASTRACE, [mode], { stdio: ['pipe', 'pipe', 2] });
  program.on('exit', (code, signal) => {
    console.error(`fastrace ended early (${signal ?? code})`);
    process.exit(1);
  });
  const lines = createInterface({ input: program.stdout });
  return async (round) => {
    program.stdin.write(`${round}\n`);
    const [line] = await once(lines, 'line');
    return JSON.parse(line);
  };
}
