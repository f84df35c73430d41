// Whether a target is met, missed, or not decided by a run. A verdict must never be surer than what was measured: a difference of two
// times can come out too small as well as too large, so its range has to lie on one side of the limit.
import { TARGETS } from '../targets.mjs';

export const majorOf = (node) => Number(node.split('.')[0]);

export const digits = (value) => {
  if (value === null || value === undefined) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
};

/** Rows of the service suite that are above the untraced service. */
const ABOVE_NONE = [
  'record',
  'flight',
  'send',
  'archive',
  'archive-unsorted',
  'gc',
  'main-thread',
  'rss',
  'throughput-loss',
  'metrics-loss',
  'added-cpu',
];

/** Rows of the startup suite that are above an empty program. */
const ABOVE_EMPTY = ['import', 'register', 'help'];

/** Whether a row's figure is a difference of two times, or of what else a process needs. */
export const isDifference = ({ name }) =>
  name.includes('overhead') || name === 'async-span' || ABOVE_NONE.includes(name) || ABOVE_EMPTY.includes(name);

/** From where to where the median may be: of its interval where the run has told it, of all samples where it has not. */
export const rangeOf = ({ low, high, min, max }) => [low ?? min, high ?? max];

const isSubject = (subject, peer) => (peer instanceof RegExp ? peer.test(subject) : subject === peer);

/** The figure of a target in a row, and where it may lie; undefined where it was not measured. */
const figureOf = ({ figure, peer, peerRow = {} }, row, results) => {
  const [low, high] = rangeOf(row);
  if (peer === undefined) return { value: row[figure], unit: row.unit, range: [low, high] };
  const { name = row.name, n = row.n } = peerRow;
  const same = (one) => isSubject(one.subject, peer) && one.name === name && one.n === n && one.node === row.node;
  const other = results.find(same);
  if (other === undefined) return undefined;
  const [otherLow, otherHigh] = rangeOf(other);
  return {
    value: (100 * row[figure]) / other[figure],
    unit: `% of ${other.subject}${name === row.name ? '' : `'s ${name}`}`,
    // No surer than both: around zero a quotient says nothing.
    range: otherLow > 0 ? [(100 * low) / otherHigh, (100 * high) / otherLow] : [-Infinity, Infinity],
  };
};

const isUndecided = (row, [low, high], limit) => isDifference(row) && low < limit && limit < high;

/** All targets that were measured: what was aimed at, what came out. */
export const verdictsOf = ({ suite, results }) =>
  TARGETS.filter((target) => target.suite === suite).flatMap((target) => {
    const { name, n, atMost, atLeast, nodes } = target;
    const rows = results.filter(
      (row) => row.name === name && String(row.n) === String(n) && row.subject === 'spanline',
    );
    return rows.flatMap((row) => {
      const { value, unit, range } = figureOf(target, row, results) ?? {};
      const node = majorOf(row.node);
      if (value === null || value === undefined || nodes?.includes(node) === false) return [];
      const limit = atMost ?? atLeast;
      const isMet = atLeast === undefined ? value <= limit : value >= limit;
      const verdict = isUndecided(row, range, limit) ? 'not decided by this run' : isMet ? 'met' : 'missed';
      const aim = `${atLeast === undefined ? '' : 'at least '}${digits(limit)}`;
      return [{ target, row, node, value, unit, range, limit: aim, verdict }];
    });
  });
