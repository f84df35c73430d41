// Apache Otava, which was DataStax's Hunter, beside our search. Without a Python that has it (pip install -r bench/decisions/requirements.txt) a
// comparison goes on without, after one line that names what is missing.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./otava_changes.py', import.meta.url));
const CANDIDATES = [process.env.SPANLINE_BENCH_PYTHON, 'python3'];
const LARGEST_ANSWER = 1 << 28;

const python = CANDIDATES.find(
  (one) => one && spawnSync(one, ['-c', 'import otava.analysis'], { stdio: 'ignore' }).status === 0,
);

if (python === undefined) {
  console.log(
    'Apache Otava: left out; pip install -r bench/decisions/requirements.txt, and SPANLINE_BENCH_PYTHON names the Python',
  );
}

/** The change points of each series, as indices, and the milliseconds of CPU they took; undefined without Otava. */
export const otavaChanges = (series) => {
  if (python === undefined) return undefined;
  const { status, stdout, stderr } = spawnSync(python, [PROGRAM], {
    input: JSON.stringify(series.map(({ values }) => values)),
    maxBuffer: LARGEST_ANSWER,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`otava_changes.py ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
};
