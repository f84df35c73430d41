// Small helpers of the suites' lists of subjects.
import { execFileSync } from 'node:child_process';

/** The version of a `node`, without the leading v. */
export const versionOf = (node) => execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();

export const majorOf = (version) => Number(version.split('.')[0]);

/** URLs of the modules beside a suite. */
export const moduleAt = (base) => (name) => new URL(name, base).href;

/** What `--import spanline/register` loads, for programs that are started elsewhere. */
export const REGISTER = import.meta.resolve('spanline/register');
