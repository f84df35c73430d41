// Finds a Python that has breezy, today's bzr: the one named by SPANLINE_BENCH_PYTHON, Debian's own, or that on PATH.
import { spawnSync } from 'node:child_process';

const CANDIDATES = [process.env.SPANLINE_BENCH_PYTHON, '/usr/bin/python3', 'python3'];

/** Its path; undefined without one. */
export const findBreezy = () =>
  CANDIDATES.find(
    (python) => python && spawnSync(python, ['-c', 'import breezy.bzr.btree_index'], { stdio: 'ignore' }).status === 0,
  );
