// `spanline profile run`: starts a program under profile. The program behaves as it would alone: its input, output, signals and exit
// code are its own.

import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { openSourceMaps, openWriter, PROFILE_FORMATS, type ProfileFormat } from '@spanline/profile';
import { EXTENSION_OF } from '@spanline/profile/internal';
import { attempt, targetFailure } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { wrongUsage } from '../exit-code.js';
import { numberFrom, wholeNumber } from '../options.js';
import { note } from '../output.js';
import { builtFileUrl, runProgram, withPreload } from '../run-program.js';
import { CHILD_VARIABLE, type ChildOptions } from './child-profiler.js';

interface RunCommandOptions {
  readonly every?: number;
  readonly out?: string;
  readonly format: ProfileFormat;
  readonly continuous?: boolean;
  readonly rotate: number;
  readonly budget: number;
  readonly files: number;
  readonly toggle?: boolean;
  readonly sourceMaps?: boolean;
}

const MS_PER_SECOND = 1000;
const EVERY_MS = 1;
const CONTINUOUS_EVERY_MS = 10;

const childOptionsOf = (options: RunCommandOptions): ChildOptions => {
  const { format, continuous = false, toggle = false, sourceMaps = false, rotate, budget, files } = options;
  if (continuous && toggle) {
    throw wrongUsage('give --continuous or --toggle, not both');
  }
  const out = options.out ?? (continuous || toggle ? 'profiles' : `cpu${EXTENSION_OF[format]}`);
  return {
    everyMs: options.every ?? (continuous ? CONTINUOUS_EVERY_MS : EVERY_MS),
    format,
    out: resolve(out),
    parent: process.pid,
    sourceMaps,
    isToggled: toggle,
    ...(continuous && { rotateMs: rotate * MS_PER_SECOND, budgetPercent: budget, files }),
  };
};

const stemOf = (file: string): string => {
  const extension = Object.values(EXTENSION_OF).find((each) => file.endsWith(each)) ?? '';
  return basename(file).slice(0, basename(file).length - extension.length);
};

const namesIn = (dir: string): string[] => attempt(() => readdirSync(dir)) ?? [];

/**
 * One text per state of each file in the directory `out`, or of the file `out` and those of child processes and workers beside it: tells
 * profiles of this program from those of an earlier one.
 */
const profilesIn = (out: string, isDirectory: boolean): Set<string> => {
  const dir = isDirectory ? out : dirname(out);
  const stem = stemOf(out);
  const names = namesIn(dir).filter((name) => isDirectory || name === basename(out) || name.startsWith(`${stem}-`));
  const states = names.flatMap((name) => {
    const found = statSync(join(dir, name), { throwIfNoEntry: false, bigint: true });
    return found === undefined ? [] : [`${name} ${found.ino} ${found.mtimeNs} ${found.size}`];
  });
  return new Set(states);
};

export const commands = {
  run: command({
    words: [['<command...>', 'program and its arguments, after --']],
    what: 'run a program under profile and write a file when it ends',
    options: {
      every: [
        '--every <ms>',
        'milliseconds between samples (default: 1, with --continuous 10)',
        numberFrom(0.05, 1000),
      ],
      out: [
        '-o, --out <place>',
        'file to write (default: cpu.pb.gz); a directory with --continuous and --toggle (profiles)',
      ],
      format: ['--format <name>', 'format of the file', PROFILE_FORMATS, 'pprof'],
      continuous: ['--continuous', 'write a file after every rotation, for programs that run for days'],
      rotate: ['--rotate <seconds>', 'with --continuous: length of one profile', numberFrom(0.1, 3600), 30],
      budget: ['--budget <percent>', 'with --continuous: most CPU time the profile may cost', numberFrom(0.01, 100), 2],
      files: ['--files <number>', 'with --continuous: files kept', wholeNumber(1), 100],
      toggle: ['--toggle', 'begin at SIGUSR2 and end at the next, each time a file'],
      sourceMaps: ['--source-maps', 'name functions and places by source maps'],
    },
    help: `
Every Node process that the program starts is profiled; files of others than the first have their process id in the name, those of
worker threads their thread. The exit code is that of the program.

Examples:
  $ spanline profile run -- node app.js
  $ spanline profile run --every 0.5 --out app.cpuprofile --format cpuprofile -- node --enable-source-maps app.js
  $ spanline profile run --continuous --out /var/lib/app/profiles -- node server.js
  $ spanline profile run --toggle -- node server.js     then: kill -USR2 PID, twice

Exit codes: those of the program; 2 wrong usage, 3 it could not be started or left no profile.`,
    run: async (options, command: string[]) => {
      const childOptions = childOptionsOf(options);
      // What is missing is said before the program runs.
      await openWriter(childOptions.format);
      if (childOptions.sourceMaps) await openSourceMaps();
      const writesMany = childOptions.rotateMs !== undefined || childOptions.isToggled;
      const before = profilesIn(childOptions.out, writesMany);
      const environment = { [CHILD_VARIABLE]: JSON.stringify(childOptions) };
      const code = await runProgram(command, withPreload(builtFileUrl('profile/preload.js'), environment));
      const after = profilesIn(childOptions.out, writesMany);
      const isWritten = [...after].some((each) => !before.has(each));
      process.exitCode = code;
      if (isWritten) note(`profiles are in ${childOptions.out}; see: spanline profile top FILE --by KEY`);
      // Nobody needs to send the signal.
      else if (code === 0 && !childOptions.isToggled)
        throw targetFailure(`${command[0]} ended and left no profile in ${childOptions.out}`);
    },
  }),
} satisfies Commands;
