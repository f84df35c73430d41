// Servers that tests talk to and that are built with Go, once a machine, where there is none: but not for the quick suite, which may not take minutes,
// and in a process of its own, whose priority is low.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hasGo } from '../../scripts/lib/go-programs.mjs';
import { root } from './child.js';
import { isCI } from './is-ci.js';
import { suite } from './samples.js';

export interface BuiltProgram {
  readonly name: string;
  /** Below scripts/: prints the path of what it has built. */
  readonly script: string;
  readonly howToGet: string;
  find(): string | undefined;
}

const building = async (script: string): Promise<string> => {
  const file = join(root, 'scripts', script);
  const { stdout } = await promisify(execFile)(process.execPath, [file], { maxBuffer: 1 << 26 });
  return stdout.trim();
};

/** The program, or why there is none. */
export const provided = async ({
  name,
  script,
  howToGet,
  find,
}: BuiltProgram): Promise<{ readonly program?: string; readonly reason: string }> => {
  try {
    const program = find();
    if (program !== undefined) return { program, reason: howToGet };
    const mayBuild = (isCI || suite !== 'quick') && hasGo();
    return mayBuild ? { program: await building(script), reason: howToGet } : { reason: howToGet };
  } catch (error) {
    return { reason: `${name} could not be had: ${(error as Error).message}` };
  }
};

/** A server that ends when it is told to. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** A `describe` whose tests share a server; the function that `body` gets is for inside of them. Without the program they are skipped, but never in CI. */
export const describeServer = <S extends Stoppable>(
  name: string,
  { program, reason }: Awaited<ReturnType<typeof provided>>,
  start: (program: string) => Promise<S>,
  body: (server: () => S) => void,
): void => {
  let running: S | undefined;
  const server = (): S => {
    if (running === undefined) throw new Error('the server runs only inside of tests');
    return running;
  };
  if (program === undefined) {
    if (isCI) {
      test(name, () => {
        throw new Error(reason);
      });
      return;
    }
    console.warn(`skipped: ${name}: ${reason}`);
    describe.skip(name, () => body(server));
    return;
  }
  describe(name, () => {
    beforeAll(async () => {
      running = await start(program);
    });
    afterAll(async () => {
      await running?.stop();
    });
    body(server);
  });
};
