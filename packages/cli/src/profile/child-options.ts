// What `spanline profile run` asks of the process it starts, carried in one environment variable. Both sides of one version.
import type { ProfileFormat } from '@spanline/profile';

export const CHILD_VARIABLE = 'SPANLINE_PROFILE_RUN';

export interface ChildOptions {
  readonly everyMs: number;
  readonly format: ProfileFormat;
  /** A file; a directory when `rotateMs` or `isToggled` is given. Absolute. */
  readonly out: string;
  /** Process that started it: other processes add their id to the file's name. */
  readonly parent: number;
  readonly sourceMaps: boolean;
  /** Write a file and begin another so often. */
  readonly rotateMs?: number;
  /** Most CPU time the profile may cost, in percent; only with `rotateMs`. */
  readonly budgetPercent?: number;
  /** Files kept in the directory. */
  readonly files?: number;
  /** Begin and end at SIGUSR2. */
  readonly isToggled: boolean;
}
