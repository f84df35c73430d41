// Subject: what it costs a program to load spanline and to make its first span, each time in a fresh process.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./startup-program.mjs', import.meta.url));

/** One start; figures in milliseconds. */
const start = () => JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' }));

const startUp = (name) => ({ name, n: 1, unit: 'ms', opsPerRun: 1, measure: () => start()[name] });

export const subject = 'spanline';
export const cases = [startUp('import'), startUp('first-span')];
