// A program of `children/` in which a timeline runs, for the tests of a file: bundled once, run as often as they ask.
import { fileURLToPath } from 'node:url';
import { beforeAll, expect } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import { bundleChild, type ChildResult, runFile } from '../../support/child.js';

/** Whether the addon is here, and has the timeline. */
export const hasTimeline = loadFastCall().module?.timelineStart !== undefined;

/** The program `children/NAME.ts`, with this in its environment. */
export const timelineProgram = (name: string, env: Readonly<Record<string, string>> = {}) => {
  let file: string;
  beforeAll(async () => {
    file = await bundleChild(fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)));
  });
  const runs = (...args: string[]): Promise<ChildResult> => runFile(file, { args, env });
  /** What it prints, where it ends well and has nothing to complain about. */
  const result = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await runs(...args);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };
  return { runs, result };
};
