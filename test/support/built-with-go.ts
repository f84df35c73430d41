// Servers that tests talk to and that are built with Go, once a machine, where there is none: but not for the quick suite, which may not take minutes,
// and in a process of its own, whose priority is low.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
