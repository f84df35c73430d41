// The types of programs.mjs, for the tests.
import type { SpawnOptions } from 'node:child_process';

export interface Guarded extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  /** Removed when the program has ended. */
  readonly folder?: string;
  readonly signal?: 'KILL' | 'TERM' | 'INT';
  isUp(): boolean | Promise<boolean>;
}

export function startGuarded(program: string, args: readonly string[], options: Guarded): Promise<() => Promise<void>>;
export function withFreePorts<T>(start: () => Promise<T>): Promise<T>;
