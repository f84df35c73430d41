// `spanline profile attach`: profiles a process that runs, through its inspector, and leaves it as it was.

import { PROFILE_FORMATS } from '@spanline/profile';
import { EXTENSION_OF } from '@spanline/profile/internal';
import { loadedThere, withInspector } from '@spanline/ui/internal/inspector';
import { SpanlineError, targetFailure } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { onInterrupt } from '../exit-code.js';
import { requireWritable } from '../files.js';
import { numberFrom, wholeNumber } from '../options.js';
import { note, Progress } from '../output.js';
import { builtFileUrl } from '../run-program.js';
import type { AttachAnswer, AttachOptions } from './agent.js';
import { writeWhole } from './profile-files.js';

const MS_PER_SECOND = 1000;
const REDRAW_MS = 200;

/** The exports of the agent, in the other process. */
const loaded = (agent: string): string => loadedThere(agent, './agent.js');

const showing = async <T>(durationMs: number, work: Promise<T>): Promise<T> => {
  using progress = new Progress();
  const beganMs = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.min(durationMs, performance.now() - beganMs) / MS_PER_SECOND;
    progress.show(`profiling: ${seconds.toFixed(0)} of ${durationMs / MS_PER_SECOND} s`);
  }, REDRAW_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
};

const attachTo = async (pid: number, port: number | undefined, options: AttachOptions): Promise<AttachAnswer> => {
  const agent = builtFileUrl('profile/agent.js');
  try {
    return await withInspector(pid, { port }, async (evaluate) => {
      const work = evaluate(`${loaded(agent)}.attach(${JSON.stringify(options)})`);
      const finish = (): void => {
        evaluate(`${loaded(agent)}.finish()`).catch(() => undefined);
      };
      // Ctrl-C ends the profile early; what was sampled is written.
      const stopListening = onInterrupt(finish);
      return (await showing(options.durationMs, work).finally(stopListening)) as AttachAnswer;
    });
  } catch (error) {
    if (error instanceof SpanlineError) throw error;
    throw targetFailure(`process ${pid} could not be profiled: ${(error as Error).message}`, error);
  }
};

export const commands = {
  attach: command({
    words: [['<pid>', 'process id', wholeNumber(1)]],
    what: 'profile a process that runs, through its inspector',
    options: {
      seconds: ['--seconds <number>', 'length of the profile', numberFrom(0.001, 3600), 10],
      every: ['--every <ms>', 'milliseconds between samples', numberFrom(0.05, 1000), 1],
      out: ['-o, --out <file>', 'file to write (default: cpu-PID and the extension of the format)'],
      format: ['--format <name>', 'format of the file', PROFILE_FORMATS, 'pprof'],
      port: ['--port <number>', 'port of the inspector, where it is not found', wholeNumber(1, 65_535)],
      sourceMaps: ['--source-maps', 'name functions and places by source maps'],
    },
    help: `
SIGUSR1 opens the inspector of a Node process on this machine; it is closed again at the end. Ctrl-C ends the profile early and
writes what was sampled. Samples bear labels where the program uses DynamicLabel of @spanline/profile.

Examples:
  $ spanline profile attach 4711
  $ spanline profile attach 4711 --seconds 60 --every 5 --out slow-minute.pb.gz

Exit codes: 0 done, 2 wrong usage, 3 the process cannot be profiled or the file not be written.`,
    run: async ({ seconds, every, out, format, port, sourceMaps = false }, pid: number) => {
      const file = out ?? `cpu-${pid}${EXTENSION_OF[format]}`;
      const options = { durationMs: seconds * MS_PER_SECOND, everyMs: every, format, sourceMaps };
      requireWritable(file);
      const answer = await attachTo(pid, port, options);
      writeWhole(file, Buffer.from(answer.file, 'base64'));
      note(`${answer.samples} samples, ${answer.labelled} labelled, in ${file}; see: spanline profile top ${file}`);
    },
  }),
} satisfies Commands;
