// Public benchmark histories as series. It must never drop a series, or a value, for what it looks like.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export const seriesOf = (key, unit, values) => ({
  key,
  unit,
  values,
  commits: values.map((_, number) => ({ number, hash: `c${number}`, timestampMs: 0 })),
});

const textOf = (file) => {
  const bytes = readFileSync(file);
  return (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8').trim();
};

/** Numbers of a nested object, each with its path. */
const leavesOf = (value, path = []) => {
  if (typeof value === 'number') return [{ name: path.join('/'), unit: '', value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
};

/** Runs of a file, each with its benches: data.js of github-action-benchmark, a JSON list as Deno's, or JSON lines as in examples/data. */
const runsOf = (text) => {
  if (text.startsWith('window.')) {
    return Object.values(JSON.parse(text.slice(text.indexOf('{')).replace(/;$/, '')).entries).flat();
  }
  if (text.startsWith('[')) return JSON.parse(text).map((run) => ({ benches: leavesOf(run) }));
  return text.split('\n').map((line) => JSON.parse(line));
};

/** A directory of asv's graphs, as it publishes them: one file a series, of pairs of revision and value. */
const graphsOf = (directory) =>
  readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith('.json') && !name.includes('summary'))
    .map((name) => [name, JSON.parse(readFileSync(join(directory, name), 'utf8'))])
    .filter(([, pairs]) => Array.isArray(pairs) && Array.isArray(pairs[0]))
    .map(([name, pairs]) => seriesOf(name, 's', pairs.map(([, value]) => value).filter(Number.isFinite)));

/** The series of a file or a directory. */
export const readHistory = (path) => {
  if (statSync(path).isDirectory()) return graphsOf(path);
  const all = new Map();
  for (const { name, unit, value } of runsOf(textOf(path)).flatMap(({ benches }) => benches)) {
    if (!Number.isFinite(value)) continue;
    const key = `${name} ${unit}`;
    if (!all.has(key)) all.set(key, { unit, values: [] });
    all.get(key).values.push(value);
  }
  return [...all].map(([key, { unit, values }]) => seriesOf(key, unit, values));
};
