// Runs the subjects of a suite, each case of each in a process of its own, and takes turns between subjects: A B C A B C ...,
// so that a machine that slows down slows all of them. Must never run two subjects at the same time.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, medianInterval, quantile, spread } from './stats.mjs';

const CHILD = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** One process of a subject: `start`, then `round` after round. */
export class Subject {
  #child;
  #waiting;

  constructor({ module, env = {}, flags = [], node: own }, node) {
    const stdio = ['ignore', 2, 2, 'ipc'];
    this.#child = spawn(own ?? node, [...flags, CHILD, module], { stdio, env: { ...process.env, ...env } });
    this.#child.on('exit', (code, signal) =>
      this.#waiting?.reject(new Error(`${module} ended early (${signal ?? code})`)),
    );
    this.#child.on('message', (message) => {
      if (message.error) this.#waiting?.reject(new Error(message.error));
      else this.#waiting?.resolve(message);
    });
  }

  #next() {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    }).finally(() => {
      this.#waiting = undefined;
    });
  }

  async start() {
    const { subject, cases } = await this.#next();
    this.name = subject;
    this.cases = cases;
    return this;
  }

  round(index, timing) {
    this.#child.send({ index, timing });
    return this.#next();
  }

  stop() {
    this.#child.removeAllListeners('exit');
    this.#child.kill();
  }
}

/** Four significant digits or more: enough for any comparison, few enough to read. */
export const rounded = (value) => Math.round(value * 1000) / 1000;

export const intervalOf = (samples) => {
  const { low, high } = medianInterval(samples);
  return { low: rounded(low), high: rounded(high) };
};

const keyOf = ({ name, n }) => `${name} ${n}`;

/** All rounds of one case, over the subjects that have it. */
async function runCase(key, subjects, { rounds, ...timing }) {
  const turns = subjects.flatMap((subject) => {
    const index = subject.cases.findIndex((test) => keyOf(test) === key);
    return index < 0 ? [] : [{ subject, index, test: subject.cases[index], caller: [], totals: [] }];
  });
  for (let round = 0; round < rounds; round++) {
    for (const turn of turns) {
      const { caller, total, note } = await turn.subject.round(turn.index, timing);
      turn.note = note;
      for (const sample of caller) turn.caller.push(sample);
      if (total !== null) turn.totals.push(total);
    }
  }
  return turns.map(({ subject, test, caller, totals, note }) => ({
    subject: subject.name,
    name: test.name,
    n: test.n,
    unit: test.unit,
    min: rounded(quantile(caller, 0)),
    median: rounded(median(caller)),
    max: rounded(quantile(caller, 1)),
    ...intervalOf(caller),
    totalMedian: totals.length === 0 ? null : rounded(median(totals)),
    // Around zero a share of the median says nothing.
    spread: rounded(test.unit === '%' ? (spread(caller) * median(caller)) / 100 : spread(caller)),
    ...(note === undefined ? {} : { note }),
  }));
}

/** The name of a subject and what it measures: its process lives only long enough to tell. */
async function casesOf(spec, node) {
  const subject = new Subject(spec, node);
  try {
    await subject.start();
    return { name: subject.name, keys: subject.cases.map(keyOf) };
  } finally {
    subject.stop();
  }
}

/** One case in fresh processes: what an earlier case taught the optimiser must not speed up or slow down the next. */
async function runFresh(key, specs, node, timing) {
  const subjects = [];
  try {
    for (const spec of specs) {
      const subject = new Subject(spec, node);
      subjects.push(subject);
      await subject.start();
    }
    return await runCase(key, subjects, timing);
  } finally {
    for (const subject of subjects) subject.stop();
  }
}

/**
 * @param {{ module: string, env?: Record<string, string>, flags?: string[], node?: string }[]} specs `node`: instead of the one of the run.
 * @param {{ node: string, timing: { rounds: number, roundMs: number, warmUpMs: number }, only?: RegExp, log: (line: string) => void,
 *   isWanted?: (subject: string, key: string) => boolean }} options `isWanted`: whether a subject is measured in a case that it has; all are unless told.
 */
export async function runSubjects(specs, { node, timing, only, isWanted = () => true, log }) {
  const known = [];
  for (const spec of specs) known.push({ spec, ...(await casesOf(spec, node)) });
  const results = [];
  for (const key of new Set(known.flatMap(({ keys }) => keys))) {
    if (only && !only.test(key)) continue;
    log(key);
    const having = known.filter(({ name, keys }) => keys.includes(key) && isWanted(name, key)).map(({ spec }) => spec);
    if (having.length === 0) continue;
    results.push(...(await runFresh(key, having, node, timing)));
  }
  return results;
}
