// A project of a user, in a directory of its own: benchmarks as files, packages of the checkout, and a git history.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../support/spanline.js';

const AUTHOR = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];

/** Of the checkout's: what benchmarks of tests import. */
const PACKAGES = ['tinybench', 'vitest'];

export class Project {
  constructor(readonly dir: string) {
    mkdirSync(dir, { recursive: true });
    mkdirSync(join(dir, 'node_modules'));
    for (const name of PACKAGES) symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name));
    this.git('init', '-q', '-b', 'main');
    this.write('.gitignore', 'node_modules\n');
  }

  write(file: string, text: string): string {
    const path = join(this.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  git(...args: string[]): string {
    return execFileSync('git', [...AUTHOR, '-C', this.dir, ...args], { encoding: 'utf8' }).trim();
  }

  /** Commits all files; the hash. */
  commit(message: string): string {
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }
}
