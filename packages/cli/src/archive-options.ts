// The options of every command on an archive.
import type { Command } from 'commander';

/** Options of every command on an archive. */
export interface ArchiveCommandOptions {
  readonly archive?: string;
  readonly json?: boolean;
}

/** Give a command the option that says which archive. */
export const withArchiveOption = (command: Command): Command =>
  command.option('-a, --archive <dir>', 'directory of the archive (or SPANLINE_ARCHIVE)');
