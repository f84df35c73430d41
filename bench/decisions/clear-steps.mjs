// Question: how many of the steps that anyone sees does our search report, and how much of noise that is not in random order?
// Answer: 1,514 of 1,528 of Deno's history, all of Django's asv (63), rune (16), github-action-benchmark (11), Prisma (12) and OpenTelemetry JS (28);
// before windows slid side by side some 22, 15, 7 and 5 fewer of the first four. All 939 series change at the same places read backwards; 927 did while the
// smallest effect was a share of the older level. Of each kind of noise below at most 5 % show a change. Apache Otava 0.8 finds 1,513 of Deno's and all
// of the others with 1.4 to 12 times as many changes, in 0.9 to 1.6 times the CPU time, and changes in nearly all histories of autocorrelated
// noise and drift.
// Run: node scripts/build.mjs, then node bench/decisions/clear-steps.mjs FILE... with data.js of github-action-benchmark (branch gh-pages of rune-rs/rune,
// prisma/prisma, benchmark-action/github-action-benchmark), Deno's data.json (denoland/benchmark_data), the directory graphs of an asv site
// (gh-pages of django/django-asv), or JSON lines as in examples/data, gzipped or not. Without a FILE it is noise.
import { findRegressions, loadStatistics } from '../../packages/tracedb/dist/esm/index.js';
import { readHistory, seriesOf } from './histories.mjs';
import { otavaChanges } from './otava.mjs';

const SIDE = 30;
const SMALLEST = 0.1;
const NEAR = 3;
const HISTORIES = 300;
const LENGTH = 300;

const statistics = await loadStatistics();

/** Where the values on both sides are apart; of neighbours the one with the widest gap. */
const clearSteps = (values) => {
  const places = [];
  for (let at = SIDE; at + SIDE <= values.length; at++) {
    const [before, after] = [values.slice(at - SIDE, at), values.slice(at, at + SIDE)];
    const gap = Math.max(Math.min(...after) - Math.max(...before), Math.min(...before) - Math.max(...after));
    const [from, to] = [statistics.median(before), statistics.median(after)];
    if (gap > 0 && Math.abs(to - from) >= SMALLEST * Math.abs(from)) places.push({ at, gap });
  }
  const isBeaten = (one) =>
    places.some(({ at, gap }) => Math.abs(at - one.at) < SIDE && (gap > one.gap || (gap === one.gap && at < one.at)));
  return places.filter((one) => !isBeaten(one)).map(({ at }) => at);
};

const placesOf = (all) => {
  const places = new Map(all.map(({ key }) => [key, []]));
  for (const { key, commit } of findRegressions(all, {}, statistics)) places.get(key).push(commit.number);
  return all.map(({ key }) => places.get(key));
};

/** How many of the steps are near a place, of those of the same series. */
const hitsOf = (steps, places) =>
  steps.reduce(
    (sum, ats, i) => sum + ats.filter((at) => places[i].some((one) => Math.abs(one - at) <= NEAR)).length,
    0,
  );

const countOf = (lists) => lists.reduce((sum, list) => sum + list.length, 0);

for (const path of process.argv.slice(2)) {
  const all = readHistory(path);
  const steps = all.map(({ values }) => clearSteps(values));
  const begin = process.cpuUsage().user;
  const found = placesOf(all);
  const ms = (process.cpuUsage().user - begin) / 1000;
  const back = placesOf(all.map(({ key, unit, values }) => seriesOf(key, unit, values.toReversed())));
  const alike = found.filter((places, i) => {
    const mirrored = back[i].map((at) => all[i].values.length - at).reverse();
    return places.join() === mirrored.join();
  });
  console.log(
    `${path}: ${hitsOf(steps, found)} of ${countOf(steps)} clear steps, ${countOf(found)} changes, ${ms.toFixed(0)} ms CPU; ` +
      `${alike.length} of ${all.length} series alike read backwards`,
  );
  const otava = otavaChanges(all);
  if (otava === undefined) continue;
  console.log(
    `  Apache Otava: ${hitsOf(steps, otava.found)} of ${countOf(steps)}, ${countOf(otava.found)} changes, ${otava.ms.toFixed(0)} ms CPU`,
  );
}

let state = 1;
const uniform = () => {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return state / 0x80000000;
};
const normal = () => Array.from({ length: 12 }, uniform).reduce((sum, x) => sum + x, -6);
const leaning = (phi) => {
  let level = normal();
  return () => {
    level = phi * level + Math.sqrt(1 - phi ** 2) * normal();
    return 100 + 3 * level;
  };
};
const NOISES = {
  'neighbours correlated by 0.5': () => leaning(0.5),
  'neighbours correlated by 0.8': () => leaning(0.8),
  'neighbours correlated by 0.9': () => leaning(0.9),
  'neighbours correlated by 0.95': () => leaning(0.95),
  'drift of three deviations': () => (i) => 100 + 3 * normal() + (9 * i) / LENGTH,
  'drift of ten deviations': () => (i) => 100 + normal() + (10 * i) / LENGTH,
  'slow waves': () => (i) => 100 + 3 * normal() + 3 * Math.sin((4 * Math.PI * i) / LENGTH),
  'a random walk': () => {
    let level = 100;
    return () => {
      level += normal() / 2;
      return level;
    };
  },
};
NOISES['a random walk below noise'] = () => {
  const walk = NOISES['a random walk']();
  return () => walk() + 2 * normal();
};
const asked = process.argv.length === 2 ? Object.entries(NOISES) : [];
const shareOf = (count) => `${((100 * count) / HISTORIES).toFixed(1)} %`;
for (const [name, make] of asked) {
  const histories = Array.from({ length: HISTORIES }, () => {
    const draw = make();
    return seriesOf(
      'noise',
      'ms',
      Array.from({ length: LENGTH }, (_, at) => draw(at)),
    );
  });
  const alarms = histories.filter((one) => findRegressions([one], { minEffect: 0 }, statistics).length > 0).length;
  const others = otavaChanges(histories)?.found.filter((places) => places.length > 0).length;
  const beside = others === undefined ? '' : `, of Apache Otava ${shareOf(others)}`;
  console.log(`${name}: ${shareOf(alarms)} of ${HISTORIES} histories show a change${beside}`);
}
