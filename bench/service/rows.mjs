// Makes the rows of the service suite of what rounds gave. A figure above the untraced flow is the median of paired differences: a round of the
// subject less the untraced round beside it; `min` is the difference of the least of both. It must never be surer than that.
import { rowAbove, rowOf } from '../lib/rows.mjs';

const NS = 1000;

const perSpan = (field) => (round) => (round[field] * NS) / round.spans;
const perRequest = (field) => (round) => round[field] / round.requests;
/** CPU of HTTP is that of the rounds at half load; its spans are those of both kinds of round. */
const perServedSpan = (field, spans) => (round) => (round[field] * NS) / (round.requests * spans);

const absolute = (head, rounds, figure) => rowOf(head, rounds.map(figure));

const above = (head, own, untraced, figure) => rowAbove(head, own.map(figure), untraced.map(figure));

const sum = (rounds, field) => rounds.reduce((total, round) => total + round[field], 0);

/** Names of the rows of a mode, as `NAME N`; what `--only` is asked about before anything is measured. */
export function keysOf(shape, mode) {
  const n = `${shape}/${mode}`;
  const names = ['cpu', ...(shape === 'http' ? ['throughput', 'p50', 'p99'] : [])];
  if (mode === 'none') return names.map((name) => `${name} ${n}`);
  names.push('gc', 'main-thread', 'rss', 'lost', ...(shape === 'http' ? ['throughput-loss'] : []));
  return [`${mode} ${shape}`, ...names.map((name) => `${name} ${n}`)];
}

/**
 * All rows of one subject.
 * @param {{ subject: string, shape: string, mode: string, spans: number }} of `spans`: of a request.
 * @param {object[]} own Its rounds, as `cases.mjs` gives them.
 * @param {object[]} untraced The rounds of the untraced flow beside them.
 */
export function rowsOf({ subject, shape, mode, spans }, own, untraced) {
  const isHttp = shape === 'http';
  const head = (name, unit, n = `${shape}/${mode}`) => ({ subject, name, n, unit });
  const rows = [absolute(head('cpu', 'us'), own, perRequest('cpuUs'))];
  if (isHttp) {
    rows.push(absolute(head('throughput', 'requests/s'), own, ({ perSecond }) => perSecond));
    const note = `at ${Math.round(own[0].rate)} requests/s`;
    for (const name of ['p50', 'p99']) rows.push({ ...absolute(head(name, 'ms'), own, (round) => round[name]), note });
  }
  if (mode === 'none') return rows;
  const ofSpan = (field) => (isHttp ? perServedSpan(field, spans) : perSpan(field));
  rows.unshift(above(head(mode, 'ns', shape), own, untraced, ofSpan('cpuUs')));
  if (own.every(({ gcUs }) => gcUs !== undefined)) {
    rows.push(above(head('gc', 'us'), own, untraced, perRequest('gcUs')));
  }
  if ([...own, ...untraced].every(({ mainUs }) => mainUs !== undefined)) {
    const mainThread = above(head('main-thread', 'ns'), own, untraced, ofSpan('mainUs'));
    rows.push({ ...mainThread, ...(own[0].mainBy && { note: `by ${own[0].mainBy}` }) });
  }
  rows.push(above(head('rss', 'MB'), own, untraced, ({ rssMb }) => rssMb));
  const lost = absolute(head('lost', '%'), own, (round) => (100 * round.lost) / round.spans);
  rows.push({ ...lost, note: `${sum(own, 'lost')} of ${sum(own, 'spans')} spans never arrived` });
  if (isHttp) {
    const losses = own.map(({ perSecond }, i) => 100 * (1 - perSecond / untraced[i].perSecond));
    rows.push(rowOf(head('throughput-loss', '%'), losses));
  }
  return rows;
}
