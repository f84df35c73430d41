// Runs the `spanline` command as a person would, and shows what it was and what it said.
import { execFile } from 'node:child_process';

// Regressions found end the command with 1, which is an answer.
const ANSWERS = new Set([0, 1]);

/** What the command prints. */
export const command = (args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(
      process.execPath,
      ['packages/cli/dist/esm/main.js', ...args],
      options,
      (error, stdout, stderr) => {
        if (ANSWERS.has(child.exitCode ?? -1)) resolve(stdout);
        else reject(new Error(`spanline ${args.join(' ')} failed: ${stderr || error?.message}`));
      },
    );
  });

/** How it would be typed. */
export const typed = (args: readonly string[]): string =>
  `$ npm run -s spanline -- ${args.map((arg) => (/^[\w./:=-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ')}`;
